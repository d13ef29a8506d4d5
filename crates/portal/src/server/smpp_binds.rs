//! Live binds and rejected binds as rows of the SMPP page.

use super::shown::time;
use crate::elements::{Chip, Tone};
use crate::numbers::grouped;
use crate::pages::smpp::{BindRow, RejectedBind};
use crate::time::Time;
use hermod_operator::bind::BindView;
use hermod_operator::request::RequestView;

pub(super) fn bind_row(bind: &BindView) -> BindRow {
    let refused = match bind.refused {
        0 => String::new(),
        refused => format!(" ({} rejected)", grouped(refused)),
    };
    BindRow {
        number: bind.number,
        system_id: bind.system_id.clone(),
        kind: bind.kind.clone(),
        address: bind.address.clone(),
        transport: if bind.tls { Chip::new(Tone::Good, "TLS") } else { Chip::new(Tone::Warning, "Plain") },
        since: time(&bind.since).unwrap_or(Time(0)),
        window: format!("{} of {}", bind.window_in, bind.window),
        rate: format!("{}/s", bind.submits_per_second),
        submits: format!("{}{refused}", grouped(bind.submits)),
        waiting: grouped(bind.receipts_waiting),
        last_error: bind.last_error.as_ref().map(|error| format!("{} ({})", error.text, error.at)),
    }
}

pub(super) fn rejected_bind(request: &RequestView) -> RejectedBind {
    let name = request.code.clone().unwrap_or_default();
    RejectedBind {
        at: time(&request.at).unwrap_or(Time(0)),
        system_id: request.who.clone(),
        address: request.address.clone().unwrap_or_default(),
        status: format!("0x{:02X} {name}", request.status),
        reason: in_words(&request.reason),
    }
}

/// The reasons of the request log, with what the customer can do.
const REASONS: &[(&str, &str)] = &[
    (
        "wrong credentials",
        "Wrong system_id or password. Copy both from the bind card, or rotate the password.",
    ),
    ("password too long", "The password has more than 8 characters. Check the settings of the client."),
    ("invalid length of system_id", "A system_id has 1 to 15 characters. Check the settings of the client."),
    ("wrong system_type", "The system_type is not that of the bind card. Set it in the client."),
    (
        "address not allowed",
        "The address is not on the allow-list of the connection. Add it, or bind from one that is.",
    ),
    ("TLS required", "The connection requires TLS. Bind to the TLS port."),
    ("bind type not allowed", "The connection does not allow this bind type. Use one of the bind card."),
    (
        "maximum number of binds reached",
        "All binds of the connection are in use. Close one that is not needed, or ask for more.",
    ),
    ("closed", "The account or the connection is closed. Ask your provider."),
    ("account suspended", "The account is suspended: Home says why. Live binds stay, new ones are rejected."),
    ("stopping", "The server was restarting. The client can bind again at once."),
    ("held", "The server is held for maintenance. The client can bind again when it has ended."),
    ("too many sessions", "The server had too many sessions. The client can bind again soon."),
    (
        "too many password checks in progress",
        "Many clients bound at the same time. The client can bind again at once.",
    ),
    ("the password could not be checked", "The check failed on our side. The client can bind again at once."),
    (
        "too many attempts from this address",
        "Too many failed binds came from this address. Wait a minute, and correct the credentials.",
    ),
    (
        "too many attempts for this system_id",
        "Too many binds with this system_id failed. Wait a minute; an allow-list keeps strangers out.",
    ),
];

/// Says why a bind was rejected, and what to do.
fn in_words(reason: &str) -> String {
    let known = REASONS.iter().find(|(known, _)| *known == reason);
    known.map_or_else(|| reason.to_owned(), |(_, words)| (*words).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_reason_is_shown_as_it_is() {
        assert!(in_words("TLS required").contains("Bind to the TLS port"));
        assert_eq!(in_words("another reason"), "another reason");
    }
}
