//! The carrier against a raw SMPP client: responses, closed links, and the record.

use hermod_simulator::carrier::{
    CarrierOptions, Outcome, PartNumber, RecordMode, RecordedResponse, Script, SimulatedCarrier, SubmitFilter,
};
use hermod_smpp::{Address, BindType, CommandStatus, Hidden, SubmitSm};
use tokio::time::Instant;

use crate::esme::{Esme, PATIENCE};
use crate::helpers::{carrier, check, ms};

#[test]
fn throttled_and_rejected_submits_get_no_receipt() {
    let script = Script::new().throttle(1).reject_first(1, CommandStatus::SYSERR);
    check(script, &["a", "b", "c"], &["a: 0x58", "b: 0x08", "c: 1", "receipt 1 DELIVRD 2"]);
}

#[test]
fn scripted_destinations_and_texts_are_rejected() {
    let script = Script::new()
        .no_receipts()
        .reject_when(SubmitFilter::text("bad"), CommandStatus::SUBMITFAIL)
        .reject_when(SubmitFilter::to("+4915"), CommandStatus::INVDSTADR);
    check(script, &["bad", "good"], &["bad: 0x45", "good: 0x0b"]);
}

#[test]
fn scripted_unbind_follows_the_response() {
    let expect = &["a: 1", "unbound", "closed: the peer unbound"];
    check(Script::new().no_receipts().unbind_after_response(1), &["a"], expect);
}

#[test]
fn invalid_octets_end_the_session_of_their_reader() {
    let expect = &["a: 1", "closed: invalid command_length 4294967295"];
    check(Script::new().no_receipts().garbage_after_response(1), &["a"], expect);
}

#[test]
fn connection_is_cut_after_the_scripted_response() {
    check(
        Script::new().no_receipts().cut_after_response(1),
        &["a"],
        &["a: 1", "closed: the connection was lost"],
    );
}

#[test]
fn trickling_carrier_sends_the_same_octets_slowly() {
    let expect = &["a: 1", "b: 2", "receipt 1 DELIVRD 2", "receipt 2 DELIVRD 2"];
    check(Script::new().trickle().receipt_after(ms(1_000), Outcome::Delivered), &["a", "b"], expect);
}

#[tokio::test]
async fn all_responses_or_a_single_one_can_be_delayed() {
    let carrier = carrier(Script::new().no_receipts().delay_when(SubmitFilter::first(1), ms(80))).await;
    let mut esme = Esme::bound(carrier.addr()).await;
    let start = Instant::now();
    esme.submit("slow").await;
    assert_eq!(esme.next().await, "slow: 1");
    assert!(start.elapsed() >= ms(80), "{:?}", start.elapsed());
    esme.submit("fast").await;
    assert_eq!(esme.next().await, "fast: 2");
}

#[tokio::test]
async fn carrier_omits_the_scripted_responses_only() {
    let carrier = carrier(Script::new().no_receipts().ignore_every(2)).await;
    let mut esme = Esme::bound(carrier.addr()).await;
    for text in ["a", "b", "c", "d"] {
        esme.submit(text).await;
    }
    assert_eq!(esme.next_many(2).await, ["a: 1", "c: 2"]);
    assert_eq!(esme.within(ms(50)).await, None);
    let answers: Vec<RecordedResponse> =
        carrier.record().submits().into_iter().map(|submit| submit.response).collect();
    let [one, two] = ["1", "2"].map(|id| RecordedResponse::Accepted { id: id.to_owned() });
    assert_eq!(answers, [one, RecordedResponse::None, two, RecordedResponse::None]);
}

#[tokio::test]
async fn cut_before_the_response_loses_it_and_the_receipt_comes_after_the_next_bind() {
    let carrier = carrier(Script::new().cut_before_response(2)).await;
    let mut esme = Esme::bound(carrier.addr()).await;
    esme.submit("a").await;
    assert_eq!(esme.next_many(2).await, ["a: 1", "receipt 1 DELIVRD 2"]);
    esme.submit("b").await;
    assert_eq!(esme.next_many(2).await, ["lost b", "closed: the connection was lost"]);
    let mut again = Esme::bound(carrier.addr()).await;
    assert_eq!(again.next().await, "receipt 2 DELIVRD 2");
    assert_eq!(carrier.record().submits()[1].response, RecordedResponse::Withheld { id: "2".to_owned() });
}

#[tokio::test]
async fn cut_after_bytes_can_split_a_pdu_and_happens_once() {
    // A bind_transceiver_resp of 16 + 11 + 5 octets, one whole submit_sm_resp of 18, and half of another.
    let carrier = carrier(Script::new().no_receipts().cut_after_bytes(32 + 18 + 9)).await;
    let mut esme = Esme::bound(carrier.addr()).await;
    esme.submit("a").await;
    esme.submit("b").await;
    assert_eq!(esme.next_many(3).await, ["a: 1", "lost b", "closed: the connection was lost"]);
    let mut again = Esme::bound(carrier.addr()).await;
    for text in ["c", "d", "e"] {
        again.submit(text).await;
    }
    assert_eq!(again.next_many(3).await, ["c: 3", "d: 4", "e: 5"]);
}

#[tokio::test]
async fn coalescing_carrier_sends_many_pdus_in_one_write() {
    let carrier = carrier(Script::new().no_receipts().coalesce(ms(1_000))).await;
    let mut esme = Esme::bound(carrier.addr()).await;
    for text in ["a", "b", "c"] {
        esme.submit(text).await;
    }
    assert_eq!(esme.next_many(3).await, ["a: 1", "b: 2", "c: 3"]);
    assert!(esme.read_max >= 3 * 18, "{} octets at most in one read", esme.read_max);
}

#[tokio::test]
async fn binds_are_rejected_by_count_then_by_password() {
    let script = Script::new().reject_binds(1, CommandStatus::BINDFAIL).credentials("hermod", "other");
    let carrier = carrier(script).await;
    for expect in ["bind refused 0x0d", "bind refused 0x0e"] {
        let mut esme = Esme::connect(carrier.addr(), BindType::Transceiver).await;
        assert_eq!(esme.next().await, expect);
    }
    carrier.set_script(Script::new().credentials("hermod", "secret"));
    Esme::bound(carrier.addr()).await;
    let statuses: Vec<u32> = carrier.record().binds().iter().map(|bind| bind.status.0).collect();
    assert_eq!(statuses, [0x0d, 0x0e, 0]);
    let counts = carrier.record().counts();
    assert_eq!((counts.binds, counts.binds_rejected), (1, 2));
}

#[tokio::test]
async fn enquire_link_is_answered_unless_scripted() {
    let carrier = carrier(Script::new().no_receipts().ignore_enquire_links()).await;
    let mut esme = Esme::bound_impatient(carrier.addr()).await;
    esme.submit("a").await;
    assert_eq!(esme.next().await, "a: 1", "other requests are answered");
    esme.enquire().await;
    assert_eq!(esme.next().await, "closed: the peer does not respond to enquire_link");
    assert_eq!(carrier.record().counts().enquire_links, 1);
    carrier.set_script(Script::new().no_receipts());
    let mut esme = Esme::bound(carrier.addr()).await;
    esme.enquire().await;
    esme.submit("b").await;
    assert_eq!(esme.next().await, "b: 2", "the session goes on");
    assert_eq!(carrier.record().counts().enquire_links, 2);
}

#[tokio::test]
async fn submits_over_the_window_or_the_rate_are_throttled() {
    let carrier =
        carrier(Script::new().no_receipts().window_max(2).delay_when(SubmitFilter::first(2), PATIENCE * 6))
            .await;
    let mut esme = Esme::bound(carrier.addr()).await;
    for text in ["a", "b", "c"] {
        esme.submit(text).await;
    }
    assert_eq!(esme.next().await, "c: 0x58");
    carrier.set_script(Script::new().no_receipts().rate_max(0));
    esme.submit("d").await;
    assert_eq!(esme.next().await, "d: 0x58");
}

#[tokio::test]
async fn script_can_be_changed_while_links_are_open() {
    let carrier = carrier(Script::new().no_receipts()).await;
    let mut esme = Esme::bound(carrier.addr()).await;
    esme.submit("a").await;
    assert_eq!(esme.next().await, "a: 1");
    carrier.set_script(Script::new().throttle(1).no_receipts());
    esme.submit("b").await;
    esme.submit("c").await;
    assert_eq!(esme.next_many(2).await, ["b: 0x58", "c: 2"]);
}

#[tokio::test]
async fn cut_links_closes_all_links_and_accepts_new_ones() {
    let carrier = carrier(Script::new().no_receipts().ignore_first(1)).await;
    let mut links = [Esme::bound(carrier.addr()).await, Esme::bound(carrier.addr()).await];
    links[0].submit("a").await;
    carrier.record().wait_until(|record| record.counts().submits == 1, PATIENCE).await.unwrap();
    carrier.cut_links();
    assert_eq!(links[0].next_many(2).await, ["lost a", "closed: the connection was lost"]);
    assert_eq!(links[1].next().await, "closed: the connection was lost");
    let mut again = Esme::bound(carrier.addr()).await;
    again.submit("a").await;
    assert_eq!(again.next().await, "a: 1");
    assert_eq!(carrier.record().duplicates(), 1);
    assert_eq!(carrier.record().count_text("a"), 2);
}

#[tokio::test]
async fn stopped_carrier_unbinds_and_frees_its_port() {
    let carrier = carrier(Script::new()).await;
    let address = carrier.addr();
    let mut esme = Esme::bound(address).await;
    let (told, ()) = tokio::join!(esme.next_many(2), carrier.stop());
    assert_eq!(told, ["unbound", "closed: the peer unbound"]);
    let options = CarrierOptions { listen: address, ..CarrierOptions::new(Script::new()) };
    let successor = SimulatedCarrier::start(options).await.expect("the port is free again");
    Esme::bound(successor.addr()).await;
}

#[tokio::test]
async fn record_has_every_field_of_a_submit() {
    let carrier = carrier(Script::new().no_receipts().throttle(1)).await;
    let mut esme = Esme::bound(carrier.addr()).await;
    let plain = SubmitSm {
        source: Address::alphanumeric(b"Hermod"),
        destination: Address::international(b"4915112345678"),
        ..SubmitSm::default()
    };
    let first = b"\x05\x00\x03\x2a\x02\x01\xd8\x3d\xde\x00";
    let parts = [first, b"\x05\x00\x03\x2a\x02\x02\0 \0h\0i".first_chunk().unwrap()];
    for part in parts {
        let part = SubmitSm { esm_class: 0x40, data_coding: 8, short_message: Hidden(part), ..plain };
        esme.submit_pdu("part", &part).await;
    }
    let again = SubmitSm { esm_class: 0x40, data_coding: 8, short_message: Hidden(first), ..plain };
    esme.submit_pdu("part", &again).await;
    esme.submit_pdu("gsm", &SubmitSm { short_message: Hidden(b"\x00 5 \x1be"), ..plain }).await;
    assert_eq!(esme.next_many(4).await, ["part: 0x58", "part: 1", "part: 2", "gsm: 3"]);

    let record = carrier.record();
    let submits = record.submits();
    assert_eq!(submits.iter().map(|submit| submit.order).collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert_eq!(submits[0].response, RecordedResponse::Rejected(CommandStatus::THROTTLED));
    assert_eq!(submits[1].part, Some(PartNumber { reference: 0x2a, total: 2, sequence: 2 }));
    assert_eq!((submits[3].source.as_str(), submits[3].destination.as_str()), ("Hermod", "4915112345678"));
    assert_eq!(record.received_texts(), ["😀 h", "@ 5 €"]);
    assert_eq!((record.count_text("😀 h"), record.duplicates()), (1, 0));
}

#[tokio::test]
async fn compact_record_counts_submits_and_duplicates() {
    let options = CarrierOptions { record: RecordMode::Compact, ..CarrierOptions::new(Script::new()) };
    let carrier = SimulatedCarrier::start(options).await.unwrap();
    let mut esme = Esme::bound(carrier.addr()).await;
    for number in 0..500 {
        esme.submit(&format!("message {}", number % 400)).await;
    }
    let told = esme.next_many(1000).await;
    assert_eq!(told.iter().filter(|told| told.starts_with("receipt")).count(), 500);
    let record = carrier.record();
    record.wait_until(|record| record.counts().receipts_accepted == 500, PATIENCE).await.unwrap();
    let counts = record.counts();
    assert_eq!((counts.submits, counts.accepted, counts.duplicates), (500, 500, 100));
    assert_eq!(record.submits(), []);
}
