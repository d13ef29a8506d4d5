//! query_sm, cancel_sm and replace_sm.

use super::provision_alice_smpp;
use crate::scenario::{Esme, Scenario, message};
use hermod_simulator::carrier::Script;
use hermod_smpp::{BindType, CancelSm, CommandId, CommandStatus, Pdu, QuerySm, ReplaceSm};

async fn query_state(esme: &mut Esme, message_id: &str) -> Result<(u8, String), CommandStatus> {
    let query = QuerySm { message_id: message_id.as_bytes(), ..QuerySm::default() };
    let frame = esme.request(&Pdu::QuerySm(query)).await;
    if frame.header.status != CommandStatus::OK {
        return Err(frame.header.status);
    }
    let Ok(Pdu::QuerySmResp(answer)) = frame.decode() else { panic!("{frame:?}") };
    assert_eq!(answer.message_id, message_id.as_bytes());
    Ok((answer.message_state, String::from_utf8(answer.final_date.to_vec()).expect("digits")))
}

async fn cancel(esme: &mut Esme, message_id: &str) -> CommandStatus {
    let cancel = CancelSm { message_id: message_id.as_bytes(), ..CancelSm::default() };
    let frame = esme.request(&Pdu::CancelSm(cancel)).await;
    assert_eq!(frame.header.command, CommandId::CANCEL_SM_RESP);
    frame.header.status
}

#[tokio::test]
async fn query_sm_returns_the_state_of_the_accounts_messages() {
    let s = Scenario::with(Script::new()).await;
    provision_alice_smpp(&s, "").await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    let id = alice.submit(message("where")).await;
    alice.take_receipt().await;
    assert_eq!(query_state(&mut alice, &id).await, Ok((2, "261115000000000+".to_owned())));
    let by_http = s.alice.send("+4915112345678", "by http").await.accepted();
    s.alice.status_of(&by_http).becomes("delivered").await;
    assert_eq!(query_state(&mut alice, &by_http).await.map(|(state, _)| state), Ok(2));
    let foreign = s.bob.send("+4915112345678", "not hers").await.accepted();
    s.skip(std::time::Duration::from_secs(1));
    for unknown in [foreign.as_str(), "123456789012", "", "0x12"] {
        assert_eq!(query_state(&mut alice, unknown).await, Err(CommandStatus::INVMSGID), "{unknown}");
    }
    s.wait_until_no_open_parts().await;
    drop(alice);
    s.end().await;
}

#[tokio::test]
async fn cancel_sm_of_a_queued_message_succeeds_once_and_refunds_it() {
    let s = Scenario::without_carrier().await;
    provision_alice_smpp(&s, "").await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    let id = alice.submit(message("take it back")).await;
    s.alice.assert_balance("99.95").await;
    assert_eq!(query_state(&mut alice, &id).await, Ok((1, String::new())));
    assert_eq!(cancel(&mut alice, &id).await, CommandStatus::OK);
    let receipt = alice.take_receipt().await;
    assert_eq!(
        (receipt.get("id"), receipt.get("stat"), receipt.state_tlv),
        (id.as_str(), "REJECTD", Some(5))
    );
    s.alice.status_of(&id).is("rejected").await;
    s.alice.assert_balance("100").await;
    assert_eq!(cancel(&mut alice, &id).await, CommandStatus::CANCELFAIL);
    assert_eq!(cancel(&mut alice, "123456789012").await, CommandStatus::INVMSGID);
    drop(alice);
    s.end().await;
}

#[tokio::test]
async fn cancel_sm_of_a_delivered_message_and_replace_sm_are_rejected() {
    let s = Scenario::with(Script::new()).await;
    provision_alice_smpp(&s, "").await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    let id = alice.submit(message("gone")).await;
    alice.take_receipt().await;
    assert_eq!(cancel(&mut alice, &id).await, CommandStatus::CANCELFAIL);
    let replace = ReplaceSm { message_id: id.as_bytes(), ..ReplaceSm::default() };
    assert_eq!(alice.request(&Pdu::ReplaceSm(replace)).await.header.status, CommandStatus::REPLACEFAIL);
    drop(alice);
    s.end().await;
}
