//! Notes submits for the request log.

use crate::app::{AnsweredRequest, Caller, CallerName, Rejection, caller_of, note_request};
use crate::clock::Moment;
use crate::gateway::Gateway;
use hermod_domain::ids::MessageId;
use hermod_domain::phone::Msisdn;
use hermod_domain::refusal::Refusal;
use hermod_smpp::{CommandId, CommandStatus};
use hermod_store::record::{Replay, RequestKind};
use std::net::IpAddr;

/// A submit that is being handled.
#[derive(Clone, Copy)]
pub(super) struct Submit {
    pub(super) command: CommandId,
    pub(super) peer: IpAddr,
    pub(super) began: Moment,
    /// None if it is no number. Of a submit_multi, that of the recipient that is noted.
    pub(super) recipient: Option<Msisdn>,
}

impl Submit {
    pub(super) fn note_accepted(self, gateway: &Gateway, caller: &Caller, message: MessageId) {
        self.note(gateway, caller, CommandStatus::OK, None, Some(message));
    }

    pub(super) fn note_refused(
        self,
        gateway: &Gateway,
        caller: &Caller,
        refusal: &Refusal,
        status: CommandStatus,
    ) {
        self.note(gateway, caller, status, Some(Rejection::of(refusal)), None);
    }

    /// Notes a submit that was rejected before its message was checked: a field is invalid, or it was too fast.
    pub(super) fn note_invalid(self, gateway: &Gateway, caller: &Caller, status: CommandStatus) {
        let code = status.name().map_or_else(|| format!("0x{:08x}", status.0), str::to_owned);
        let reason = match status {
            CommandStatus::THROTTLED => "the submit rate of the bind or its account was exceeded".into(),
            status => format!("a field of the {} is invalid: {status}", self.command).into(),
        };
        self.note(gateway, caller, status, Some(Rejection { code: code.into(), reason }), None);
    }

    fn note(
        self,
        gateway: &Gateway,
        caller: &Caller,
        status: CommandStatus,
        rejection: Option<Rejection>,
        message: Option<MessageId>,
    ) {
        let Submit { command, peer, began, recipient } = self;
        let access = caller.connection().smpp.as_ref();
        let answered = AnsweredRequest {
            kind: RequestKind::Submit,
            operation: &command,
            caller: Some(caller_of(caller)),
            who: CallerName::existing(access.map_or("", |access| access.system_id.as_str())),
            address: Some(peer),
            status: status.0,
            rejection,
            took_ms: gateway.clock.moment().0.saturating_sub(began.0),
            request: None,
            replay: Replay::No,
            message,
            recipient,
        };
        note_request(gateway, answered);
    }
}
