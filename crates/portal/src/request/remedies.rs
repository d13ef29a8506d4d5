//! What a customer can do about a rejection, and the page for it.

use crate::elements::PageLink;
use crate::layout::{NavEntry, Shell};
use hermod_domain::refusal::published::PUBLISHED;

/// Returns where the catalogue explains a code.
fn catalogue(code: &str) -> String {
    let is_published = PUBLISHED.iter().any(|row| row.code == code);
    if is_published { format!("/docs#error-{code}") } else { "/docs#errors".to_owned() }
}

/// Codes with the page that helps and the words of its link.
const PLACES: &[(&str, NavEntry, &str)] = &[
    ("ACCOUNT_SUSPENDED", NavEntry::Home, "Home"),
    ("COUNTRY_BLOCKED", NavEntry::Destinations, "Destinations"),
    ("DESTINATION_BLOCKED", NavEntry::Destinations, "Destinations"),
    ("HELD_FOR_REVIEW", NavEntry::Held, "Held messages"),
    ("INSUFFICIENT_CREDIT", NavEntry::Billing, "Billing"),
    ("INVALID_API_KEY", NavEntry::Keys, "API keys"),
    ("INVALID_SENDER", NavEntry::Senders, "Senders"),
    ("IP_NOT_ALLOWED", NavEntry::Keys, "Allow-lists"),
    ("NO_PRICE", NavEntry::Destinations, "Destinations"),
    ("NO_ROUTE", NavEntry::Destinations, "Destinations"),
    ("RATE_LIMITED", NavEntry::Limits, "Limits"),
    ("RECIPIENT_OPTED_OUT", NavEntry::OptOuts, "Opt-outs"),
    ("SENDER_BLOCKED", NavEntry::Senders, "Senders"),
    ("SENDER_NOT_APPROVED", NavEntry::Senders, "Senders"),
    ("TRAFFIC_CONTROL", NavEntry::Limits, "Limits"),
    ("VERIFICATION_REQUIRED", NavEntry::Requests, "Requests"),
];

/// Statuses of SMPP in words for the customer.
const STATUSES: &[(&str, &str)] = &[
    ("ESME_RALYBND", "The session is bound already: do not bind twice on one connection."),
    (
        "ESME_RBINDFAIL",
        "The reason of the latest bind says what was not allowed: address, TLS, bind type or number of binds.",
    ),
    ("ESME_RINVBNDSTS", "A receiver cannot submit: bind as a transmitter or transceiver."),
    ("ESME_RINVCMDID", "The operation is not supported: use submit_sm."),
    ("ESME_RINVCMDLEN", "The PDU could not be parsed: check its command_length and fields."),
    ("ESME_RINVDSTADR", "Correct destination_addr: digits in international form, with TON 1."),
    ("ESME_RINVEXPIRY", "Correct validity_period."),
    ("ESME_RINVMSGLEN", "Correct the length of the text or of short_message: sm_length must match it."),
    ("ESME_RINVPASWD", "Check the system_id and the password; the SMPP page makes a new one."),
    ("ESME_RINVSCHED", "Correct schedule_delivery_time."),
    ("ESME_RINVSRCADR", "Correct source_addr, its TON and its NPI."),
    ("ESME_RINVSYSID", "A system_id has 1 to 15 characters: check the settings of your software."),
    ("ESME_RINVSYSTYP", "Set the system_type that the SMPP page shows in your software."),
    ("ESME_RMSGQFUL", "Try again later: a limit or the queue is full."),
    ("ESME_RSUBMITFAIL", "The reason of the latest submit says what was rejected."),
    ("ESME_RSYSERR", "Try again: the message was not stored and not charged."),
    ("ESME_RTHROTTLED", "Send more slowly, or request a higher rate."),
];

/// Where nothing else is known.
const UNKNOWN: &str = "The reason of the latest request says why.";

/// Returns what the customer can do about a code: the words of the catalogue, or those of a status of SMPP. What the request log
/// says is for the operator.
pub(crate) fn words(code: &str) -> String {
    let of_smpp = STATUSES.iter().find(|(known, _)| *known == code).map(|(_, words)| *words);
    let published = || PUBLISHED.iter().find(|row| row.code == code).map(|row| row.what_to_do);
    of_smpp.or_else(published).unwrap_or(UNKNOWN).to_owned()
}

/// Returns the page for a code: one that the role may open, or the catalogue of errors.
pub(crate) fn place(shell: &Shell, code: &str) -> PageLink {
    let smpp = code.starts_with("ESME_").then_some((NavEntry::Smpp, "SMPP"));
    let known = PLACES.iter().find(|(known, ..)| *known == code).map(|(_, entry, label)| (*entry, *label));
    match known.or(smpp).filter(|(entry, _)| shell.can_open(entry)) {
        Some((entry, label)) => PageLink::new(label, shell.path(entry.path())),
        None => PageLink::new("What the error means", catalogue(code)),
    }
}

#[cfg(test)]
#[path = "remedies_tests.rs"]
mod tests;
