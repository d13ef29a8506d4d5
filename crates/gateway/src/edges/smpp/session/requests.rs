//! Handles a client's requests, each in its own future: submit_sm, data_sm, submit_multi, query_sm, cancel_sm.
//! Responses are sent as they complete, with the sequence number of their request. A submit is acknowledged when it is
//! durable.

use super::submit_log::Submit;
use super::{CustomerSession, Work};
use crate::app::{self, Caller, Submitted};
use crate::edges::smpp::bind::{AcceptedBind, BindRejection};
use crate::edges::smpp::command_status::{in_version, status_of};
use crate::edges::smpp::query_cancel::{CancelRequest, QueriedMessage, QueryRequest};
use crate::edges::smpp::submit::{self, Fields, SubmissionDraft, SubmitTerms};
use crate::gateway::Gateway;
use futures_util::future::join_all;
use hermod_domain::catalogue::SmppAccess;
use hermod_domain::ids::ConnectionId;
use hermod_domain::phone::Msisdn;
use hermod_domain::submission::Submission;
use hermod_smpp::session::RespondError;
use hermod_smpp::{
    Address, BindType, CommandId, CommandStatus, DataSmResp, DestinationEntry, Frame, Header, Pdu,
    QuerySmResp, SubmitMulti, SubmitMultiResp, SubmitSmResp, UnsuccessfulBuffer, UnsuccessfulSme,
};
use smallvec::SmallVec;
use std::sync::Arc;

/// Recipients of one `submit_multi` that are accepted concurrently.
const RECIPIENTS_AT_ONCE: usize = 32;

/// The outcome of a request.
pub(super) enum RequestOutcome {
    Bind {
        kind: BindType,
        is_3_4: bool,
        checked: Result<AcceptedBind, BindRejection>,
        frame: Frame,
    },
    Submitted(Header, Result<Name, CommandStatus>),
    Multi(Header, Result<Multi, CommandStatus>),
    Queried(Header, Name, Result<QueriedMessage, CommandStatus>),
    Cancelled(Header, Result<(), CommandStatus>),
    /// It is not known whether a message was accepted. Every answer would say that, so there is none.
    Unknown(Header),
    Nothing,
}

/// It is not known whether a message was accepted.
struct Unknown;

/// A message id in its wire form.
pub(super) type Name = SmallVec<[u8; 20]>;

/// The outcome of a submit_multi: the first message id, and the rejected recipients.
pub(super) struct Multi {
    name: Name,
    refused: UnsuccessfulBuffer,
}

/// One recipient of a submit_multi.
struct Recipient {
    ton: u8,
    npi: u8,
    digits: SmallVec<[u8; 20]>,
    submission: Result<Submission, CommandStatus>,
}

impl CustomerSession {
    pub(super) fn caller(&self, connection: ConnectionId) -> Option<Caller> {
        Caller::bound(self.gateway.catalogue(), connection)
    }

    pub(super) fn on_request(&mut self, frame: Frame) {
        let header = frame.header;
        let Some(bound) = &self.bound else { return };
        let Some(caller) = self.caller(bound.connection) else {
            self.refuse(header, CommandStatus::SYSERR);
            return self.unbind("Unbinding, the connection or the account was closed");
        };
        match frame.decode() {
            Ok(Pdu::SubmitSm(pdu)) => {
                self.submit(header, caller, &Fields::of_submit_sm(&pdu), pdu.destination);
            }
            Ok(Pdu::DataSm(pdu)) => self.submit(header, caller, &Fields::of_data_sm(&pdu), pdu.destination),
            Ok(Pdu::SubmitMulti(pdu)) => self.submit_multi(header, caller, &pdu),
            Ok(Pdu::QuerySm(pdu)) => {
                let query = QueryRequest::read(&pdu, access(&caller));
                self.query(header, &caller, SmallVec::from_slice(pdu.message_id), query);
            }
            Ok(Pdu::CancelSm(pdu)) => {
                let cancel = CancelRequest::read(&pdu, access(&caller));
                self.cancel(header, &caller, cancel);
            }
            Ok(Pdu::ReplaceSm(_)) => self.refuse(header, CommandStatus::REPLACEFAIL),
            // The session passes on no other requests.
            Ok(_) | Err(_) => self.refuse(header, CommandStatus::INVCMDID),
        }
    }

    /// Parses a submit by the current settings of this bind.
    fn draft(&self, caller: &Caller, fields: &Fields<'_>) -> Result<SubmissionDraft, CommandStatus> {
        let bound = self.bound.as_ref().ok_or(CommandStatus::INVBNDSTS)?;
        let terms = SubmitTerms {
            access: access(caller),
            is_3_4: bound.is_3_4,
            on_transmitter: !bound.kind.may_receive(),
            default_sender: caller.connection().default_sender,
            now: self.gateway.clock.now(),
        };
        submit::draft(fields, &terms)
    }

    fn submit_of(&self, header: Header, recipient: Option<Msisdn>) -> Submit {
        let (peer, began) = (self.peer.address, self.gateway.clock.moment());
        Submit { command: header.command, peer, began, recipient }
    }

    /// Rejects a submit that is invalid or too fast, and notes it.
    fn refuse_submit(
        &mut self,
        header: Header,
        caller: &Caller,
        destination: Option<Address<'_>>,
        status: CommandStatus,
    ) {
        let recipient = destination.and_then(|address| submit::recipient(address, access(caller)).ok());
        self.submit_of(header, recipient).note_invalid(&self.gateway, caller, status);
        self.refuse(header, status);
    }

    /// Takes `parts` tokens of the submit rate, also for an invalid submit. Returns false after answering "throttled".
    fn has_rate(
        &mut self,
        header: Header,
        caller: &Caller,
        destination: Option<Address<'_>>,
        parts: u32,
    ) -> bool {
        let account = (caller.account, &caller.account().account);
        let admitted =
            self.bound.as_mut().is_some_and(|bound| bound.submit_rate.admit(&self.gateway, account, parts));
        if !admitted {
            self.refuse_submit(header, caller, destination, CommandStatus::THROTTLED);
        }
        admitted
    }

    fn submit(&mut self, header: Header, caller: Caller, fields: &Fields<'_>, destination: Address<'_>) {
        let drafted = self.draft(&caller, fields);
        let parts = drafted.as_ref().map_or(1, SubmissionDraft::parts);
        if !self.has_rate(header, &caller, Some(destination), u32::from(parts)) {
            return;
        }
        match drafted.and_then(|draft| draft.addressed_to(destination, access(&caller))) {
            Err(status) => self.refuse_submit(header, &caller, Some(destination), status),
            Ok(submission) => {
                let (gateway, is_3_4) = (self.gateway.clone(), self.is_3_4());
                let submit = self.submit_of(header, Some(submission.to));
                self.work(async move {
                    match accept(&gateway, &caller, &submission, is_3_4, submit).await {
                        Ok(accepted) => RequestOutcome::Submitted(header, accepted),
                        Err(Unknown) => RequestOutcome::Unknown(header),
                    }
                });
            }
        }
    }

    fn submit_multi(&mut self, header: Header, caller: Caller, pdu: &SubmitMulti<'_>) {
        let drafted = self.draft(&caller, &Fields::of_submit_multi(pdu));
        let recipients = u32::try_from(pdu.destinations.len()).unwrap_or(u32::MAX).max(1);
        let parts = u32::from(drafted.as_ref().map_or(1, SubmissionDraft::parts)).saturating_mul(recipients);
        if !self.has_rate(header, &caller, only_recipient(pdu), parts) {
            return;
        }
        let drafted = drafted.and_then(|draft| recipients_of(&draft, pdu, access(&caller)));
        match drafted {
            Err(status) => self.refuse_submit(header, &caller, only_recipient(pdu), status),
            Ok(recipients) => {
                let (gateway, is_3_4) = (self.gateway.clone(), self.is_3_4());
                let submit = self.submit_of(header, None);
                self.work(async move {
                    match accept_all(&gateway, &caller, recipients, is_3_4, submit).await {
                        Ok(accepted) => RequestOutcome::Multi(header, accepted),
                        Err(Unknown) => RequestOutcome::Unknown(header),
                    }
                });
            }
        }
    }

    fn query(
        &mut self,
        header: Header,
        caller: &Caller,
        name: Name,
        query: Result<QueryRequest, CommandStatus>,
    ) {
        let now = self.gateway.clock.now();
        let admitted = self.bound.as_mut().is_some_and(|bound| bound.submit_rate.admit_query(now));
        match query {
            _ if !admitted => self.refuse(header, CommandStatus::THROTTLED),
            Err(status) => self.refuse(header, status),
            Ok(query) => {
                let (gateway, account) = (self.gateway.clone(), caller.account);
                self.work(async move {
                    RequestOutcome::Queried(header, name, query.run(&gateway, account).await)
                });
            }
        }
    }

    fn cancel(&mut self, header: Header, caller: &Caller, cancel: Result<CancelRequest, CommandStatus>) {
        match cancel {
            Err(status) => self.refuse(header, status),
            Ok(cancel) => {
                let (gateway, account) = (self.gateway.clone(), caller.account);
                self.work(
                    async move { RequestOutcome::Cancelled(header, cancel.run(&gateway, account).await) },
                );
            }
        }
    }

    fn work(&mut self, work: impl Future<Output = RequestOutcome> + Send + 'static) {
        self.working.push(Box::pin(work) as Work);
    }

    pub(super) fn on_outcome(&mut self, outcome: RequestOutcome) {
        match outcome {
            RequestOutcome::Bind { kind, is_3_4, checked, frame } => {
                self.on_bind_checked(kind, is_3_4, checked, &frame);
            }
            RequestOutcome::Submitted(header, Ok(name)) => {
                let message_id = &name[..];
                if header.command == CommandId::DATA_SM {
                    self.answer(header, &Pdu::DataSmResp(DataSmResp { message_id, ..DataSmResp::default() }));
                } else {
                    let accepted = SubmitSmResp { message_id, ..SubmitSmResp::default() };
                    self.answer(header, &Pdu::SubmitSmResp(accepted));
                }
                self.count_submitted();
            }
            RequestOutcome::Multi(header, Ok(Multi { name, refused })) => {
                let unsuccessful = refused.as_unsuccessful();
                let accepted =
                    SubmitMultiResp { message_id: &name, unsuccessful, ..SubmitMultiResp::default() };
                self.answer(header, &Pdu::SubmitMultiResp(accepted));
                self.count_submitted();
            }
            RequestOutcome::Queried(header, name, Ok(status)) => {
                let QueriedMessage { final_date, message_state, error_code } = &status;
                let (message_state, error_code) = (*message_state, *error_code);
                let response = QuerySmResp { message_id: &name, final_date, message_state, error_code };
                self.answer(header, &Pdu::QuerySmResp(response));
            }
            RequestOutcome::Cancelled(header, Ok(())) => self.answer(header, &Pdu::CancelSmResp),
            RequestOutcome::Submitted(header, Err(status))
            | RequestOutcome::Multi(header, Err(status))
            | RequestOutcome::Queried(header, _, Err(status))
            | RequestOutcome::Cancelled(header, Err(status)) => self.refuse(header, status),
            RequestOutcome::Unknown(header) => {
                tracing::warn!("Unbinding: it is not known whether a message was accepted");
                self.unbind("Unbinding, the outcome of a submit is not known");
                let forgotten = self.session.forget(header, self.gateway.clock.moment());
                note_unanswered(forgotten);
            }
            RequestOutcome::Nothing => {}
        }
    }

    fn answer(&mut self, header: Header, pdu: &Pdu<'_>) {
        let sent = self.session.respond(header, pdu, self.gateway.clock.moment());
        note_unanswered(sent);
    }

    fn refuse(&mut self, header: Header, status: CommandStatus) {
        let status = in_version(status, self.is_3_4());
        if let Some(bound) = &self.bound {
            if matches!(header.command, CommandId::SUBMIT_SM | CommandId::DATA_SM | CommandId::SUBMIT_MULTI) {
                bound.place.submitted(1, self.gateway.clock.moment());
                bound.place.refused(1);
            }
            bound
                .place
                .failed(format!("{} was rejected with {status}", header.command), self.gateway.clock.now());
        }
        let sent = self.session.reject(header, status, self.gateway.clock.moment());
        note_unanswered(sent);
    }

    fn count_submitted(&self) {
        if let Some(bound) = &self.bound {
            bound.place.submitted(1, self.gateway.clock.moment());
        }
    }

    fn is_3_4(&self) -> bool {
        self.bound.as_ref().is_some_and(|bound| bound.is_3_4)
    }
}

/// Logs a response that could not be sent because the session has ended.
fn note_unanswered(sent: Result<(), RespondError>) {
    if let Err(refused) = sent {
        tracing::debug!(%refused, "Session ended before a request was answered");
    }
}

fn access(caller: &Caller) -> &SmppAccess {
    caller.connection().smpp.as_ref().expect("a bound caller's connection has one")
}

async fn accept(
    gateway: &Gateway,
    caller: &Caller,
    submission: &Submission,
    is_3_4: bool,
    submit: Submit,
) -> Result<Result<Name, CommandStatus>, Unknown> {
    Ok(match app::submit_message(gateway, caller, submission).await {
        Ok(Submitted::Accepted(accepted)) => {
            submit.note_accepted(gateway, caller, accepted.message);
            Ok(match accepted.alias {
                Some(alias) => written(alias),
                None => written(accepted.message),
            })
        }
        // SMPP has no idempotency keys, so there are no replays.
        Ok(Submitted::Replayed(replay)) => Ok(written(replay.message)),
        Ok(Submitted::Unknown) => return Err(Unknown),
        Err(refusal) => {
            let status = status_of(&refusal, access(caller), is_3_4);
            submit.note_refused(gateway, caller, &refusal, status);
            Err(status)
        }
    })
}

fn written(name: impl std::fmt::Display) -> Name {
    Name::from_slice(name.to_string().as_bytes())
}

fn recipients_of(
    draft: &SubmissionDraft,
    pdu: &SubmitMulti<'_>,
    access: &SmppAccess,
) -> Result<Vec<Recipient>, CommandStatus> {
    let each = pdu.destinations.iter().map(|destination| match destination {
        DestinationEntry::DistributionList(_) => Err(CommandStatus::CNTSUBDL),
        DestinationEntry::Sme(address) => Ok(Recipient {
            ton: address.ton,
            npi: address.npi,
            digits: SmallVec::from_slice(address.value),
            submission: draft.addressed_to(address, access),
        }),
    });
    each.collect()
}

/// Returns the recipient of a submit_multi that has only one: a line of the request log has no more.
fn only_recipient<'a>(pdu: &SubmitMulti<'a>) -> Option<Address<'a>> {
    let mut destinations = pdu.destinations.iter();
    match (destinations.next()?, destinations.next()) {
        (DestinationEntry::Sme(address), None) => Some(address),
        _ => None,
    }
}

/// Accepts a separate message for each recipient, with its own charge. Fails if no recipient was accepted.
async fn accept_all(
    gateway: &Arc<Gateway>,
    caller: &Caller,
    recipients: Vec<Recipient>,
    is_3_4: bool,
    submit: Submit,
) -> Result<Result<Multi, CommandStatus>, Unknown> {
    let mut first = None;
    let mut refused = UnsuccessfulBuffer::default();
    let mut statuses = Vec::new();
    // A batch at a time: one commit takes it, and other customers are not held up.
    for some in recipients.chunks(RECIPIENTS_AT_ONCE) {
        let accepted = join_all(some.iter().map(|recipient| async {
            match &recipient.submission {
                Ok(submission) => {
                    let submit = Submit { recipient: Some(submission.to), ..submit };
                    accept(gateway, caller, submission, is_3_4, submit).await
                }
                Err(status) => {
                    submit.note_invalid(gateway, caller, *status);
                    Ok(Err(*status))
                }
            }
        }));
        for (Recipient { ton, npi, digits, .. }, accepted) in some.iter().zip(accepted.await) {
            let status = match accepted? {
                Ok(name) => {
                    first.get_or_insert(name);
                    continue;
                }
                Err(status) => in_version(status, is_3_4),
            };
            statuses.push(status);
            let refusal = UnsuccessfulSme { destination: Address::new(*ton, *npi, digits), status };
            // Others may have been accepted, so the response cannot be an error any more.
            if let Err(unfit) = refused.push(refusal) {
                tracing::error!(%unfit, "Could not list a rejected recipient of a submit_multi");
            }
        }
    }
    let for_now = statuses.iter().find(|status| is_temporary(**status)).copied();
    Ok(match (first, statuses.as_slice()) {
        (Some(name), _) => Ok(Multi { name, refused }),
        (None, [same, others @ ..]) if others.iter().all(|other| other == same) => Err(*same),
        // Nothing was charged, so a retry of all is safe, and some may be accepted.
        (None, _) => Err(for_now.unwrap_or(CommandStatus::SUBMITFAIL)),
    })
}

/// Whether ESME software retries after this status.
const fn is_temporary(status: CommandStatus) -> bool {
    matches!(status, CommandStatus::THROTTLED | CommandStatus::MSGQFUL | CommandStatus::SYSERR)
}

#[cfg(test)]
#[path = "requests_tests.rs"]
mod tests;
