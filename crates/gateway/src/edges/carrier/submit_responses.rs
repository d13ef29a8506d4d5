//! What a carrier's answer means for the part it is about, for the link it came over and for the figures.

use hermod_domain::carrier::{ErrorClass, Profile};
use hermod_domain::ids::RemoteId;
use hermod_smpp::{CommandId, Frame, Pdu};
use hermod_store::SubmitResponse;
use std::time::Duration;

/// What to do with the link itself after an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinkNext {
    GoOn,
    Pause(Duration),
    /// The carrier thinks we are not bound: bind anew.
    Rebind,
}

/// An answer, read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) answer: SubmitResponse,
    /// What kind of refusal it is, if it is one.
    pub(super) class: Option<ErrorClass>,
    pub(super) next: LinkNext,
}

/// Reads the answer to a submit_sm, by the carrier's own meaning of its numbers.
pub(super) fn read_answer(frame: &Frame, profile: &Profile) -> Verdict {
    let status = frame.header.status;
    let is_nack = frame.header.command == CommandId::GENERIC_NACK;
    if status.is_ok() && !is_nack {
        return Verdict { answer: accepted(frame), class: None, next: LinkNext::GoOn };
    }
    let status = status.0;
    let (class, wait) = class_of(status, is_nack, profile);
    let (answer, next) = match class {
        ErrorClass::Throttled => {
            let pause = wait.unwrap_or(ErrorClass::pause_of(status));
            (SubmitResponse::Throttled, LinkNext::Pause(pause))
        }
        ErrorClass::Temporary => (SubmitResponse::Temporary { status, after: wait }, LinkNext::GoOn),
        ErrorClass::NotBound => (SubmitResponse::Temporary { status, after: wait }, LinkNext::Rebind),
        ErrorClass::RejectedRoute
        | ErrorClass::RejectedMessage
        | ErrorClass::RejectedDestination
        | ErrorClass::ProtocolError
        | ErrorClass::Unknown => (SubmitResponse::Refused { about: class.about(), status }, LinkNext::GoOn),
    };
    Verdict { answer, class: Some(class), next }
}

/// A nack says that the carrier could not make sense of the PDU, unless it only asks for patience.
fn class_of(status: u32, is_nack: bool, profile: &Profile) -> (ErrorClass, Option<Duration>) {
    let (class, wait) = profile.class_of(status);
    match class {
        ErrorClass::Throttled | ErrorClass::Temporary | ErrorClass::NotBound => (class, wait),
        ErrorClass::RejectedRoute
        | ErrorClass::RejectedMessage
        | ErrorClass::RejectedDestination
        | ErrorClass::ProtocolError
        | ErrorClass::Unknown => (if is_nack { ErrorClass::ProtocolError } else { class }, wait),
    }
}

fn accepted(frame: &Frame) -> SubmitResponse {
    let remote = match frame.decode() {
        Ok(Pdu::SubmitSmResp(answer)) => RemoteId::from_octets(answer.message_id).ok(),
        Ok(_) | Err(_) => None,
    };
    // The carrier has the part. Resending it would make every message of such a carrier arrive twice.
    remote.map_or(SubmitResponse::AcceptedWithoutId, SubmitResponse::Accepted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::BytesMut;
    use hermod_domain::carrier::RetryOverride;
    use hermod_smpp::{CommandStatus, SubmitSmResp, encode, next_frame};

    fn frame(pdu: &Pdu<'_>, status: CommandStatus) -> Frame {
        let mut bytes = BytesMut::new();
        encode(pdu, status, 7, &mut bytes).unwrap();
        next_frame(&mut bytes, 16_384).unwrap().unwrap()
    }

    fn told(pdu: &Pdu<'_>, status: CommandStatus, profile: &Profile) -> String {
        let Verdict { answer, class, next } = read_answer(&frame(pdu, status), profile);
        format!("{} {answer:?} {next:?}", class.map_or("none", ErrorClass::as_str))
    }

    #[track_caller]
    fn check(status: CommandStatus, expect: &str) {
        let answer = Pdu::SubmitSmResp(SubmitSmResp::default());
        assert_eq!(told(&answer, status, &Profile::default()), expect, "{status}");
    }

    #[test]
    fn each_status_has_its_consequence() {
        check(CommandStatus::THROTTLED, "throttled Throttled Pause(1s)");
        check(CommandStatus::MSGQFUL, "throttled Throttled Pause(5s)");
        check(CommandStatus::SYSERR, "temporary Temporary { status: 8, after: None } GoOn");
        check(CommandStatus::X_T_APPN, "temporary Temporary { status: 100, after: None } GoOn");
        check(CommandStatus::DELIVERYFAILURE, "temporary Temporary { status: 254, after: None } GoOn");
        check(CommandStatus::INVBNDSTS, "not-bound Temporary { status: 4, after: None } Rebind");
        check(
            CommandStatus::INVDSTADR,
            "rejected-destination Refused { about: Destination, status: 11 } GoOn",
        );
        check(CommandStatus::INVMSGLEN, "rejected-message Refused { about: Anything, status: 1 } GoOn");
        check(CommandStatus::SUBMITFAIL, "rejected-route Refused { about: Anything, status: 69 } GoOn");
        check(CommandStatus::INVESMCLASS, "protocol-error Refused { about: Anything, status: 67 } GoOn");
        check(CommandStatus(0x0400), "unknown Refused { about: Anything, status: 1024 } GoOn");
    }

    #[test]
    fn a_nack_means_that_we_are_wrong_unless_it_asks_for_patience() {
        for (status, expect) in [
            (CommandStatus::OK, "protocol-error Refused { about: Anything, status: 0 } GoOn"),
            (CommandStatus::INVCMDID, "protocol-error Refused { about: Anything, status: 3 } GoOn"),
            (CommandStatus::SUBMITFAIL, "protocol-error Refused { about: Anything, status: 69 } GoOn"),
            (CommandStatus(0x0400), "protocol-error Refused { about: Anything, status: 1024 } GoOn"),
            (CommandStatus::THROTTLED, "throttled Throttled Pause(1s)"),
            (CommandStatus::SYSERR, "temporary Temporary { status: 8, after: None } GoOn"),
            (CommandStatus::INVBNDSTS, "not-bound Temporary { status: 4, after: None } Rebind"),
        ] {
            assert_eq!(told(&Pdu::GenericNack, status, &Profile::default()), expect, "{status}");
        }
    }

    #[test]
    fn a_carrier_may_mean_something_else() {
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
            (0x45, "temporary Temporary { status: 69, after: Some(7s) } GoOn"),
            (0x58, "rejected-route Refused { about: Anything, status: 88 } GoOn"),
            (0x14, "throttled Throttled Pause(5s)"),
        ] {
            let answer = Pdu::SubmitSmResp(SubmitSmResp::default());
            assert_eq!(told(&answer, CommandStatus(status), &profile), expect);
        }
    }

    #[test]
    fn success_needs_an_id_to_be_sure_of() {
        let read = |message_id: &'static [u8]| {
            let answer = SubmitSmResp { message_id, ..SubmitSmResp::default() };
            read_answer(&frame(&Pdu::SubmitSmResp(answer), CommandStatus::OK), &Profile::default()).answer
        };
        assert_eq!(read(b"0A1b"), SubmitResponse::Accepted(RemoteId::from_octets(b"0A1b").unwrap()));
        assert_eq!(read(b""), SubmitResponse::AcceptedWithoutId);
    }
}
