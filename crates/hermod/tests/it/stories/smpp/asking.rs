//! Asking about messages, and taking them back.

use super::{alice_binds_with, message};
use crate::scenario::{Esme, Scenario};
use hermod_simulator::carrier::Script;
use hermod_smpp::{BindType, CancelSm, CommandId, CommandStatus, Pdu, QuerySm, ReplaceSm};

async fn asks(esme: &mut Esme, message_id: &str) -> Result<(u8, String), CommandStatus> {
    let query = QuerySm { message_id: message_id.as_bytes(), ..QuerySm::default() };
    let frame = esme.asks(&Pdu::QuerySm(query)).await;
    if frame.header.status != CommandStatus::OK {
        return Err(frame.header.status);
    }
    let Ok(Pdu::QuerySmResp(answer)) = frame.decode() else { panic!("{frame:?}") };
    assert_eq!(answer.message_id, message_id.as_bytes());
    Ok((answer.message_state, String::from_utf8(answer.final_date.to_vec()).expect("digits")))
}

async fn cancels(esme: &mut Esme, message_id: &str) -> CommandStatus {
    let cancel = CancelSm { message_id: message_id.as_bytes(), ..CancelSm::default() };
    let frame = esme.asks(&Pdu::CancelSm(cancel)).await;
    assert_eq!(frame.header.command, CommandId::CANCEL_SM_RESP);
    frame.header.status
}

#[tokio::test]
async fn query_sm_tells_where_a_message_of_the_account_stands() {
    let s = Scenario::with(Script::new()).await;
    alice_binds_with(&s, "").await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    let id = alice.submits(message("where")).await;
    alice.gets_receipt().await;
    assert_eq!(asks(&mut alice, &id).await, Ok((2, "261115000000000+".to_owned())));
    let by_http = s.alice.sends("+4915112345678", "by http").await.accepted();
    s.alice.sees(&by_http).becomes("delivered").await;
    assert_eq!(asks(&mut alice, &by_http).await.map(|(state, _)| state), Ok(2));
    let foreign = s.bob.sends("+4915112345678", "not hers").await.accepted();
    s.skip(std::time::Duration::from_secs(1));
    for unknown in [foreign.as_str(), "123456789012", "", "0x12"] {
        assert_eq!(asks(&mut alice, unknown).await, Err(CommandStatus::INVMSGID), "{unknown}");
    }
    s.everything_settles().await;
    drop(alice);
    s.end().await;
}

#[tokio::test]
async fn a_message_that_still_waits_can_be_taken_back_once_and_is_refunded() {
    let s = Scenario::without_carrier().await;
    alice_binds_with(&s, "").await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    let id = alice.submits(message("take it back")).await;
    s.alice.has("99.95").await;
    assert_eq!(asks(&mut alice, &id).await, Ok((1, String::new())));
    assert_eq!(cancels(&mut alice, &id).await, CommandStatus::OK);
    let receipt = alice.gets_receipt().await;
    assert_eq!(
        (receipt.get("id"), receipt.get("stat"), receipt.state_tlv),
        (id.as_str(), "REJECTD", Some(5))
    );
    s.alice.sees(&id).is("rejected").await;
    s.alice.has("100").await;
    assert_eq!(cancels(&mut alice, &id).await, CommandStatus::CANCELFAIL);
    assert_eq!(cancels(&mut alice, "123456789012").await, CommandStatus::INVMSGID);
    drop(alice);
    s.end().await;
}

#[tokio::test]
async fn what_a_carrier_has_cannot_be_taken_back_and_nothing_is_replaced() {
    let s = Scenario::with(Script::new()).await;
    alice_binds_with(&s, "").await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    let id = alice.submits(message("gone")).await;
    alice.gets_receipt().await;
    assert_eq!(cancels(&mut alice, &id).await, CommandStatus::CANCELFAIL);
    let replace = ReplaceSm { message_id: id.as_bytes(), ..ReplaceSm::default() };
    assert_eq!(alice.asks(&Pdu::ReplaceSm(replace)).await.header.status, CommandStatus::REPLACEFAIL);
    drop(alice);
    s.end().await;
}
