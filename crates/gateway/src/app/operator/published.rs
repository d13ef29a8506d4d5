//! The errors of the operator API: one row for each code, for the answers and for the documentation alike. No row is
//! about SMPP, so its status is 0 throughout.

use hermod_domain::refusal::published::{self, PublishedError};

const NOT_OVER_SMPP: u32 = 0;

const fn permanent(
    code: &'static str,
    http: u16,
    meaning: &'static str,
    what_to_do: &'static str,
) -> PublishedError {
    published::permanent(code, http, NOT_OVER_SMPP, meaning, what_to_do)
}

const fn temporary(
    code: &'static str,
    http: u16,
    meaning: &'static str,
    what_to_do: &'static str,
) -> PublishedError {
    published::temporary(code, http, NOT_OVER_SMPP, meaning, what_to_do)
}

macro_rules! catalogue {
    ($($name:ident = $row:expr;)*) => {
        $(pub(super) const $name: PublishedError = $row;)*
        /// Every row.
        pub const OPERATOR_ERRORS: &[PublishedError] = &[$($name),*];
    };
}

catalogue! {
    INVALID_TOKEN = permanent("INVALID_TOKEN", 401,
        "The operator's token is missing or wrong.",
        "Send Authorization: Bearer with the token from the file operator.token of the data folder.");
    IP_NOT_ALLOWED = permanent("IP_NOT_ALLOWED", 403,
        "The API answers callers on its own machine here.",
        "Call from there, or say [operator] from_anywhere = true in the settings.");
    RATE_LIMITED = temporary("RATE_LIMITED", 429,
        "Too many wrong tokens from one address.",
        "Wait as long as Retry-After says. An address that used the right token within 24 hours never has to.");
    METHOD_NOT_ALLOWED = permanent("METHOD_NOT_ALLOWED", 405,
        "The path does not support this method.",
        "Use a method that the Allow header names.");
    NOT_FOUND = permanent("NOT_FOUND", 404,
        "There is no such thing, or nothing at this path.",
        "Check the name or the path.");
    INVALID_CONTENT_TYPE = permanent("INVALID_CONTENT_TYPE", 400,
        "The Content-Type header is missing, repeated or not application/json.",
        "Send the one that the sentence names.");
    BODY_TOO_LARGE = permanent("BODY_TOO_LARGE", 413,
        "The body has more than 4 MiB.",
        "Apply a large file in several pieces.");
    INVALID_JSON = permanent("INVALID_JSON", 400,
        "The body is not one JSON object of the expected shape, has a key twice, or did not arrive whole.",
        "Mend the body; the sentence says where it goes wrong.");
    INVALID_TOML = permanent("INVALID_TOML", 400,
        "The provision file cannot be read.",
        "Mend the file; the sentence says in which line and at which key.");
    INVALID_FIELD = permanent("INVALID_FIELD", 400,
        "A field or parameter has an invalid value.",
        "Mend the one that the sentence names.");
    REFUSED = permanent("REFUSED", 422,
        "What is asked for does not fit together, or does not fit what is stored. Nothing of it was done.",
        "Mend what the sentence names.");
    NOT_REMOVABLE = permanent("NOT_REMOVABLE", 422,
        "Messages and money refer to accounts, connections and carriers, so these are never removed.",
        "Close or disable it instead.");
    THERE_ALREADY = permanent("THERE_ALREADY", 412,
        "If-None-Match: * asks that nothing be replaced, and there is a thing of that name.",
        "Choose another name, or send the request without that header.");
    NOTHING_OWED = permanent("NOTHING_OWED", 422,
        "An invoice without an amount is for all that is owed, and nothing is.",
        "Wait until the balance is below zero, or give an amount.");
    REFERENCE_TAKEN = permanent("REFERENCE_TAKEN", 409,
        "The reference was used before, for another kind of entry or another amount.",
        "Look the entry up in the ledger; use another reference if this is another entry.");
    NOT_RUNNING = permanent("NOT_RUNNING", 409,
        "This is about links to carriers, and no gateway keeps any here.",
        "Start the gateway.");
    TEST_RUNNING = permanent("TEST_RUNNING", 409,
        "Another test of a carrier is under way.",
        "Try again when it has ended.");
    BACKUP_RUNNING = permanent("BACKUP_RUNNING", 409,
        "Another copy of the database is being made.",
        "Try again when it has ended.");
    FAILED = temporary("FAILED", 500,
        "Something failed inside, and it is certain that nothing was changed.",
        "Try again; the log says what failed.");
    GATEWAY_UNAVAILABLE = temporary("GATEWAY_UNAVAILABLE", 503,
        "The store is busy, the disk is nearly full, or the gateway is stopping.",
        "Wait as long as Retry-After says, then try again.");
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermod_domain::refusal::Class;
    use std::collections::HashSet;

    #[test]
    fn every_code_stands_once() {
        let codes: HashSet<&str> = OPERATOR_ERRORS.iter().map(|row| row.code).collect();
        assert_eq!(codes.len(), OPERATOR_ERRORS.len());
        for row in OPERATOR_ERRORS {
            assert_eq!(row.class == Class::Temporary, matches!(row.http, 429 | 500 | 503), "{}", row.code);
            assert!(row.meaning.ends_with('.') && row.what_to_do.ends_with('.'), "{}", row.code);
        }
    }
}
