//! The error codes of the operator API, for responses and documentation. They have no SMPP status, so it is 0.

use hermod_domain::refusal::published::{self, PublishedError};

const NOT_OVER_SMPP: u32 = 0;

macro_rules! catalogue {
    ($($name:ident = $class:ident($http:literal, $meaning:literal, $what_to_do:literal);)*) => {
        $(pub(crate) const $name: PublishedError =
            published::$class(stringify!($name), $http, NOT_OVER_SMPP, $meaning, $what_to_do);)*
        /// All rows.
        pub const OPERATOR_ERRORS: &[PublishedError] = &[$($name),*];
    };
}

catalogue! {
    INVALID_TOKEN = permanent(401,
        "The operator's token is missing, invalid or expired.",
        "Send Authorization: Bearer with the token from the file operator.token of the data folder, or with your own.");
    ROLE_NOT_ALLOWED = permanent(403,
        "The operator's role does not permit the request.",
        "Ask an operator with a role that the error text names, or an admin for another role.");
    REASON_NEEDED = permanent(403,
        "The response has whole numbers or texts, which the operator's role may see for a reason only.",
        "Send the reason in X-Reason. It is written into the audit log.");
    IP_NOT_ALLOWED = permanent(403,
        "The API accepts only callers on its own machine, and those in [operations] allow.",
        "Call from there, list the address, or set [operator] from_anywhere = true.");
    RATE_LIMITED = temporary(429,
        "Too many invalid tokens from one address.",
        "Wait for the seconds in Retry-After. An address that used the right token within 24 hours is never limited.");
    METHOD_NOT_ALLOWED = permanent(405,
        "The path does not support this method.",
        "Use a method from the Allow header.");
    NOT_FOUND = permanent(404,
        "The entry or the path does not exist.",
        "Check the name or the path.");
    INVALID_CONTENT_TYPE = permanent(400,
        "The Content-Type header is missing, repeated or not supported.",
        "Send the one in the error text.");
    BODY_TOO_LARGE = permanent(413,
        "The body is larger than 4 MiB, or a provision file or CSV file is larger than 16 MiB.",
        "Split the file.");
    INVALID_JSON = permanent(400,
        "The body is not one JSON object with the expected fields, has a duplicate key, or is incomplete.",
        "Correct the body at the place in the error text.");
    INVALID_TOML = permanent(400,
        "The provision file is not valid TOML.",
        "Correct the line and key in the error text.");
    INVALID_CSV = permanent(400,
        "The file is not valid CSV, or a cell has an invalid value.",
        "Correct the line and column in the error text.");
    INVALID_FIELD = permanent(400,
        "A field or parameter has an invalid value.",
        "Correct the field in the error text.");
    REFUSED = permanent(422,
        "The request contradicts itself or what is stored. Nothing was changed.",
        "Correct what the error text names.");
    NOT_REMOVABLE = permanent(422,
        "The account, connection or carrier was used: messages or money refer to it. Only one that was never used is removed.",
        "Close or disable it instead.");
    ALREADY_EXISTS = permanent(412,
        "The request has If-None-Match: *, and an entry of that name exists.",
        "Use another name, or omit the header.");
    NOTHING_OWED = permanent(422,
        "An invoice without an amount is for all that is owed, and nothing is owed.",
        "Wait until the balance is below zero, or give an amount.");
    REFERENCE_TAKEN = permanent(409,
        "The reference was used for another kind of entry or another amount.",
        "Read the ledger; use another reference for another entry.");
    ALREADY_DECIDED = permanent(409,
        "The customer's request was accepted, declined or withdrawn before.",
        "Read it with GET /customer-requests/{id}.");
    NOT_RUNNING = permanent(409,
        "The request needs links or binds, and no gateway is running.",
        "Start the gateway.");
    TEST_RUNNING = permanent(409,
        "Another test of a carrier is running.",
        "Retry when it has ended.");
    BACKUP_RUNNING = permanent(409,
        "Another backup is running.",
        "Retry when it has ended.");
    EXPORTS_RUNNING = temporary(429,
        "As many exports of the account are running as may run at a time.",
        "Retry when one of them has ended.");
    RECORD_OFF = permanent(409,
        "The gateway keeps no record, which searches, timelines, statistics and the request log need.",
        "Set enabled = true in the section [record] of the settings, and restart the gateway.");
    TOO_MUCH = permanent(422,
        "The request would return or search more than is allowed at a time.",
        "Request a shorter time, longer intervals or a single value, as the error text says.");
    FAILED = temporary(500,
        "Internal error. Nothing was changed.",
        "Retry; the log has the cause.");
    GATEWAY_UNAVAILABLE = temporary(503,
        "The store is overloaded, the disk is nearly full, the live feed has too many watchers, or the gateway is stopping.",
        "Retry after the seconds in Retry-After.");
}

#[cfg(test)]
#[path = "published_tests.rs"]
mod tests;
