//! Unit tests of `receivers.rs`.

use super::*;
use std::time::Duration;

const CONNECTION: ConnectionId = ConnectionId::new(1);

#[test]
fn connection_is_away_since_its_last_port_closed_or_since_the_start() {
    let at = |seconds| Timestamp::EPOCH.plus(Duration::from_secs(seconds));
    let receivers = Receivers::new(at(100));
    let away = |now| receivers.away_since(CONNECTION, at(now));
    assert_eq!((away(159), away(160)), (None, Some(at(100))));
    assert!(!receivers.is_bound(CONNECTION));
    receivers.add(CONNECTION);
    receivers.add(CONNECTION);
    assert_eq!((away(9_999), !receivers.is_bound(CONNECTION)), (None, false));
    receivers.remove(CONNECTION, at(200));
    assert_eq!(away(9_999), None, "one port is still open");
    assert!(receivers.is_bound(CONNECTION));
    receivers.remove(CONNECTION, at(300));
    assert!(!receivers.is_bound(CONNECTION));
    assert_eq!((away(359), away(360)), (None, Some(at(300))));
    assert_eq!(
        receivers.away_since(ConnectionId::new(2), at(160)),
        Some(at(100)),
        "other connections are not affected"
    );
    receivers.add(CONNECTION);
    assert_eq!(away(9_999), None);
}
