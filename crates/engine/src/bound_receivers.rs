//! Which connections have a bind that takes reports. An input of the engine: the store keeps it, because binds come and go
//! without a command.

use hermod_domain::ids::ConnectionId;
use hermod_domain::time::Timestamp;

/// Says whether reports can be delivered over a connection's binds.
pub trait BoundReceivers {
    /// Returns since when a connection has had no receiver, once that is longer than `RECEIVER_AWAY_MAX`.
    fn away_since(&self, connection: ConnectionId, now: Timestamp) -> Option<Timestamp>;

    /// Whether a receiver is bound now.
    fn is_bound(&self, connection: ConnectionId) -> bool;
}
