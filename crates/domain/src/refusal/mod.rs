//! What we say no to, and why. A refusal is part of the product: its code stands in the published catalogue, its
//! sentence tells the caller what to do, and it always means that nothing was stored and nothing was charged. The
//! edges turn refusals into HTTP and SMPP status codes by one table, [`published`].

pub mod published;

use std::borrow::Cow;
use std::fmt;
use std::net::IpAddr;

use crate::money::Money;
use crate::phone::PhoneRefusal;
use crate::sender::{Sender, SenderRefusal};
use crate::text::{TEXT_CHARS_MAX, TextRefusal};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The body is not the JSON we asked for; the text says where it stops being so.
    InvalidJson(Cow<'static, str>),
    InvalidContentType,
    BodyTooLarge {
        bytes_max: u32,
    },
    MissingField(&'static str),
    /// A field or parameter breaks its own rule and has no code of its own.
    InvalidField {
        field: &'static str,
        rule: &'static str,
    },
    InvalidNumber(PhoneRefusal),
    InvalidSender(SenderRefusal),
    TextTooLong {
        chars: usize,
    },
    /// The connection's own guard against costly texts.
    TooManyParts {
        parts: u8,
        parts_max: u8,
    },
    InvalidApiKey,
    /// The unspecified address where it cannot be told.
    IpNotAllowed(IpAddr),
    /// A page for callers on the gateway's own machine.
    LocalOnly,
    VerificationRequired,
    SenderNotApproved(Sender),
    SenderBlocked(Sender),
    RecipientOptedOut,
    CountryBlocked,
    HeldForReview,
    NotFound(NotFound),
    MethodNotAllowed {
        allow: &'static str,
    },
    NoPrice,
    NoRoute,
    RateLimited {
        limit: RateLimit,
        retry_after_s: u32,
    },
    TrafficControl {
        retry_after_s: u32,
    },
    /// `available` is what may still be spent, less any threshold the account must stay above.
    InsufficientCredit {
        cost: Money,
        available: Money,
    },
    /// Something failed inside, and it is certain that nothing was committed.
    SubmitFailed,
    GatewayUnavailable {
        cause: Unavailable,
        retry_after_s: u32,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotFound {
    /// Foreign, malformed and unknown ids alike: an answer must not tell whose ids exist.
    Message,
    Path,
}

/// Which bucket ran dry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateLimit {
    /// The connection's, shared by all its keys.
    Connection,
    /// That of failed sign-ins from one source address.
    FailedSignIns,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unavailable {
    StoreAway,
    DiskLow,
    QueueFull,
    Draining,
    /// An earlier request with the same idempotency key has not been answered yet.
    KeyInFlight,
    /// Large request bodies use up the memory there is for them.
    BodiesFull,
}

/// Whether the same request can succeed later without anybody changing anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Permanent,
    Temporary,
}

impl Refusal {
    /// The name in the published catalogue.
    pub const fn code(&self) -> &'static str {
        self.published().code
    }

    pub const fn class(&self) -> Class {
        self.published().class
    }

    /// How long the caller should wait before it tries again, where we know.
    pub const fn retry_after_s(&self) -> Option<u32> {
        if let Refusal::RateLimited { retry_after_s, .. }
        | Refusal::TrafficControl { retry_after_s }
        | Refusal::GatewayUnavailable { retry_after_s, .. } = self
        {
            return Some(*retry_after_s);
        }
        None
    }

    /// One sentence or two for the person who reads the answer: what is wrong, and what to do about it.
    pub fn sentence(&self) -> Cow<'static, str> {
        match self {
            Refusal::InvalidJson(reason) => format!("The body must be one JSON object: {reason}.").into(),
            Refusal::InvalidContentType => "Send the header Content-Type: application/json.".into(),
            Refusal::BodyTooLarge { bytes_max } => format!("The body may have at most {bytes_max} bytes.").into(),
            Refusal::MissingField(field) => format!("The field `{field}` is required and must not be empty.").into(),
            Refusal::InvalidField { field, rule } => format!("`{field}` is not valid: {rule}.").into(),
            Refusal::InvalidNumber(rule) => {
                format!("`to` must be an E.164 number such as +4915112345678: {rule}.").into()
            }
            Refusal::InvalidSender(SenderRefusal::NoDefault) => {
                "The connection has no default sender. Give `from`, or set a default in the client portal.".into()
            }
            Refusal::InvalidSender(rule) => format!("`from` is not a valid sender: {rule}.").into(),
            Refusal::TextTooLong { chars } => {
                format!("The text has {chars} characters; at most {TEXT_CHARS_MAX} can be sent.").into()
            }
            Refusal::TooManyParts { parts, parts_max } => {
                format!("The text needs {parts} parts; this connection allows at most {parts_max}.").into()
            }
            Refusal::InvalidApiKey => {
                "The API key or its secret is missing, wrong, expired or revoked. Check both in the client portal."
                    .into()
            }
            Refusal::IpNotAllowed(peer) if peer.is_unspecified() => {
                "The source IP is not allowed: the proxy in front of us did not say readably which it is.".into()
            }
            Refusal::IpNotAllowed(peer) => {
                format!("The source IP {peer} is not allowed. Add it to the lists of the key and of the connection.")
                    .into()
            }
            Refusal::LocalOnly => {
                "This page answers direct callers on this machine only. Give [operations] an address of its own, or set \
                 [operator] from_anywhere = true."
                    .into()
            }
            Refusal::VerificationRequired => {
                "The account must complete its identity verification before it can send.".into()
            }
            Refusal::SenderNotApproved(sender) => {
                format!("The sender {sender} is not approved for this account. Register it, or use one that is.")
                    .into()
            }
            Refusal::SenderBlocked(sender) => format!("The sender {sender} is blocked. Use another one.").into(),
            Refusal::RecipientOptedOut => {
                "The recipient has opted out of messages from this account. Do not send to this number again.".into()
            }
            Refusal::CountryBlocked => "The destination country is not enabled on this account.".into(),
            Refusal::HeldForReview => {
                "The message was not accepted: it awaits review. Send it again once it has been approved.".into()
            }
            Refusal::NotFound(NotFound::Message) => "This account has no message with that id.".into(),
            Refusal::NotFound(NotFound::Path) => "There is nothing at this path.".into(),
            Refusal::MethodNotAllowed { allow } => format!("This path answers only {allow}.").into(),
            Refusal::NoPrice => "There is no price for this destination. Ask for it to be added.".into(),
            Refusal::NoRoute => "There is no route to this destination. Check the number.".into(),
            Refusal::RateLimited { limit, retry_after_s } => limit.sentence(*retry_after_s).into(),
            Refusal::TrafficControl { retry_after_s } => {
                format!("A traffic control of the account refused this message. Try again in {retry_after_s} s.")
                    .into()
            }
            Refusal::InsufficientCredit { cost, available } => {
                format!("The message costs {cost} and {available} is available. Top up the account.").into()
            }
            Refusal::SubmitFailed => "The message was not accepted because of a fault here. Try again.".into(),
            Refusal::GatewayUnavailable { cause, retry_after_s } => {
                format!("{} Nothing was accepted or charged. Try again in {retry_after_s} s.", cause.sentence())
                    .into()
            }
        }
    }
}

impl RateLimit {
    fn sentence(self, retry_after_s: u32) -> String {
        match self {
            RateLimit::Connection => {
                format!("Too many requests on this connection. Try again in {retry_after_s} s, backing off.")
            }
            RateLimit::FailedSignIns => {
                format!("Too many failed sign-ins from this address. Try again in {retry_after_s} s.")
            }
        }
    }
}

impl Unavailable {
    const fn sentence(self) -> &'static str {
        match self {
            Unavailable::StoreAway => "The message store cannot be reached.",
            Unavailable::DiskLow => "The gateway is short of disk space.",
            Unavailable::QueueFull => "Too many messages are waiting.",
            Unavailable::Draining => "The gateway is shutting down.",
            Unavailable::KeyInFlight => {
                "An earlier request with this idempotency key is still being worked on."
            }
            Unavailable::BodiesFull => "Too many large requests are arriving.",
        }
    }
}

/// Code and sentence, the form an error body has.
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code(), self.sentence())
    }
}

impl std::error::Error for Refusal {}

impl From<PhoneRefusal> for Refusal {
    fn from(rule: PhoneRefusal) -> Refusal {
        Refusal::InvalidNumber(rule)
    }
}

impl From<SenderRefusal> for Refusal {
    fn from(rule: SenderRefusal) -> Refusal {
        Refusal::InvalidSender(rule)
    }
}

impl From<TextRefusal> for Refusal {
    fn from(rule: TextRefusal) -> Refusal {
        match rule {
            TextRefusal::Empty => Refusal::MissingField("text"),
            TextRefusal::TooLong { chars } => Refusal::TextTooLong { chars },
        }
    }
}

#[cfg(test)]
mod tests;
