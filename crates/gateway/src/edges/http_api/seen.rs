//! What is learnt about a request while it is handled, for its response and for the record.

use crate::app::CallerName;
use crate::world::RateLeft;
use hermod_domain::ids::{AccountId, ConnectionId, MessageId};
use hermod_store::record::Replay;

/// What was learnt about a request while it was handled.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) caller: Option<(AccountId, ConnectionId)>,
    /// The API key.
    pub(super) key: CallerName<'static>,
    pub(super) rate_left: Option<RateLeft>,
    pub(super) is_badly_framed: bool,
    /// The message that it is about, and whether its idempotency key was used before.
    pub(super) message: Option<MessageId>,
    pub(super) replay: Replay,
}
