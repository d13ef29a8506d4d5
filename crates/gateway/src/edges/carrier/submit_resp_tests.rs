//! Unit tests of `submit_resp.rs`.

use super::*;
use bytes::BytesMut;
use hermod_domain::carrier::RetryOverride;
use hermod_smpp::{CommandStatus, SubmitSmResp, encode, next_frame};

fn frame(pdu: &Pdu<'_>, status: CommandStatus) -> Frame {
    let mut bytes = BytesMut::new();
    encode(pdu, status, 7, &mut bytes).unwrap();
    next_frame(&mut bytes, 16_384).unwrap().unwrap()
}

fn actual(pdu: &Pdu<'_>, status: CommandStatus, profile: &Profile) -> String {
    let ParsedResponse { answer, class, next } = read_submit_response(&frame(pdu, status), profile);
    format!("{} {answer:?} {next:?}", class.map_or("none", ErrorClass::as_str))
}

#[track_caller]
fn check(status: CommandStatus, expect: &str) {
    let answer = Pdu::SubmitSmResp(SubmitSmResp::default());
    assert_eq!(actual(&answer, status, &Profile::default()), expect, "{status}");
}

#[test]
fn each_status_has_its_class_and_effect_on_the_link() {
    check(CommandStatus::THROTTLED, "throttled Throttled Pause(1s)");
    check(CommandStatus::MSGQFUL, "throttled Throttled Pause(5s)");
    check(CommandStatus::SYSERR, "temporary Temporary { status: 8, after: None } Continue");
    check(CommandStatus::X_T_APPN, "temporary Temporary { status: 100, after: None } Continue");
    check(CommandStatus::DELIVERYFAILURE, "temporary Temporary { status: 254, after: None } Continue");
    check(CommandStatus::INVBNDSTS, "not-bound Temporary { status: 4, after: None } Rebind");
    check(
        CommandStatus::INVDSTADR,
        "rejected-destination Refused { about: Destination, status: 11 } Continue",
    );
    check(CommandStatus::INVMSGLEN, "rejected-message Refused { about: Other, status: 1 } Continue");
    check(CommandStatus::SUBMITFAIL, "rejected-route Refused { about: Other, status: 69 } Continue");
    check(CommandStatus::INVESMCLASS, "protocol-error Refused { about: Other, status: 67 } Continue");
    check(CommandStatus(0x0400), "unknown Refused { about: Other, status: 1024 } Continue");
}

#[test]
fn generic_nack_is_a_protocol_error_unless_temporary() {
    for (status, expect) in [
        (CommandStatus::OK, "protocol-error Refused { about: Other, status: 0 } Continue"),
        (CommandStatus::INVCMDID, "protocol-error Refused { about: Other, status: 3 } Continue"),
        (CommandStatus::SUBMITFAIL, "protocol-error Refused { about: Other, status: 69 } Continue"),
        (CommandStatus(0x0400), "protocol-error Refused { about: Other, status: 1024 } Continue"),
        (CommandStatus::THROTTLED, "throttled Throttled Pause(1s)"),
        (CommandStatus::SYSERR, "temporary Temporary { status: 8, after: None } Continue"),
        (CommandStatus::INVBNDSTS, "not-bound Temporary { status: 4, after: None } Rebind"),
    ] {
        assert_eq!(actual(&Pdu::GenericNack, status, &Profile::default()), expect, "{status}");
    }
}

#[test]
fn profile_overrides_the_class_of_a_status() {
    let overrides = |status, class, wait_ms| RetryOverride { status, class, wait_ms };
    let profile = Profile {
        retry: vec![
            overrides(0x0400, ErrorClass::Throttled, Some(30_000)),
            overrides(0x45, ErrorClass::Temporary, Some(7_000)),
            overrides(0x58, ErrorClass::RejectedRoute, None),
        ],
        ..Profile::default()
    };
    for (status, expect) in [
        (0x0400, "throttled Throttled Pause(30s)"),
        (0x45, "temporary Temporary { status: 69, after: Some(7s) } Continue"),
        (0x58, "rejected-route Refused { about: Other, status: 88 } Continue"),
        (0x14, "throttled Throttled Pause(5s)"),
    ] {
        let answer = Pdu::SubmitSmResp(SubmitSmResp::default());
        assert_eq!(actual(&answer, CommandStatus(status), &profile), expect);
    }
}

#[test]
fn accepted_part_without_id_is_reported_as_such() {
    let read = |message_id: &'static [u8]| {
        let answer = SubmitSmResp { message_id, ..SubmitSmResp::default() };
        read_submit_response(&frame(&Pdu::SubmitSmResp(answer), CommandStatus::OK), &Profile::default())
            .answer
    };
    assert_eq!(read(b"0A1b"), SubmitResponse::Accepted(RemoteId::from_octets(b"0A1b").unwrap()));
    assert_eq!(read(b""), SubmitResponse::AcceptedWithoutId);
}
