//! Notes requests for the request log: every rejected one, and of the successful ones a few per second and account.

use crate::app::{Caller, Submitted};
use crate::gateway::Gateway;
use crate::secrets::Pepper;
use hermod_domain::erasure::ShortDigest;
use hermod_domain::ids::{AccountId, ConnectionId, MessageId};
use hermod_domain::phone::{Msisdn, hide_numbers};
use hermod_domain::refusal::Refusal;
use hermod_domain::submission::Submission;
use hermod_store::record::{Replay, RequestEntry, RequestKind};
use std::borrow::Cow;
use std::fmt::Display;
use std::net::IpAddr;

/// Characters that are kept of an API key or system_id as it was given.
const WHO_CHARS_MAX: usize = 40;
/// The HTTP statuses of an accepted message and of a repeated one.
const ACCEPTED: u32 = 202;
const REPLAYED: u32 = 200;
/// No answer, because it is not known what became of the message.
const UNKNOWN: u32 = 0;

/// A request that was answered.
pub struct AnsweredRequest<'a> {
    pub kind: RequestKind,
    /// What was called. It is only written if the request is logged.
    pub operation: &'a dyn Display,
    pub caller: Option<(AccountId, ConnectionId)>,
    pub who: CallerName<'a>,
    pub address: Option<IpAddr>,
    /// The HTTP status or the SMPP command_status.
    pub status: u32,
    pub rejection: Option<Rejection>,
    pub took_ms: u64,
    /// The id of an HTTP request.
    pub request: Option<&'a str>,
    pub replay: Replay,
    pub message: Option<MessageId>,
    /// Of a send request, the recipient, if it is a number. Only its digest is logged.
    pub recipient: Option<Msisdn>,
}

/// The API key, system_id or e-mail address of a caller, as it may be logged and stored: itself if it exists. Otherwise a keyed
/// digest, because callers send a secret in its place by mistake.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallerName<'a>(Cow<'a, str>);

impl<'a> CallerName<'a> {
    /// Makes the name of something that exists.
    pub const fn existing(name: &'a str) -> CallerName<'a> {
        CallerName(Cow::Borrowed(name))
    }

    /// Makes a name that nothing has. Equal ones have the same digest.
    pub fn unknown(pepper: &Pepper, given: &str) -> CallerName<'static> {
        if given.is_empty() {
            return CallerName::default();
        }
        let digest = pepper.derived(&[b"caller name", given.as_bytes()]);
        let [a, b, c, d, ..] = digest;
        CallerName(Cow::Owned(format!("unknown-{:08x}", u32::from_be_bytes([a, b, c, d]))))
    }

    /// Makes the name that a caller gave.
    pub fn given(pepper: &Pepper, name: &'a str, exists: bool) -> CallerName<'a> {
        if exists { CallerName::existing(name) } else { CallerName::unknown(pepper, name) }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn into_owned(self) -> CallerName<'static> {
        CallerName(Cow::Owned(self.0.into_owned()))
    }
}

/// Why a request was rejected.
pub struct Rejection {
    /// The code of the error catalogue, or the name of the SMPP status.
    pub code: Box<str>,
    pub reason: Box<str>,
}

impl Rejection {
    pub fn of(refusal: &Refusal) -> Rejection {
        Rejection { code: refusal.code().into(), reason: refusal.sentence().as_ref().into() }
    }
}

/// Returns who calls, for the log.
pub fn caller_of(caller: &Caller) -> (AccountId, ConnectionId) {
    (caller.account, caller.connection)
}

/// Notes an answered request, unless its account has enough in the log of this second.
pub fn note_request(gateway: &Gateway, answered: AnsweredRequest<'_>) {
    if !gateway.store.record().is_kept() && !gateway.store.cluster().has_nodes() {
        return;
    }
    let now = gateway.clock.now();
    let account = answered.caller.map(|(account, _)| account);
    let is_rejected = answered.rejection.is_some();
    // Otherwise a stranger with the name of a key could use up the limit of its account in the log.
    let is_stranger = answered
        .rejection
        .as_ref()
        .is_some_and(|rejection| *rejection.code == *Refusal::InvalidApiKey.code());
    if !gateway.request_log.admits(account.filter(|_| !is_stranger), is_rejected, now) {
        return gateway.request_log.count_skipped(is_rejected);
    }
    let AnsweredRequest {
        kind, operation, caller, who, address, status, rejection, took_ms, request, ..
    } = answered;
    let (code, reason) = rejection.map(|Rejection { code, reason }| (code, reason)).unzip();
    let entry = RequestEntry {
        at: now,
        account,
        connection: caller.map(|(_, connection)| connection),
        kind,
        operation: operation.to_string().into(),
        who: printable(who.as_str()),
        address,
        status,
        code,
        reason: reason.map(|reason| hide_numbers(&reason).into()).unwrap_or_default(),
        took_ms: u32::try_from(took_ms).unwrap_or(u32::MAX),
        request: request.map(Into::into),
        replay: answered.replay,
        message: answered.message,
        recipient: answered.recipient.map(|to| recipient_digest(&gateway.pepper, to)),
    };
    if gateway.store.cluster().has_other_nodes() {
        gateway.request_log.keep_for_others(entry.clone());
    }
    gateway.store.record().note_request(entry);
}

/// Returns what the log keeps of a recipient. It is the beginning of the digest by which an erasure knows the number, so that
/// the erasure can be made in the log of a node that was away.
pub fn recipient_digest(pepper: &Pepper, to: Msisdn) -> ShortDigest {
    pepper.erasure_key().digest(to).shortened()
}

/// Notes a message that a user sent on a web page, under the user's e-mail address.
pub fn note_page_send(
    gateway: &Gateway,
    caller: &Caller,
    (email, address): (&str, Option<IpAddr>),
    submission: &Submission,
    outcome: &Result<Submitted, Refusal>,
) {
    let (status, message, replay) = match outcome {
        Ok(Submitted::Accepted(accepted)) => (ACCEPTED, Some(accepted.message), Replay::No),
        Ok(Submitted::Replayed(replay)) => (REPLAYED, Some(replay.message), Replay::Same),
        Ok(Submitted::Unknown) => (UNKNOWN, None, Replay::No),
        Err(refusal) => (refusal.published().http.into(), None, Replay::No),
    };
    let answered = AnsweredRequest {
        kind: RequestKind::Http,
        operation: &"Compose",
        caller: Some(caller_of(caller)),
        who: CallerName::existing(email),
        address,
        status,
        rejection: outcome.as_ref().err().map(Rejection::of),
        took_ms: 0,
        request: submission.request.as_deref(),
        replay,
        message,
        recipient: Some(submission.to),
    };
    note_request(gateway, answered);
}

/// Cuts a name that a client gave, and replaces control characters.
pub fn printable(name: &str) -> Box<str> {
    let shown = |character: char| if character.is_control() { '?' } else { character };
    name.chars().take(WHO_CHARS_MAX).map(shown).collect::<String>().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_that_does_not_exist_is_a_keyed_digest() {
        let pepper = Pepper::new(b"pepper");
        let secret = "2f7c0d1be8a94d1f8a5e6b3c9d0e1f2a";
        let name = CallerName::given(&pepper, secret, false);
        assert_eq!(name, CallerName::given(&pepper, secret, false), "the same one can be recognised");
        assert_ne!(name, CallerName::given(&Pepper::new(b"other"), secret, false), "only with the pepper");
        assert!(name.as_str().starts_with("unknown-") && name.as_str().len() == 16, "{name:?}");
        assert_eq!(CallerName::given(&pepper, "shop-key-1", true).as_str(), "shop-key-1");
        assert_eq!(CallerName::given(&pepper, "", false).as_str(), "");
    }

    #[test]
    fn name_that_a_client_gave_is_cut_and_printable() {
        assert_eq!(&*printable("shop\n\u{7}1"), "shop??1");
        assert_eq!(printable(&"x".repeat(1_000)).len(), WHO_CHARS_MAX);
    }
}
