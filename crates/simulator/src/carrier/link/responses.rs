//! Responses of a link to submits: held until they are due, written with the script's quirks, and what follows them.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use hermod_smpp::{CommandStatus, Header, TlvBuffer};

use super::{LinkContext, SimulatedLink, SimulatedLinkState};
use crate::carrier::outcome::ReceiptLink;
use crate::carrier::plan::{Decision, FollowUp, PlannedResponse};
use crate::carrier::receipt::PendingReceipt;
use crate::carrier::response_quirk::{self, ResponseQuirk};
use crate::carrier::submit;

/// Delay of a response whose receipt is sent first on another link.
const OTHER_LINK_LEAD: Duration = Duration::from_millis(20);
/// Octets that are not a PDU: the length they claim exceeds every limit.
const GARBAGE: [u8; 32] = [0xff; 32];

/// A response that is decided and not sent yet.
#[derive(Debug)]
pub(super) struct PendingResponse {
    request: Header,
    kind: PendingKind,
    quirk: ResponseQuirk,
}

#[derive(Debug)]
pub(super) enum PendingKind {
    Accept { id: String, then: FollowUp },
    Reject(CommandStatus),
    Nack(CommandStatus),
}

/// A response that is sent after its receipts.
#[derive(Debug)]
pub(super) struct AwaitsReceipts {
    pub(super) receipts: VecDeque<PendingReceipt>,
    pub(super) due: Instant,
    pub(super) response: PendingResponse,
}

impl PendingResponse {
    pub(super) fn plain(request: Header, kind: PendingKind) -> PendingResponse {
        PendingResponse { request, kind, quirk: ResponseQuirk::None }
    }
}

impl SimulatedLink {
    /// Carries out the decision about a submit: queues its receipts, and sends, queues or omits the response.
    pub(super) fn respond(
        &mut self,
        request: Header,
        handled: submit::HandledSubmit,
        context: &mut LinkContext<'_>,
    ) {
        let submit::HandledSubmit { decision, id, receipts, mo_reply } = handled;
        for (due, part) in mo_reply {
            self.work_for_others |= !self.may_deliver();
            // A reply that finds the queue full is dropped.
            context.outbox.push_mo(due, part);
        }
        let Decision { response, delay, quirk, receipts: script, .. } = decision;
        let due = context.now + delay;
        let kind = match response {
            PlannedResponse::Accept { then, .. } => PendingKind::Accept { id, then },
            PlannedResponse::Reject(status) => PendingKind::Reject(status),
            PlannedResponse::Nack(status) => PendingKind::Nack(status),
            PlannedResponse::Ignore => return,
            PlannedResponse::Crash => return self.follow_up(FollowUp::Cut, context),
            PlannedResponse::Withhold { then, .. } => {
                self.queue_receipts(receipts, context);
                return self.follow_up(then, context);
            }
        };
        let response = PendingResponse { request, kind, quirk };
        if !script.before_response {
            self.queue_receipts(receipts, context);
            return self.queue_response(due, response, context);
        }
        if self.may_deliver() && script.via == ReceiptLink::Any {
            let receipts = receipts.into_iter().map(|(_, receipt)| receipt).collect();
            self.awaiting_receipts.push_back(AwaitsReceipts { receipts, due, response });
        } else {
            let now = context.now;
            self.queue_receipts(receipts.into_iter().map(|(_, receipt)| (now, receipt)), context);
            self.queue_response(due.max(now + OTHER_LINK_LEAD), response, context);
        }
    }

    fn queue_receipts(
        &mut self,
        receipts: impl IntoIterator<Item = (Instant, PendingReceipt)>,
        context: &mut LinkContext<'_>,
    ) {
        for (due, receipt) in receipts {
            self.work_for_others |= receipt.via == ReceiptLink::OtherLink || !self.may_deliver();
            context.outbox.push(due, receipt);
        }
    }

    pub(super) fn queue_response(
        &mut self,
        due: Instant,
        response: PendingResponse,
        context: &mut LinkContext<'_>,
    ) {
        // Responses leave in order of their due time: one due now must not pass one that was due earlier.
        if due <= context.now && self.responses.len() == 0 {
            self.send_response(&response, context);
        } else {
            self.responses.push(due, response);
        }
    }

    pub(super) fn send_due_responses(&mut self, context: &mut LinkContext<'_>) {
        while self.state == SimulatedLinkState::Open
            && !self.muted
            && let Some(response) = self.responses.pop_due(context.now)
        {
            self.send_response(&response, context);
        }
    }

    pub(super) fn send_response(&mut self, response: &PendingResponse, context: &mut LinkContext<'_>) {
        let PendingResponse { request, kind, quirk } = response;
        let sent = match kind {
            PendingKind::Reject(status) | PendingKind::Nack(status) => {
                let start = self.session.output().len();
                let sent = self.session.reject(*request, *status, context.moment);
                if sent.is_ok() {
                    match (kind, quirk) {
                        (PendingKind::Nack(_), _) => response_quirk::make_nack(self.session.output(), start),
                        (_, ResponseQuirk::BodyOnError) => {
                            response_quirk::add_body(self.session.output(), start)
                        }
                        _ => {}
                    }
                }
                sent
            }
            PendingKind::Accept { id, .. } => {
                let (mut tlvs, mut body) = (TlvBuffer::new(), Vec::new());
                let quirk = match quirk {
                    // SMPP 3.3 has no TLVs.
                    ResponseQuirk::UnknownTlv if !self.session.peer_is_3_4() => ResponseQuirk::None,
                    quirk => *quirk,
                };
                let pdu = response_quirk::success(quirk, id.as_bytes(), &mut tlvs, &mut body);
                self.session.respond(*request, &pdu, context.moment)
            }
        };
        if sent.is_err() {
            // The session has ended, or the gateway used one sequence number twice.
            context.log.counts().protocol_errors += 1;
            return;
        }
        if let PendingKind::Accept { then, .. } = kind {
            self.follow_up(*then, context);
        }
    }

    fn follow_up(&mut self, then: FollowUp, context: &mut LinkContext<'_>) {
        match then {
            FollowUp::Nothing => {}
            FollowUp::Cut => self.state = SimulatedLinkState::CutAfterFlush,
            FollowUp::Unbind => self.session.unbind(context.moment),
            FollowUp::Garbage => self.session.output().extend_from_slice(&GARBAGE),
            FollowUp::BadLength(length) => response_quirk::bad_length(length, self.session.output()),
            FollowUp::Stall(time) => self.stalled_until = Some(context.now + time),
            FollowUp::Mute => self.muted = true,
        }
    }
}
