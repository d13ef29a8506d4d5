//! Links that stall, are half-open, or do not answer.

use crate::esme::within;
use hermod_simulator::carrier::{CarrierOptions, Script, SimulatedCarrier, SubmitAction, SubmitFilter};
use hermod_smpp::BindType;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::Instant;

use crate::esme::{Esme, PATIENCE};
use crate::helpers::{carrier, ms};

#[tokio::test]
async fn stalled_link_resumes_after_its_time() {
    let carrier = carrier(Script::new().no_receipts().stall_after(1, ms(500))).await;
    let mut esme = Esme::bound(carrier.addr()).await;
    let start = Instant::now();
    esme.submit("a").await;
    assert_eq!(esme.next().await, "a: 1");
    esme.submit("b").await;
    assert_eq!(esme.next().await, "b: 2");
    assert!(start.elapsed() >= ms(500), "{:?}", start.elapsed());
}

#[tokio::test]
async fn stalled_link_does_not_affect_other_links() {
    let carrier = carrier(Script::new().no_receipts().stall_after(1, PATIENCE * 6)).await;
    let mut esme = Esme::bound(carrier.addr()).await;
    let mut other = Esme::bound(carrier.addr()).await;
    esme.submit("a").await;
    assert_eq!(esme.next().await, "a: 1");
    esme.submit("b").await;
    other.submit("c").await;
    assert_eq!(other.next().await, "c: 2");
    assert_eq!(esme.within(ms(50)).await, None);
}

#[tokio::test]
async fn stalled_carrier_reads_no_more_octets_than_its_buffer_holds() {
    let options = CarrierOptions {
        receive_buffer_bytes: Some(4096),
        ..CarrierOptions::new(Script::new().no_receipts())
    };
    let carrier = SimulatedCarrier::start(options).await.unwrap();
    let mut stream = TcpStream::connect(carrier.addr()).await.unwrap();
    carrier.record().wait_until(|record| record.counts().links_opened == 1, PATIENCE).await.unwrap();
    carrier.stall_links(PATIENCE * 6);
    let chunk = vec![0; 64 * 1024];
    let mut chunks = 0;
    while let Ok(written) = within(ms(200), stream.write_all(&chunk)).await {
        written.expect("the connection is open");
        chunks += 1;
        assert!(chunks < 1000, "the carrier still reads");
    }
}

#[tokio::test]
async fn half_open_link_accepts_octets_and_answers_nothing() {
    let carrier = carrier(Script::new().no_receipts().mute_after(1)).await;
    let mut esme = Esme::bound_impatient(carrier.addr()).await;
    esme.submit("a").await;
    assert_eq!(esme.next().await, "a: 1");
    esme.submit("b").await;
    esme.enquire().await;
    assert_eq!(esme.next_many(2).await, ["lost b", "closed: the peer does not respond to enquire_link"]);
    let record = carrier.record();
    assert_eq!((record.counts().submits, record.counts().enquire_links), (1, 1));
    assert!(record.counts().dropped_pdus >= 2, "{:?}", record.counts());
    drop(esme);
    record.wait_until(|record| record.counts().links_closed == 1, PATIENCE).await.unwrap();
    let mut again = Esme::bound(carrier.addr()).await;
    again.submit("b").await;
    assert_eq!(again.next().await, "b: 2");
}

#[tokio::test]
async fn message_can_be_accepted_by_a_link_that_dies_before_its_response() {
    let carrier = carrier(Script::new().rule(SubmitFilter::nth(1), SubmitAction::MuteBeforeResponse)).await;
    let mut esme = Esme::bound(carrier.addr()).await;
    esme.submit("a").await;
    assert_eq!(esme.within(ms(50)).await, None);
    drop(esme);
    let mut again = Esme::bound(carrier.addr()).await;
    assert_eq!(again.next().await, "receipt 1 DELIVRD 2");
}

#[tokio::test]
async fn black_hole_link_answers_only_its_bind() {
    let carrier = carrier(Script::new().mute_after_bind()).await;
    let mut esme = Esme::bound_impatient(carrier.addr()).await;
    esme.submit("a").await;
    esme.enquire().await;
    assert_eq!(esme.next_many(2).await, ["lost a", "closed: the peer does not respond to enquire_link"]);
    assert_eq!(carrier.record().counts().submits, 0);
}

#[tokio::test]
async fn mute_carrier_answers_no_pdu_until_its_script_ends() {
    let carrier = carrier(Script::new().no_receipts()).await;
    let mut bound = Esme::bound(carrier.addr()).await;
    carrier.set_script(Script::new().mute());
    let mut newcomer = Esme::connect(carrier.addr(), BindType::Transceiver).await;
    bound.submit("a").await;
    assert_eq!((newcomer.within(ms(100)).await, bound.within(ms(100)).await), (None, None));
    carrier.set_script(Script::new().no_receipts());
    bound.submit("b").await;
    assert_eq!(bound.next().await, "b: 1");
    Esme::bound(carrier.addr()).await;
    assert_eq!(carrier.record().counts().dropped_pdus, 2);
}

#[tokio::test]
async fn carrier_stops_with_stalled_and_silent_links() {
    let carrier = carrier(Script::new().no_receipts().mute_after(1).stall_after(1, PATIENCE * 6)).await;
    let mut links = [Esme::bound(carrier.addr()).await, Esme::bound(carrier.addr()).await];
    links[0].submit("a").await;
    assert_eq!(links[0].next().await, "a: 1");
    links[1].submit("b").await;
    carrier.record().wait_until(|record| record.counts().submits == 2, PATIENCE).await.unwrap();
    let (told, stopped) = tokio::join!(links[1].next_many(3), within(PATIENCE, carrier.stop()));
    assert_eq!(told, ["b: 2", "unbound", "closed: the peer unbound"]);
    assert_eq!(stopped, Ok(()));
}
