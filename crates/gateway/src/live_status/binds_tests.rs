//! Unit tests of `binds.rs`.

use super::super::trace::TRACE_LINES_KEPT;
use super::*;
use hermod_domain::ids::AccountId;
use hermod_smpp::BindType;

fn from(connection: u32, peer: [u8; 4]) -> NewBind {
    NewBind {
        connection: ConnectionId::new(connection),
        account: AccountId::new(1),
        system_id: "shop".into(),
        kind: BindType::Transceiver,
        is_3_4: true,
        peer: IpAddr::from(peer),
        tls: false,
        window: 10,
        address_range: String::new(),
        now: Timestamp::from_millis(1_790_000_000_000),
    }
}

const HERE: [u8; 4] = [192, 0, 2, 1];
const THERE: [u8; 4] = [192, 0, 2, 2];

#[tokio::test]
async fn bind_over_max_binds_is_rejected_until_another_leaves() {
    let binds = Binds::default();
    let first = binds.enter(from(1, HERE), 2).unwrap();
    let second = binds.enter(from(1, THERE), 2).unwrap();
    assert_eq!(binds.enter(from(1, HERE), 2).err(), Some(Full));
    let other = binds.enter(from(2, HERE), 2).unwrap();
    assert_eq!(binds.count(), 3, "another connection has its own limit");
    let seen = first.figures().clone();
    first.leave();
    seen.gone().await;
    assert!(binds.find(seen.number).is_none());
    let third = binds.enter(from(1, HERE), 2).unwrap();
    drop(first);
    assert_eq!(binds.of_connection(ConnectionId::new(1)).len(), 2, "dropping a left bind frees nothing");
    drop((second, third, other));
    assert_eq!(binds.count(), 0);
    assert!(binds.live.lock().is_empty(), "ended binds leave no entry");
}

#[tokio::test]
async fn oldest_bind_from_an_address_receives_orders_unbind_first() {
    let binds = Binds::default();
    let one = ConnectionId::new(1);
    let places = [HERE, THERE, THERE].map(|peer| binds.enter(from(1, peer), 9).unwrap());
    let oldest = binds.oldest_from(one, IpAddr::from(THERE)).unwrap();
    assert_eq!(oldest.number, places[1].number);
    assert!(binds.oldest_from(one, IpAddr::from([192, 0, 2, 3])).is_none());
    oldest.order(Order::Probe);
    oldest.order(Order::Unbind);
    assert_eq!(places[1].ordered().await, Order::Unbind, "unbind has precedence");
    assert_eq!(places[1].ordered().await, Order::Probe);
}

#[test]
fn trace_is_forgotten_when_it_has_no_lines_and_no_bind() {
    let (binds, one) = (Binds::default(), ConnectionId::new(1));
    let now = Timestamp::from_millis(1_790_000_000_000);
    let used = binds.open_trace(one);
    used.enable(now.plus(TRACE_LINES_KEPT));
    binds.expire_traces(now.plus(TRACE_LINES_KEPT * 2));
    assert!(binds.find_trace(one).is_some() && !used.is_on(), "a bind uses it");
    drop(used);
    binds.expire_traces(now.plus(TRACE_LINES_KEPT * 2));
    assert!(binds.find_trace(one).is_none());
}
