//! The published error catalogue: one row per code with its HTTP and SMPP status, whether a retry can help, and what to
//! do. Both APIs and the documentation use it. An error is never charged: nothing was stored.

use super::{Class, Refusal, Unavailable};

/// One row of the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublishedError {
    pub code: &'static str,
    pub http: u16,
    /// The command_status of the submit_sm_resp.
    pub smpp: u32,
    /// The vendor status for connections with `extended_codes`.
    pub smpp_extended: Option<u32>,
    pub class: Class,
    pub charged: bool,
    pub meaning: &'static str,
    pub what_to_do: &'static str,
}

// SMPP v3.4 section 5.1.3.
const INVMSGLEN: u32 = 0x01;
const INVCMDID: u32 = 0x03;
const SYSERR: u32 = 0x08;
const INVSRCADR: u32 = 0x0A;
const INVDSTADR: u32 = 0x0B;
const INVMSGID: u32 = 0x0C;
const BINDFAIL: u32 = 0x0D;
const INVPASWD: u32 = 0x0E;
const MSGQFUL: u32 = 0x14;
const SUBMITFAIL: u32 = 0x45;
const THROTTLED: u32 = 0x58;

/// A traffic control that admits messages only after this time is a permanent error over SMPP.
const RETRYABLE_MAX_S: u32 = 15 * 60;

/// Makes a row for an error that a retry without changes does not solve.
pub const fn permanent(
    code: &'static str,
    http: u16,
    smpp: u32,
    meaning: &'static str,
    what_to_do: &'static str,
) -> PublishedError {
    PublishedError {
        code,
        http,
        smpp,
        smpp_extended: None,
        class: Class::Permanent,
        charged: false,
        meaning,
        what_to_do,
    }
}

/// Makes a row for an error that a retry may solve.
pub const fn temporary(
    code: &'static str,
    http: u16,
    smpp: u32,
    meaning: &'static str,
    what_to_do: &'static str,
) -> PublishedError {
    PublishedError { class: Class::Temporary, ..permanent(code, http, smpp, meaning, what_to_do) }
}

impl PublishedError {
    const fn with_extended(self, smpp_extended: u32) -> PublishedError {
        PublishedError { smpp_extended: Some(smpp_extended), ..self }
    }
}

macro_rules! catalogue {
    ($($name:ident = $row:expr;)*) => {
        $(const $name: PublishedError = $row;)*
        /// All rows, in the order of the checks.
        pub const PUBLISHED: &[PublishedError] = &[$($name),*];
    };
}

catalogue! {
    INVALID_API_KEY = permanent("INVALID_API_KEY", 401, INVPASWD,
        "The API key or its secret is missing, wrong, expired or revoked.",
        "Check the key and its secret in the client portal.");
    IP_NOT_ALLOWED = permanent("IP_NOT_ALLOWED", 403, BINDFAIL,
        "The source address is not on the allow-list of the key or of the connection.",
        "Add the address to both lists, or call from an address that is on them.");
    RATE_LIMITED = temporary("RATE_LIMITED", 429, THROTTLED,
        "More requests than the connection's rate allows, or too many failed authentications from one address.",
        "Wait as long as Retry-After says, then back off exponentially.");
    METHOD_NOT_ALLOWED = permanent("METHOD_NOT_ALLOWED", 405, INVCMDID,
        "The path does not support this method.",
        "Use a method that the Allow header names.");
    INVALID_CONTENT_TYPE = permanent("INVALID_CONTENT_TYPE", 400, SUBMITFAIL,
        "The Content-Type header is missing, repeated or not application/json.",
        "Send Content-Type: application/json.");
    BODY_TOO_LARGE = permanent("BODY_TOO_LARGE", 413, INVMSGLEN,
        "The body is larger than the limit.",
        "Send one message per request.");
    INVALID_JSON = permanent("INVALID_JSON", 400, SUBMITFAIL,
        "The body is not one JSON object, has a duplicate key, is not UTF-8, or is incomplete.",
        "Correct the request; the error text says where it is invalid.");
    MISSING_FIELD = permanent("MISSING_FIELD", 400, SUBMITFAIL,
        "A required field is missing or empty.",
        "Add the field that the error text names.");
    INVALID_FIELD = permanent("INVALID_FIELD", 400, SUBMITFAIL,
        "A field or parameter has an invalid value.",
        "Correct the field that the error text names.");
    INVALID_NUMBER = permanent("INVALID_NUMBER", 400, INVDSTADR,
        "The recipient is not a valid E.164 number: a plus, then 7 to 15 digits, the first not 0.",
        "Correct the number.");
    INVALID_SENDER = permanent("INVALID_SENDER", 400, INVSRCADR,
        "The sender is too long, has invalid characters, or is missing and the connection has no default.",
        "Use 1 to 11 letters, digits, spaces and - _ . & with a letter among them, or a number of 3 to 15 digits.");
    TEXT_TOO_LONG = permanent("TEXT_TOO_LONG", 400, INVMSGLEN,
        "The text has more than 1600 characters, or needs more parts than the connection allows.",
        "Shorten the text, or send it as several messages.");
    ACCOUNT_SUSPENDED = permanent("ACCOUNT_SUSPENDED", 403, SUBMITFAIL,
        "The operator has suspended the account: it cannot send. Messages, reports and the balance can still be read.",
        "Read the reason in the client portal, and ask the operator.");
    VERIFICATION_REQUIRED = permanent("VERIFICATION_REQUIRED", 403, SUBMITFAIL,
        "The account has not completed its identity verification.",
        "Complete it in the client portal.").with_extended(0x0405);
    SENDER_NOT_APPROVED = permanent("SENDER_NOT_APPROVED", 403, INVSRCADR,
        "The sender is not approved for this account.",
        "Register the sender, or use one that is approved.").with_extended(0x0402);
    SENDER_BLOCKED = permanent("SENDER_BLOCKED", 403, INVSRCADR,
        "The sender is blocked.",
        "Use another sender.").with_extended(0x0402);
    RECIPIENT_OPTED_OUT = permanent("RECIPIENT_OPTED_OUT", 403, SUBMITFAIL,
        "The recipient has opted out of messages from this account.",
        "Remove the number from your list.").with_extended(0x0401);
    COUNTRY_BLOCKED = permanent("COUNTRY_BLOCKED", 403, INVDSTADR,
        "The destination country is not enabled on the account.",
        "Ask the operator to enable the country.").with_extended(0x0404);
    DESTINATION_BLOCKED = permanent("DESTINATION_BLOCKED", 403, INVDSTADR,
        "The operator has blocked the number, or the range that it is in.",
        "Remove the number from your list, or ask the operator.");
    HELD_FOR_REVIEW = permanent("HELD_FOR_REVIEW", 403, SUBMITFAIL,
        "The message was not accepted: the operator has to review it first.",
        "Send it again after approval; an approval is valid for seven days.").with_extended(0x0407);
    NOT_FOUND = permanent("NOT_FOUND", 404, INVMSGID,
        "This account has no such message, or the path does not exist.",
        "Check the id or the path.");
    NO_PRICE = permanent("NO_PRICE", 422, INVDSTADR,
        "There is no price for the destination.",
        "Ask the operator to add the destination.").with_extended(0x0403);
    NO_ROUTE = permanent("NO_ROUTE", 422, INVDSTADR,
        "There is no route to the destination.",
        "Check the number, or ask the operator to add the destination.").with_extended(0x0403);
    TRAFFIC_CONTROL = temporary("TRAFFIC_CONTROL", 429, MSGQFUL,
        "A traffic control of the account rejected the message: daily limit reached, or too many messages to one recipient, number range or country.",
        "Wait as long as Retry-After says, or ask for the limit to be raised.").with_extended(0x0406);
    INSUFFICIENT_CREDIT = permanent("INSUFFICIENT_CREDIT", 402, SUBMITFAIL,
        "The message costs more than the account has available.",
        "Top up the account, or pay its invoices.").with_extended(0x0400);
    NO_SHORT_ID = temporary("NO_SHORT_ID", 503, MSGQFUL,
        "A bind of SMPP 3.3 needs a short message id, and the next ones are all in use.",
        "Bind with SMPP 3.4, which needs none. A short id is free again three days after its message has ended.");
    SUBMIT_FAILED = temporary("SUBMIT_FAILED", 500, SYSERR,
        "Internal error; nothing was stored.",
        "Try again, with the same idempotency key.");
    GATEWAY_UNAVAILABLE = temporary("GATEWAY_UNAVAILABLE", 503, SYSERR,
        "The gateway cannot accept messages at the moment: its store is unavailable, its queue or disk is full, it is held for maintenance, or it is shutting down.",
        "Wait as long as Retry-After says, then try again with the same idempotency key.");
}

impl Refusal {
    /// Returns the row in the catalogue.
    pub const fn published(&self) -> &'static PublishedError {
        match self {
            Refusal::InvalidJson(_) => &INVALID_JSON,
            Refusal::InvalidContentType => &INVALID_CONTENT_TYPE,
            Refusal::BodyTooLarge { .. } => &BODY_TOO_LARGE,
            Refusal::MissingField(_) => &MISSING_FIELD,
            Refusal::InvalidField { .. } => &INVALID_FIELD,
            Refusal::InvalidNumber(_) => &INVALID_NUMBER,
            Refusal::InvalidSender(_) => &INVALID_SENDER,
            Refusal::TextTooLong { .. } | Refusal::TooManyParts { .. } => &TEXT_TOO_LONG,
            Refusal::InvalidApiKey => &INVALID_API_KEY,
            Refusal::IpNotAllowed(_) | Refusal::LocalOnly => &IP_NOT_ALLOWED,
            Refusal::AccountSuspended => &ACCOUNT_SUSPENDED,
            Refusal::VerificationRequired => &VERIFICATION_REQUIRED,
            Refusal::SenderNotApproved(_) => &SENDER_NOT_APPROVED,
            Refusal::SenderBlocked(_) => &SENDER_BLOCKED,
            Refusal::RecipientOptedOut => &RECIPIENT_OPTED_OUT,
            Refusal::CountryBlocked => &COUNTRY_BLOCKED,
            Refusal::DestinationBlocked => &DESTINATION_BLOCKED,
            Refusal::HeldForReview => &HELD_FOR_REVIEW,
            Refusal::NotFound(_) => &NOT_FOUND,
            Refusal::MethodNotAllowed { .. } => &METHOD_NOT_ALLOWED,
            Refusal::NoPrice => &NO_PRICE,
            Refusal::NoRoute => &NO_ROUTE,
            Refusal::RateLimited { .. } => &RATE_LIMITED,
            Refusal::TrafficControl { .. } => &TRAFFIC_CONTROL,
            Refusal::InsufficientCredit { .. } => &INSUFFICIENT_CREDIT,
            Refusal::NoShortId { .. } => &NO_SHORT_ID,
            Refusal::SubmitFailed => &SUBMIT_FAILED,
            Refusal::GatewayUnavailable { .. } => &GATEWAY_UNAVAILABLE,
        }
    }

    /// Returns the command_status of the submit_sm_resp. A full queue has its own status, because clients wait longer
    /// for it. A traffic control that refuses for a long time gives a permanent status, because clients would retry
    /// without end.
    pub const fn smpp_status(&self) -> u32 {
        if let Refusal::TrafficControl { retry_after_s } = self
            && *retry_after_s > RETRYABLE_MAX_S
        {
            return SUBMITFAIL;
        }
        if let Refusal::GatewayUnavailable { cause: Unavailable::DiskLow | Unavailable::QueueFull, .. } = self
        {
            return MSGQFUL;
        }
        self.published().smpp
    }
}

#[cfg(test)]
#[path = "published_tests.rs"]
mod tests;
