//! What to do about rejected requests: from the catalogue of errors, and for the statuses of SMPP and the reasons of binds.

use hermod_domain::refusal::published::PUBLISHED;
use hermod_store::record::{RequestEntry, RequestKind};

/// Where no row fits.
const UNKNOWN: &str = "Read the reason of the latest request; docs/smpp.md lists the statuses of SMPP.";

/// Reasons of rejected binds, as the request log has them.
const BIND_REASONS: &[(&str, &str)] = &[
    ("wrong credentials", "Check the system_id and the password; set a new one with hermod connection set."),
    ("password too long", "A password has 8 characters: check the settings of the customer's software."),
    (
        "invalid length of system_id",
        "A system_id has 1 to 15 characters: check the settings of the customer's software.",
    ),
    (
        "wrong system_type",
        "Set the system_type of the connection in the customer's software, or remove it from the connection.",
    ),
    (
        "address not allowed",
        "Add the address to the allow-list of the connection with hermod connection set.",
    ),
    ("TLS required", "Bind to the TLS port, or allow plain binds on the connection."),
    ("bind type not allowed", "Use a bind type that the connection allows, or allow this one."),
    (
        "maximum number of binds reached",
        "Close binds that are not used (hermod binds), or raise max_binds of the connection.",
    ),
    (
        "closed",
        "The account or the connection is closed: open it again with hermod account set or hermod connection set.",
    ),
    ("stopping", "The gateway was shutting down: the customer's software binds again by itself."),
    ("too many sessions", "Raise [smpp] max_sessions, or find out who opens so many connections."),
    (
        "too many password checks in progress",
        "Many binds came at once: the customer's software tries again by itself.",
    ),
];

/// Statuses of SMPP that have no row in the catalogue of errors.
const STATUSES: &[(&str, &str)] = &[
    ("ESME_RINVMSGLEN", "Correct the length of the text or of short_message: sm_length must match it."),
    (
        "ESME_RINVCMDLEN",
        "The PDU could not be parsed: check the customer's software, or trace it with hermod links.",
    ),
    ("ESME_RINVCMDID", "The operation is not supported: use submit_sm."),
    ("ESME_RINVBNDSTS", "A receiver cannot submit: bind as a transmitter or transceiver."),
    ("ESME_RINVSRCADR", "Correct source_addr, its TON and its NPI."),
    ("ESME_RINVDSTADR", "Correct destination_addr: digits in international form, with TON 1."),
    ("ESME_RINVPASWD", "Check the system_id and the password."),
    ("ESME_RINVSYSID", "A system_id has 1 to 15 characters."),
    ("ESME_RINVSYSTYP", "Set the system_type of the connection in the customer's software."),
    ("ESME_RBINDFAIL", "The reason of the latest bind says what was not allowed."),
    ("ESME_RALYBND", "The session is bound already: do not bind twice on one connection."),
    (
        "ESME_RTHROTTLED",
        "Send more slowly, or raise the rate of the account with hermod account set NAME smpp_rate=N.",
    ),
    ("ESME_RMSGQFUL", "Try again later: a limit or the queue is full."),
    (
        "ESME_RSYSERR",
        "The gateway could not store the message: its log has the cause. The customer tries again.",
    ),
    ("ESME_RINVSCHED", "Correct schedule_delivery_time."),
    ("ESME_RINVEXPIRY", "Correct validity_period."),
    ("ESME_RINVESMCLASS", "Correct esm_class."),
    ("ESME_RINVREGDLVFLG", "Correct registered_delivery."),
    ("ESME_RINVNUMDESTS", "Correct the number of destinations of submit_multi."),
    ("ESME_RSUBMITFAIL", "The reason of the latest submit says what was rejected."),
];

/// Returns what to do about requests with this code, of which `last` is the latest.
pub(crate) fn remedy(code: &str, last: Option<&RequestEntry>) -> &'static str {
    let by_reason = || {
        let bind = last.filter(|last| last.kind == RequestKind::Bind)?;
        found(BIND_REASONS, &bind.reason)
    };
    let published = || PUBLISHED.iter().find(|row| row.code == code).map(|row| row.what_to_do);
    by_reason().or_else(published).or_else(|| found(STATUSES, code)).unwrap_or(UNKNOWN)
}

fn found(rows: &[(&str, &'static str)], wanted: &str) -> Option<&'static str> {
    rows.iter().find(|(name, _)| *name == wanted).map(|(_, remedy)| *remedy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermod_domain::time::Timestamp;
    use hermod_store::record::Replay;

    fn entry(kind: RequestKind, reason: &str) -> RequestEntry {
        RequestEntry {
            at: Timestamp::EPOCH,
            account: None,
            connection: None,
            kind,
            operation: "x".into(),
            who: "x".into(),
            address: None,
            status: 1,
            code: None,
            reason: reason.into(),
            took_ms: 0,
            request: None,
            replay: Replay::No,
            message: None,
        }
    }

    #[test]
    fn every_code_of_the_catalogue_has_its_own_remedy() {
        for row in PUBLISHED {
            assert_eq!(remedy(row.code, Some(&entry(RequestKind::Http, ""))), row.what_to_do);
        }
    }

    #[test]
    fn remedy_of_a_bind_follows_from_its_reason() {
        let bind = entry(RequestKind::Bind, "address not allowed");
        assert!(remedy("ESME_RBINDFAIL", Some(&bind)).starts_with("Add the address"));
        let other = entry(RequestKind::Bind, "a new reason");
        assert!(remedy("ESME_RBINDFAIL", Some(&other)).starts_with("The reason of the latest"));
        assert!(
            remedy("ESME_RTHROTTLED", Some(&entry(RequestKind::Submit, ""))).starts_with("Send more slowly")
        );
        assert_eq!(remedy("0x00000400", Some(&entry(RequestKind::Submit, ""))), UNKNOWN);
    }
}
