//! Binds and unbinds: link limits, lost links, and unbinding.

use hermod_simulator::carrier::{Script, SubmitFilter};
use hermod_smpp::BindType;

use crate::esme::{Esme, PATIENCE};
use crate::helpers::{carrier, check, ms};

#[tokio::test]
async fn lost_link_counts_as_bound_for_a_while() {
    let carrier = carrier(Script::new().already_bound_for(PATIENCE * 6)).await;
    drop(Esme::bound(carrier.addr()).await);
    let record = carrier.record();
    record.wait_until(|record| record.counts().links_closed == 1, PATIENCE).await.unwrap();
    let mut early = Esme::connect(carrier.addr(), BindType::Transceiver).await;
    assert_eq!(early.next().await, "bind refused 0x05");
    carrier.set_script(Script::new().already_bound_for(ms(1)));
    tokio::time::sleep_until(tokio::time::Instant::now() + ms(10)).await;
    let mut esme = Esme::bound(carrier.addr()).await;
    esme.unbind().await;
    assert_eq!(esme.next().await, "closed: we unbound");
    record.wait_until(|record| record.counts().links_closed == 3, PATIENCE).await.unwrap();
    Esme::bound(carrier.addr()).await;
}

#[tokio::test]
async fn bind_over_the_link_limit_is_rejected() {
    let carrier = carrier(Script::new().binds_max(2)).await;
    let mut first = Esme::bound_as(carrier.addr(), BindType::Transmitter).await;
    let _second = Esme::bound_as(carrier.addr(), BindType::Receiver).await;
    let mut third = Esme::connect(carrier.addr(), BindType::Transceiver).await;
    assert_eq!(third.next().await, "bind refused 0x05");
    first.unbind().await;
    assert_eq!(first.next().await, "closed: we unbound");
    carrier.record().wait_until(|record| record.counts().links_closed == 2, PATIENCE).await.unwrap();
    Esme::bound(carrier.addr()).await;
}

#[tokio::test]
async fn record_has_type_version_and_time_of_each_bind() {
    let carrier = carrier(Script::new()).await;
    for kind in [BindType::Transmitter, BindType::Receiver, BindType::Transceiver] {
        Esme::bound_as(carrier.addr(), kind).await;
    }
    assert_eq!(Esme::connect_3_3(carrier.addr()).await.next().await, "bound");
    let binds = carrier.record().binds();
    let seen: Vec<_> = binds.iter().map(|bind| (bind.link, bind.kind, bind.interface_version)).collect();
    let trx = BindType::Transceiver;
    let expect =
        [(1, BindType::Transmitter, 0x34), (2, BindType::Receiver, 0x34), (3, trx, 0x34), (4, trx, 0x33)];
    assert_eq!(seen, expect);
    assert!(binds.is_sorted_by_key(|bind| bind.at));
}

#[test]
fn carrier_unbinds_with_responses_outstanding() {
    let script =
        Script::new().no_receipts().unbind_before_response(2).delay_when(SubmitFilter::nth(1), ms(1_000));
    check(script, &["a", "b"], &["unbound", "a: 1", "lost b", "closed: the peer unbound"]);
}

#[tokio::test]
async fn unbind_links_unbinds_all_links() {
    let carrier = carrier(Script::new().no_receipts()).await;
    let mut links = [Esme::bound(carrier.addr()).await, Esme::bound(carrier.addr()).await];
    carrier.unbind_links();
    for link in &mut links {
        assert_eq!(link.next_many(2).await, ["unbound", "closed: the peer unbound"]);
    }
    Esme::bound(carrier.addr()).await;
}

#[tokio::test]
async fn unbind_stays_unanswered_if_scripted() {
    let carrier = carrier(Script::new().ignore_unbinds()).await;
    let mut esme = Esme::bound_impatient(carrier.addr()).await;
    esme.unbind().await;
    assert_eq!(esme.next().await, "closed: we unbound and the peer did not respond");
    assert_eq!(carrier.record().counts().unbinds, 1);
}
