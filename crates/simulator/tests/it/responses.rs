//! submit_sm_resp that are lost, late, out of order, or malformed.

use hermod_simulator::carrier::{
    ReceiptFormat, RecordedResponse, ResponseQuirk, Script, SubmitAction, SubmitFilter,
};
use hermod_smpp::{CommandId, CommandStatus, HEADER_BYTES, Header};

use crate::esme::Esme;
use crate::helpers::{carrier, check, ms};

#[tokio::test]
async fn message_with_a_lost_response_is_accepted_and_receipted() {
    let carrier = carrier(Script::new().lose_responses(1)).await;
    let mut esme = Esme::bound(carrier.addr()).await;
    esme.submit("a").await;
    assert_eq!(esme.next().await, "receipt 1 DELIVRD 2");
    assert_eq!(esme.within(ms(50)).await, None);
    esme.submit("b").await;
    assert_eq!(esme.next_many(2).await, ["b: 2", "receipt 2 DELIVRD 2"]);
    assert_eq!(carrier.record().submits()[0].response, RecordedResponse::Withheld { id: "1".to_owned() });
    assert_eq!(carrier.record().counts().accepted, 2);
}

#[test]
fn delayed_response_is_overtaken_by_others() {
    let script = Script::new().no_receipts().delay_when(SubmitFilter::nth(1), ms(1_000));
    check(script, &["a", "b", "c"], &["b: 2", "c: 3", "a: 1"]);
}

#[tokio::test]
async fn responses_come_out_of_order_if_scripted() {
    let carrier = carrier(Script::new().no_receipts().responses_out_of_order(ms(200))).await;
    let mut esme = Esme::bound(carrier.addr()).await;
    let texts: Vec<String> = (10..40).map(|number| number.to_string()).collect();
    for text in &texts {
        esme.submit(text).await;
    }
    let told = esme.next_many(texts.len()).await;
    let mut came: Vec<&str> = told.iter().filter_map(|told| told.split(':').next()).collect();
    assert!(!came.is_sorted(), "{came:?}");
    came.sort_unstable();
    assert_eq!(came, texts);
}

/// Submits once. Returns the parsed response, its command, and the length of its body.
async fn answer(script: Script) -> (String, CommandId, usize) {
    let carrier = carrier(script.no_receipts()).await;
    let mut esme = Esme::bound(carrier.addr()).await;
    esme.submit("a").await;
    let told = esme.next().await;
    let header = Header::parse(&esme.last_answer).expect("a whole PDU");
    esme.submit("b").await;
    assert!(esme.next().await.starts_with("b: "), "the link stays open");
    (told, header.command, esme.last_answer.len().min(header.length as usize) - HEADER_BYTES)
}

#[tokio::test]
async fn responses_have_the_scripted_body() {
    let resp = CommandId::SUBMIT_SM_RESP;
    let refused = || Script::new().reject_when(SubmitFilter::always(), CommandStatus(0x0401));
    for (script, told, command, body) in [
        (Script::new(), "a: 1", resp, 2),
        (Script::new().responses_without_id(9), "a: ", resp, 0),
        (Script::new().unknown_tlvs_in_responses(), "a: 1", resp, 2 + 4 + 10),
        (Script::new().trailing_octets_in_responses(), "a: 1", resp, 2 + 3),
        (refused(), "a: 0x401", resp, 0),
        (refused().bodies_in_error_responses(), "a: 0x401", resp, 2),
        (Script::new().nack_first(9, CommandStatus::INVCMDID), "a: 0x03", CommandId::GENERIC_NACK, 0),
    ] {
        assert_eq!(answer(script.clone()).await, (told.to_owned(), command, body), "{script:?}");
    }
}

#[tokio::test]
async fn message_without_an_id_gets_its_receipt() {
    let carrier = carrier(Script::new().quirk(SubmitFilter::text("a"), ResponseQuirk::NoBody)).await;
    let mut esme = Esme::bound(carrier.addr()).await;
    esme.submit("a").await;
    assert_eq!(esme.next_many(2).await, ["a: ", "receipt 1 DELIVRD 2"]);
}

#[tokio::test]
async fn random_choices_repeat_with_the_same_seed() {
    let mut runs = Vec::new();
    for _ in 0..2 {
        let script = Script::new()
            .no_receipts()
            .rule(SubmitFilter::per_mille(300), SubmitAction::Reject(CommandStatus::SYSERR));
        let carrier = carrier(script).await;
        let mut esme = Esme::bound(carrier.addr()).await;
        for number in 0..50 {
            esme.submit(&number.to_string()).await;
        }
        runs.push(esme.next_many(50).await);
    }
    assert_eq!(runs[0], runs[1]);
    let refused = runs[0].iter().filter(|told| told.ends_with("0x08")).count();
    assert!((5..30).contains(&refused), "{refused} of 50");
}

#[tokio::test]
async fn client_of_version_3_3_gets_no_tlvs_with_any_script() {
    let script = Script::new()
        .unknown_tlvs_in_responses()
        .receipt_format(ReceiptFormat::in_payload().with_unknown_tlv());
    let carrier = carrier(script).await;
    let mut esme = Esme::connect_3_3(carrier.addr()).await;
    assert_eq!(esme.next().await, "bound");
    esme.submit("a").await;
    assert_eq!(esme.next_many(2).await, ["a: 1", "receipt 1 DELIVRD -"]);
    assert_eq!(esme.last_answer.len(), HEADER_BYTES + 2);
    assert!(esme.last_text.starts_with("id:1 "), "{}", esme.last_text);
}
