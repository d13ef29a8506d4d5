//! Ids with different formats in the response and in the receipt.

use hermod_simulator::carrier::{CarrierOptions, FirstId, IdStyle, Script, SimulatedCarrier};

use crate::esme::Esme;

/// An id from a bug report that does not fit a signed 64-bit number.
const NUMBER: u64 = 0x812F_C747_0000_001B;
const HEX: &str = "812FC7470000001B";
const DECIMAL: &str = "9308878062554710043";

/// Returns the id of the response and of the receipt.
async fn ids(script: Script, first_id: u64) -> (String, String) {
    let options = CarrierOptions { first_id: FirstId::At(first_id), ..CarrierOptions::new(script) };
    let carrier = SimulatedCarrier::start(options).await.expect("a free port");
    let mut esme = Esme::bound(carrier.addr()).await;
    esme.submit("a").await;
    let told = esme.next_many(2).await;
    let answer = told[0].strip_prefix("a: ").expect("the answer").to_owned();
    let receipt = told[1].strip_prefix("receipt ").and_then(|told| told.strip_suffix(" DELIVRD 2"));
    (answer, receipt.expect("the receipt").to_owned())
}

#[tokio::test]
async fn receipt_ids_differ_from_response_ids_as_scripted() {
    let lower = HEX.to_ascii_lowercase();
    for (script, answer, receipt) in [
        (Script::new().hex_ids_decimal_in_receipts(), HEX, DECIMAL),
        (Script::new().decimal_ids_hex_in_receipts(), DECIMAL, HEX),
        (Script::new().ids_lowered_in_receipts(), HEX, lower.as_str()),
        (Script::new().ids_raised_in_receipts(), lower.as_str(), HEX),
        (Script::new().zeros_stripped_in_receipts(), "09308878062554710043", DECIMAL),
        (Script::new().zeros_added_in_receipts(), DECIMAL, "09308878062554710043"),
        (Script::new().id_prefix("smsc01-"), "smsc01-9308878062554710043", "smsc01-9308878062554710043"),
        (Script::new().id_styles(IdStyle::ZeroHex(18), IdStyle::Hex), "00812FC7470000001B", &lower),
    ] {
        assert_eq!(ids(script, NUMBER).await, (answer.to_owned(), receipt.to_owned()));
    }
}

#[tokio::test]
async fn uuid_in_the_receipt_has_another_case() {
    let (answer, receipt) = ids(Script::new().uuid_ids_raised_in_receipts(), 7).await;
    assert_eq!((answer.len(), answer.to_ascii_uppercase()), (36, receipt));
}
