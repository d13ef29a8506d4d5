//! Reads the response to a submit_sm: what it means for the part, for the link, and its error class.

use hermod_domain::carrier::{ErrorClass, Profile};
use hermod_domain::ids::RemoteId;
use hermod_smpp::{CommandId, Frame, Pdu};
use hermod_store::SubmitResponse;
use std::time::Duration;

/// What the link does after a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinkNext {
    Continue,
    Pause(Duration),
    /// The carrier answered that we are not bound: bind again.
    Rebind,
}

/// The meaning of a response.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ParsedResponse {
    pub(super) answer: SubmitResponse,
    /// The error class; `None` if the part was accepted.
    pub(super) class: Option<ErrorClass>,
    pub(super) next: LinkNext,
}

/// Reads the response to a submit_sm. The profile may override the class of a status.
pub(super) fn read_submit_response(frame: &Frame, profile: &Profile) -> ParsedResponse {
    let status = frame.header.status;
    let is_nack = frame.header.command == CommandId::GENERIC_NACK;
    if status.is_ok() && !is_nack {
        return ParsedResponse { answer: accepted(frame), class: None, next: LinkNext::Continue };
    }
    let status = status.0;
    let (class, wait) = class_of(status, is_nack, profile);
    let (answer, next) = match class {
        ErrorClass::Throttled => {
            let pause = wait.unwrap_or(ErrorClass::pause_of(status));
            (SubmitResponse::Throttled, LinkNext::Pause(pause))
        }
        ErrorClass::Temporary => (SubmitResponse::Temporary { status, after: wait }, LinkNext::Continue),
        ErrorClass::NotBound => (SubmitResponse::Temporary { status, after: wait }, LinkNext::Rebind),
        ErrorClass::RejectedRoute
        | ErrorClass::RejectedMessage
        | ErrorClass::RejectedDestination
        | ErrorClass::ProtocolError
        | ErrorClass::Unknown => {
            (SubmitResponse::Refused { about: class.rejection_cause(), status }, LinkNext::Continue)
        }
    };
    ParsedResponse { answer, class: Some(class), next }
}

/// Returns the class and wait of a status. A generic_nack is a protocol error unless its status is temporary.
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
    // The carrier has the part: resending it would deliver it twice.
    remote.map_or(SubmitResponse::AcceptedWithoutId, SubmitResponse::Accepted)
}

#[cfg(test)]
#[path = "submit_resp_tests.rs"]
mod tests;
