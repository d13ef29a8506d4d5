//! The carrier against a bare SMPP client: each verb of a script, and what the record says about it.

use std::time::Duration;

use hermod_simulator::carrier::{
    Answer, Carrier, CarrierOptions, FirstId, IdFormat, IdStyle, Outcome, Part, Receipts, RecordMode, Script,
    When,
};
use hermod_smpp::{Address, BindType, CommandStatus, Hidden, SubmitSm};
use tokio::time::Instant;

use crate::esme::{ENQUIRE_WAIT, Esme, OnReceipt, PATIENCE};

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A carrier whose first id is 1.
async fn carrier(script: Script) -> Carrier {
    let options = CarrierOptions { first_id: FirstId::At(1), ..CarrierOptions::new(script) };
    Carrier::start(options).await.expect("a free port")
}

/// Submits each text, waits for as many things as are expected, and compares.
#[track_caller]
fn check(script: Script, texts: &'static [&'static str], expect: &'static [&'static str]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let happened = runtime.block_on(async {
        let carrier = carrier(script).await;
        let mut esme = Esme::bound(carrier.addr()).await;
        for text in texts {
            esme.submit(text).await;
        }
        esme.next_many(expect.len()).await
    });
    assert_eq!(happened, expect);
}

#[test]
fn everything_is_taken_and_delivered() {
    let expect = &["a: 1", "b: 2", "receipt 1 DELIVRD 2", "receipt 2 DELIVRD 2"];
    check(Script::new().receipt_after(ms(30), Outcome::Delivered), &["a", "b"], expect);
}

#[test]
fn a_receipt_follows_its_answer_and_not_the_other_way_round() {
    check(Script::new(), &["a"], &["a: 1", "receipt 1 DELIVRD 2"]);
    check(Script::new().delay(ms(30)), &["a"], &["a: 1", "receipt 1 DELIVRD 2"]);
}

#[test]
fn unless_it_is_told_to_overtake() {
    let first = || Script::new().receipt_first(Outcome::Delivered);
    check(first(), &["a"], &["receipt 1 DELIVRD 2", "a: 1"]);
    check(first().delay(ms(30)), &["a"], &["receipt 1 DELIVRD 2", "a: 1"]);
    let twice = ["receipt 1 DELIVRD 2", "receipt 1 DELIVRD 2", "a: 1"];
    check(first().receipt_twice(), &["a"], Box::leak(Box::new(twice)));
}

#[test]
fn throttled_and_refused_submits_get_no_receipt() {
    let script = Script::new().throttle(1).refuse_first(1, CommandStatus::SYSERR);
    check(script, &["a", "b", "c"], &["a: 0x58", "b: 0x08", "c: 1", "receipt 1 DELIVRD 2"]);
}

#[test]
fn some_destinations_and_texts_are_refused() {
    let script = Script::new()
        .receipt_never()
        .refuse_when(When::text("bad"), CommandStatus::SUBMITFAIL)
        .refuse_when(When::to("+4915"), CommandStatus::INVDSTADR);
    check(script, &["bad", "good"], &["bad: 0x45", "good: 0x0b"]);
}

#[test]
fn every_outcome_has_its_word_and_its_number() {
    for (outcome, expect) in [
        (Outcome::Delivered, "receipt 1 DELIVRD 2"),
        (Outcome::Expired, "receipt 1 EXPIRED 3"),
        (Outcome::Undeliverable, "receipt 1 UNDELIV 5"),
        (Outcome::Accepted, "receipt 1 ACCEPTD 6"),
        (Outcome::Unknown, "receipt 1 UNKNOWN 7"),
        (Outcome::Rejected, "receipt 1 REJECTD 8"),
    ] {
        let expect = Box::leak(Box::new(["a: 1", expect]));
        check(Script::new().receipt_after(ms(0), outcome), &["a"], expect);
    }
}

#[test]
fn receipts_come_twice_or_with_an_enroute_before() {
    let again = &["a: 1", "receipt 1 DELIVRD 2", "receipt 1 DELIVRD 2"];
    check(Script::new().receipt_twice(), &["a"], again);
    let script = Script::new().enroute_after(ms(0)).receipt_after(ms(30), Outcome::Undeliverable);
    check(script, &["a"], &["a: 1", "receipt 1 ENROUTE 1", "receipt 1 UNDELIV 5"]);
}

#[test]
fn outcomes_may_depend_on_the_message() {
    let undelivered = Receipts::after(ms(50), Outcome::Undeliverable);
    let script = Script::new().receipts_when(When::text("lost"), undelivered);
    let expect = &["found: 1", "lost: 2", "receipt 1 DELIVRD 2", "receipt 2 UNDELIV 5"];
    check(script.receipt_after(ms(50), Outcome::Delivered), &["found", "lost"], expect);
}

#[tokio::test]
async fn ids_are_hex_in_the_answer_and_decimal_in_the_receipt() {
    let ids = IdFormat { answer: IdStyle::UpperHex, receipt: IdStyle::Decimal, prefix: "c-".to_owned() };
    let options =
        CarrierOptions { first_id: FirstId::At(0xabc), ..CarrierOptions::new(Script::new().ids(ids)) };
    let carrier = Carrier::start(options).await.unwrap();
    let mut esme = Esme::bound(carrier.addr()).await;
    esme.submit("a").await;
    assert_eq!(esme.next_many(2).await, ["a: c-ABC", "receipt c-2748 DELIVRD 2"]);
}

#[test]
fn a_carrier_that_unbinds_says_so_after_the_answer() {
    let expect = &["a: 1", "unbound", "closed: the peer unbound"];
    check(Script::new().receipt_never().unbind_after(1), &["a"], expect);
}

#[test]
fn garbage_ends_the_session_of_whoever_reads_it() {
    let expect = &["a: 1", "closed: command_length 4294967295 is not a PDU's"];
    check(Script::new().receipt_never().garbage_after(1), &["a"], expect);
}

#[test]
fn a_connection_is_cut_after_an_answer() {
    check(Script::new().receipt_never().cut_after(1), &["a"], &["a: 1", "closed: the connection was lost"]);
}

#[test]
fn a_trickling_carrier_says_the_same_only_slowly() {
    let expect = &["a: 1", "b: 2", "receipt 1 DELIVRD 2", "receipt 2 DELIVRD 2"];
    check(Script::new().trickle().receipt_after(ms(50), Outcome::Delivered), &["a", "b"], expect);
}

#[tokio::test]
async fn delayed_answers_are_late_and_a_single_one_can_be() {
    let carrier = carrier(Script::new().receipt_never().delay_when(When::first(1), ms(80))).await;
    let mut esme = Esme::bound(carrier.addr()).await;
    let start = Instant::now();
    esme.submit("slow").await;
    assert_eq!(esme.next().await, "slow: 1");
    assert!(start.elapsed() >= ms(80), "{:?}", start.elapsed());
    esme.submit("fast").await;
    assert_eq!(esme.next().await, "fast: 2");
}

#[tokio::test]
async fn a_silent_carrier_answers_only_the_others() {
    let carrier = carrier(Script::new().receipt_never().silent_every(2)).await;
    let mut esme = Esme::bound(carrier.addr()).await;
    for text in ["a", "b", "c", "d"] {
        esme.submit(text).await;
    }
    assert_eq!(esme.next_many(2).await, ["a: 1", "c: 2"]);
    assert_eq!(esme.within(ms(50)).await, None);
    let answers: Vec<Answer> = carrier.record().submits().into_iter().map(|submit| submit.answer).collect();
    let [one, two] = ["1", "2"].map(|id| Answer::Accepted { id: id.to_owned() });
    assert_eq!(answers, [one, Answer::Silent, two, Answer::Silent]);
}

#[tokio::test]
async fn a_cut_before_the_answer_leaves_the_sender_in_doubt_and_its_receipt_comes_later() {
    let carrier = carrier(Script::new().cut_before_answer(2)).await;
    let mut esme = Esme::bound(carrier.addr()).await;
    esme.submit("a").await;
    assert_eq!(esme.next_many(2).await, ["a: 1", "receipt 1 DELIVRD 2"]);
    esme.submit("b").await;
    assert_eq!(esme.next_many(2).await, ["lost b", "closed: the connection was lost"]);
    let mut again = Esme::bound(carrier.addr()).await;
    assert_eq!(again.next().await, "receipt 2 DELIVRD 2");
    assert_eq!(carrier.record().submits()[1].answer, Answer::Cut { id: "2".to_owned() });
}

#[tokio::test]
async fn a_cut_after_bytes_may_split_a_pdu_and_happens_once() {
    // A bind_transceiver_resp of 16 + 11 + 5 octets, one whole submit_sm_resp of 18, and half of another.
    let carrier = carrier(Script::new().receipt_never().cut_after_bytes(32 + 18 + 9)).await;
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
async fn a_coalescing_carrier_sends_many_pdus_at_once() {
    let carrier = carrier(Script::new().receipt_never().coalesce(ms(100))).await;
    let mut esme = Esme::bound(carrier.addr()).await;
    for text in ["a", "b", "c"] {
        esme.submit(text).await;
    }
    assert_eq!(esme.next_many(3).await, ["a: 1", "b: 2", "c: 3"]);
    assert!(esme.read_max >= 3 * 18, "{} octets at most in one read", esme.read_max);
}

#[tokio::test]
async fn unknown_ids_are_not_the_ones_given() {
    let carrier = carrier(Script::new().receipt_unknown_id()).await;
    let mut esme = Esme::bound(carrier.addr()).await;
    esme.submit("a").await;
    assert_eq!(esme.next().await, "a: 1");
    let receipt = esme.next().await;
    assert!(receipt.starts_with("receipt 9") && receipt.ends_with(" DELIVRD 2"), "{receipt}");
}

#[tokio::test]
async fn nobody_gets_a_receipt_from_a_carrier_that_never_sends_one() {
    let carrier = carrier(Script::new().receipt_never()).await;
    let mut esme = Esme::bound(carrier.addr()).await;
    esme.submit("a").await;
    assert_eq!(esme.next().await, "a: 1");
    assert_eq!(esme.within(ms(50)).await, None);
    assert_eq!(carrier.receipts_unsettled(), 0);
}

#[tokio::test]
async fn binds_are_refused_by_count_then_by_password() {
    let script = Script::new().refuse_binds(1, CommandStatus::BINDFAIL).credentials("hermod", "other");
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
    assert_eq!((counts.binds, counts.binds_refused), (1, 2));
}

#[tokio::test]
async fn enquire_links_are_answered_or_not() {
    let carrier = carrier(Script::new().receipt_never().ignore_enquire_links()).await;
    let mut esme = Esme::bound(carrier.addr()).await;
    esme.submit("a").await;
    assert_eq!(esme.next().await, "a: 1", "all else goes on");
    esme.enquire().await;
    assert_eq!(esme.next().await, "closed: the peer does not answer enquire_link");
    assert_eq!(carrier.record().counts().enquire_links, 1);
    carrier.set_script(Script::new().receipt_never());
    let mut esme = Esme::bound(carrier.addr()).await;
    esme.enquire().await;
    assert_eq!(esme.within(ENQUIRE_WAIT * 2).await, None, "it was answered");
    assert_eq!(carrier.record().counts().enquire_links, 2);
}

#[tokio::test]
async fn more_than_the_window_or_the_rate_is_throttled() {
    let carrier = carrier(Script::new().receipt_never().window_max(2).delay(ms(50))).await;
    let mut esme = Esme::bound(carrier.addr()).await;
    for text in ["a", "b", "c"] {
        esme.submit(text).await;
    }
    assert_eq!(esme.next_sorted(3).await, ["a: 1", "b: 2", "c: 0x58"]);
    carrier.set_script(Script::new().receipt_never().per_second_max(0));
    esme.submit("d").await;
    assert_eq!(esme.next().await, "d: 0x58");
}

#[tokio::test]
async fn receipts_wait_for_the_next_bind() {
    let carrier = carrier(Script::new().receipt_after(ms(50), Outcome::Delivered)).await;
    let mut esme = Esme::bound(carrier.addr()).await;
    esme.submit("a").await;
    assert_eq!(esme.next().await, "a: 1");
    esme.unbind().await;
    assert_eq!(esme.next().await, "closed: we unbound");
    let gone = carrier.record();
    gone.wait_until(|record| record.counts().links_closed == 1, PATIENCE).await.unwrap();
    assert_eq!(carrier.receipts_unsettled(), 1);
    let mut again = Esme::bound(carrier.addr()).await;
    assert_eq!(again.next().await, "receipt 1 DELIVRD 2");
    gone.wait_until(|record| record.counts().receipts_taken == 1, PATIENCE).await.unwrap();
    assert_eq!(carrier.receipts_unsettled(), 0);
    assert_eq!(gone.counts().unbinds, 1);
}

#[tokio::test]
async fn receipts_nobody_answered_are_sent_again_after_the_next_bind() {
    let carrier = carrier(Script::new()).await;
    let mut esme = Esme::bound(carrier.addr()).await;
    esme.on_receipt = OnReceipt::Ignore;
    esme.submit("a").await;
    assert_eq!(esme.next_many(2).await, ["a: 1", "receipt 1 DELIVRD 2"]);
    drop(esme);
    let mut again = Esme::bound(carrier.addr()).await;
    assert_eq!(again.next().await, "receipt 1 DELIVRD 2");
    let record = carrier.record();
    record.wait_until(|record| record.counts().receipts_taken == 1, PATIENCE).await.unwrap();
    assert_eq!((record.counts().receipts_sent, record.counts().receipts_unanswered), (2, 1));
    let answers: Vec<_> = record.receipts().iter().map(|receipt| receipt.answer).collect();
    assert_eq!(answers, [None, Some(CommandStatus::OK)]);
}

#[tokio::test]
async fn a_receipt_is_tried_again_after_a_temporary_refusal_and_not_after_another() {
    let carrier = carrier(Script::new()).await;
    let mut esme = Esme::bound(carrier.addr()).await;
    esme.on_receipt = OnReceipt::Refuse(CommandStatus::X_T_APPN);
    esme.submit("a").await;
    assert_eq!(esme.next_many(2).await, ["a: 1", "receipt 1 DELIVRD 2"]);
    esme.on_receipt = OnReceipt::Refuse(CommandStatus::X_R_APPN);
    assert_eq!(esme.next().await, "receipt 1 DELIVRD 2");
    assert_eq!(esme.within(ms(50)).await, None);
    let counts = carrier.record().counts();
    assert_eq!((counts.receipts_sent, counts.receipts_refused), (2, 2));
    assert_eq!(carrier.receipts_unsettled(), 0);
}

#[tokio::test]
async fn receipts_of_a_transmitter_go_to_a_receiver() {
    let carrier = carrier(Script::new()).await;
    let mut transmitter = Esme::bound_as(carrier.addr(), BindType::Transmitter).await;
    transmitter.submit("a").await;
    assert_eq!(transmitter.next().await, "a: 1");
    assert_eq!(carrier.receipts_unsettled(), 1);
    let mut receiver = Esme::bound_as(carrier.addr(), BindType::Receiver).await;
    assert_eq!(receiver.next().await, "receipt 1 DELIVRD 2");
    transmitter.submit("b").await;
    assert_eq!(receiver.next().await, "receipt 2 DELIVRD 2");
    assert_eq!(transmitter.next().await, "b: 2");
}

#[tokio::test]
async fn an_old_client_gets_receipts_without_tlvs() {
    let carrier = carrier(Script::new()).await;
    let mut esme = Esme::connect_3_3(carrier.addr()).await;
    assert_eq!(esme.next().await, "bound");
    esme.submit("a").await;
    assert_eq!(esme.next_many(2).await, ["a: 1", "receipt 1 DELIVRD -"]);
    assert_eq!(carrier.record().binds()[0].interface_version, 0x33);
}

#[tokio::test]
async fn a_carrier_with_too_many_receipts_waiting_pushes_back() {
    let options = CarrierOptions {
        receipts_max: 2,
        first_id: FirstId::At(1),
        ..CarrierOptions::new(Script::new().receipt_after(PATIENCE * 6, Outcome::Delivered))
    };
    let carrier = Carrier::start(options).await.unwrap();
    let mut esme = Esme::bound(carrier.addr()).await;
    for text in ["a", "b", "c"] {
        esme.submit(text).await;
    }
    assert_eq!(esme.next_many(3).await, ["a: 1", "b: 2", "c: 0x14"]);
}

#[tokio::test]
async fn scripts_are_swapped_while_links_are_open() {
    let carrier = carrier(Script::new().receipt_never()).await;
    let mut esme = Esme::bound(carrier.addr()).await;
    esme.submit("a").await;
    assert_eq!(esme.next().await, "a: 1");
    carrier.set_script(Script::new().throttle(1).receipt_never());
    esme.submit("b").await;
    esme.submit("c").await;
    assert_eq!(esme.next_many(2).await, ["b: 0x58", "c: 2"]);
}

#[tokio::test]
async fn cut_links_ends_all_links_and_lets_new_ones_in() {
    let carrier = carrier(Script::new().receipt_never().silent(1)).await;
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
async fn a_carrier_that_stops_unbinds_and_lets_its_port_go() {
    let carrier = carrier(Script::new()).await;
    let address = carrier.addr();
    let mut esme = Esme::bound(address).await;
    let (told, ()) = tokio::join!(esme.next_many(2), carrier.stop());
    assert_eq!(told, ["unbound", "closed: the peer unbound"]);
    let options = CarrierOptions { listen: address, ..CarrierOptions::new(Script::new()) };
    let successor = Carrier::start(options).await.expect("the port is free again");
    Esme::bound(successor.addr()).await;
}

#[tokio::test]
async fn the_record_tells_what_came_in_every_detail() {
    let carrier = carrier(Script::new().receipt_never().throttle(1)).await;
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
    assert_eq!(submits[0].answer, Answer::Refused(CommandStatus::THROTTLED));
    assert_eq!(submits[1].part, Some(Part { reference: 0x2a, total: 2, sequence: 2 }));
    assert_eq!((submits[3].source.as_str(), submits[3].destination.as_str()), ("Hermod", "4915112345678"));
    assert_eq!(record.received_texts(), ["😀 h", "@ 5 €"]);
    assert_eq!((record.count_text("😀 h"), record.duplicates()), (1, 0));
}

#[tokio::test]
async fn a_compact_record_counts_a_burst_and_its_duplicates() {
    let options = CarrierOptions { record: RecordMode::Compact, ..CarrierOptions::new(Script::new()) };
    let carrier = Carrier::start(options).await.unwrap();
    let mut esme = Esme::bound(carrier.addr()).await;
    for number in 0..500 {
        esme.submit(&format!("message {}", number % 400)).await;
    }
    let told = esme.next_many(1000).await;
    assert_eq!(told.iter().filter(|told| told.starts_with("receipt")).count(), 500);
    let record = carrier.record();
    record.wait_until(|record| record.counts().receipts_taken == 500, PATIENCE).await.unwrap();
    let counts = record.counts();
    assert_eq!((counts.submits, counts.accepted, counts.duplicates), (500, 500, 100));
    assert_eq!(record.submits(), []);
}
