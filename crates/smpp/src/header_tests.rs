//! Unit tests of `header.rs`.

use super::*;

#[test]
fn every_request_except_two_has_a_response_in_the_table() {
    for command in CommandId::ALL.iter().filter(|c| !c.is_response()) {
        match *command {
            CommandId::OUTBIND | CommandId::ALERT_NOTIFICATION => assert_eq!(command.response(), None),
            _ => {
                assert!(CommandId::ALL.contains(&command.response().expect("has a response")), "{command}")
            }
        }
    }
    assert_eq!(CommandId::SUBMIT_SM.response(), Some(CommandId::SUBMIT_SM_RESP));
    assert_eq!(CommandId::SUBMIT_SM_RESP.response(), None);
    assert_eq!(CommandId(0x111).response(), None);
}

#[test]
fn commands_print_their_specification_names() {
    assert_eq!(CommandId::DATA_SM_RESP.to_string(), "data_sm_resp");
    assert_eq!(CommandId(0x0001_0200).to_string(), "command 0x00010200");
}
