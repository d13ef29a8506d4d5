//! Malformed PDUs among valid ones.

use hermod_simulator::carrier::{MoPart, Script};
use hermod_smpp::CommandStatus;

use crate::esme::{Esme, PATIENCE};
use crate::helpers::{carrier, check};

#[test]
fn invalid_command_length_ends_the_link() {
    for (length, expect) in
        [(4, "closed: invalid command_length 4"), (0x4854_5450, "closed: invalid command_length 1213486160")]
    {
        let expect = Box::leak(Box::new(["a: 1", expect]));
        check(Script::new().no_receipts().bad_length_after(1, length), &["a"], expect);
    }
}

#[tokio::test]
async fn one_malformed_receipt_is_sent_among_valid_ones() {
    let carrier = carrier(Script::new().malformed_before_receipts()).await;
    let mut esme = Esme::bound(carrier.addr()).await;
    for text in ["a", "b"] {
        esme.submit(text).await;
        assert!(esme.next().await.starts_with(text));
        assert!(esme.next().await.starts_with("receipt"));
    }
    let record = carrier.record();
    record.wait_until(|record| record.counts().receipts_accepted == 2, PATIENCE).await.unwrap();
    let answers: Vec<_> = record
        .receipts()
        .iter()
        .map(|receipt| (receipt.malformed, receipt.response.map(CommandStatus::is_ok)))
        .collect();
    assert_eq!(answers, [(true, Some(false)), (false, Some(true)), (true, Some(false)), (false, Some(true))]);
    assert_eq!((carrier.receipts_pending(), record.counts().links_closed), (0, 0));
}

#[tokio::test]
async fn malformed_mo_message_is_sent_once() {
    let carrier = carrier(Script::new()).await;
    let mut esme = Esme::bound(carrier.addr()).await;
    carrier.send_mo_parts([
        MoPart::raw("4917", "12345", 0, b"hello").malformed(),
        MoPart::raw("4917", "12345", 0, b"hi"),
    ]);
    assert_eq!(esme.next().await, "said 4917 > 12345: hi");
    let record = carrier.record();
    record.wait_until(|record| record.counts().mo_accepted == 1, PATIENCE).await.unwrap();
    let answers: Vec<_> = record.mo().iter().map(|mo| mo.response.map(CommandStatus::is_ok)).collect();
    assert_eq!(answers, [Some(false), Some(true)]);
}
