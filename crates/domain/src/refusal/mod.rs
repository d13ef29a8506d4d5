//! Refusals: why Hermod does not do what a customer requests. A refusal's code is in the published catalogue
//! ([`published`]), which also gives its HTTP and SMPP status; its sentence tells the caller what to do. A refusal
//! always means that nothing was stored and nothing was charged.

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
    /// The body is not a JSON object; the text says what is wrong and where.
    InvalidJson(Cow<'static, str>),
    InvalidContentType,
    BodyTooLarge {
        bytes_max: u32,
    },
    MissingField(&'static str),
    /// A field or parameter without a code of its own is invalid.
    InvalidField {
        field: &'static str,
        rule: &'static str,
    },
    InvalidNumber(PhoneRefusal),
    InvalidSender(SenderRefusal),
    TextTooLong {
        chars: usize,
    },
    /// More parts than the connection's `max_parts`.
    TooManyParts {
        parts: u8,
        parts_max: u8,
    },
    InvalidApiKey,
    /// The caller's address; the unspecified address if it is unknown.
    IpNotAllowed(IpAddr),
    /// The page is only for callers on the gateway's machine.
    LocalOnly,
    /// The portal shows the reason: it is for the customer's people.
    AccountSuspended,
    VerificationRequired,
    SenderNotApproved(Sender),
    SenderBlocked(Sender),
    RecipientOptedOut,
    CountryBlocked,
    /// The operator blocks the number, its prefix or its range.
    DestinationBlocked,
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
    /// A bind of SMPP 3.3 needs short message ids, and those that come next are all in use.
    NoShortId {
        retry_after_s: u32,
    },
    /// `available` is what the account may still spend, less the minimum it must keep.
    InsufficientCredit {
        cost: Money,
        available: Money,
    },
    /// An internal error occurred, and nothing was committed.
    SubmitFailed,
    GatewayUnavailable {
        cause: Unavailable,
        retry_after_s: u32,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotFound {
    /// Also for malformed ids and ids of other accounts: a response must not tell which ids exist.
    Message,
    Path,
}

/// The rate limit that was exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateLimit {
    /// The connection's limit, shared by all its keys.
    Connection,
    /// The limit of failed sign-ins per source address.
    FailedSignIns,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unavailable {
    StoreAway,
    DiskLow,
    QueueFull,
    Draining,
    /// The operator holds the gateway, which was restored from a backup.
    Held,
    /// An earlier request with the same idempotency key is still being processed.
    KeyInFlight,
    /// The memory for large request bodies is used up.
    BodiesFull,
    /// The operator removed the connection, or the carrier of the route, while the request was processed.
    SetupChanged,
}

/// Whether the same request can succeed later without a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Permanent,
    Temporary,
}

impl Refusal {
    /// Returns the code in the published catalogue.
    pub const fn code(&self) -> &'static str {
        self.published().code
    }

    pub const fn class(&self) -> Class {
        self.published().class
    }

    /// Returns the time to wait before a retry, if known.
    pub const fn retry_after_s(&self) -> Option<u32> {
        if let Refusal::RateLimited { retry_after_s, .. }
        | Refusal::TrafficControl { retry_after_s }
        | Refusal::NoShortId { retry_after_s }
        | Refusal::GatewayUnavailable { retry_after_s, .. } = self
        {
            return Some(*retry_after_s);
        }
        None
    }

    /// Returns one or two sentences for the caller: what is wrong and what to do.
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
            Refusal::IpNotAllowed(peer) => ip_not_allowed(*peer),
            Refusal::LocalOnly => LOCAL_ONLY.into(),
            Refusal::AccountSuspended => "The account is suspended. The client portal says why.".into(),
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
            Refusal::DestinationBlocked => {
                "The operator has blocked this number. Ask the operator if you need to send to it.".into()
            }
            Refusal::HeldForReview => {
                "The message was not accepted: it is held for review. Send it again after its approval.".into()
            }
            Refusal::NotFound(NotFound::Message) => "This account has no message with that id.".into(),
            Refusal::NotFound(NotFound::Path) => "This path does not exist.".into(),
            Refusal::MethodNotAllowed { allow } => format!("This path allows only {allow}.").into(),
            Refusal::NoPrice => "There is no price for this destination. Ask the operator to add one.".into(),
            Refusal::NoRoute => "There is no route to this destination. Check the number.".into(),
            Refusal::RateLimited { limit, retry_after_s } => limit.sentence(*retry_after_s).into(),
            Refusal::TrafficControl { retry_after_s } => {
                format!("A traffic control of the account rejected this message. Try again in {retry_after_s} s.")
                    .into()
            }
            Refusal::InsufficientCredit { cost, available } => {
                format!("The message costs {cost} and {available} is available. Top up the account.").into()
            }
            Refusal::NoShortId { retry_after_s } => format!(
                "The next short message ids of SMPP 3.3 are all in use. Bind with SMPP 3.4, or try again in {retry_after_s} s."
            )
            .into(),
            Refusal::SubmitFailed => "The message was not accepted because of an internal error. Try again.".into(),
            Refusal::GatewayUnavailable { cause, retry_after_s } => {
                format!("{} Nothing was accepted or charged. Try again in {retry_after_s} s.", cause.sentence())
                    .into()
            }
        }
    }
}

const LOCAL_ONLY: &str = "This page is only available to direct callers on this machine, by a loopback address or as localhost, and to none from \
     [http] trusted_proxies. Set a separate [operations] address, or set [operator] from_anywhere = true.";

fn ip_not_allowed(peer: IpAddr) -> Cow<'static, str> {
    if peer.is_unspecified() {
        return "The source IP is not allowed: the proxy's header does not name a valid address.".into();
    }
    format!("The source IP {peer} is not allowed. Add it to the lists of the key and of the connection.")
        .into()
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
            Unavailable::Held => "The gateway is held for maintenance.",
            Unavailable::KeyInFlight => {
                "An earlier request with this idempotency key is still being processed."
            }
            Unavailable::BodiesFull => "Too many large requests are arriving.",
            Unavailable::SetupChanged => "The operator changed the setup at this moment.",
        }
    }
}

/// Writes code and sentence.
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
