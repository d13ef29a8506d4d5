//! Every page with believable data of fictional accounts, and with hostile strings where people can type.

mod access;
mod account;
mod destinations;
mod developers;
mod home;
mod inbox;
mod messages;
mod messaging;
mod webhooks;

use hermod_portal::elements::Freshness;
use hermod_portal::layout::{NavEntry, Shell};
use hermod_portal::{Template, Time};

/// 2026-11-17T09:41:00Z
pub(crate) const NOW: i64 = 1_794_908_460_000;

/// A string that would run as a script where a page does not escape it.
pub(crate) const HOSTILE: &str = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>";

/// Returns the time so many milliseconds ago.
pub(crate) fn ago(ms: i64) -> Time {
    Time(NOW - ms)
}

pub(crate) const SECOND: i64 = 1_000;
pub(crate) const MINUTE: i64 = 60 * SECOND;
pub(crate) const HOUR: i64 = 60 * MINUTE;
pub(crate) const DAY: i64 = 24 * HOUR;

/// Returns every sample as file name and HTML.
pub(crate) fn all() -> Vec<(&'static str, String)> {
    [
        access::all(),
        home::all(),
        messages::all(),
        messaging::all(),
        inbox::all(),
        destinations::all(),
        developers::all(),
        webhooks::all(),
        account::all(),
    ]
    .concat()
}

/// Returns the frame of a page for an owner of three accounts.
pub(crate) fn shell(current: NavEntry) -> Shell {
    Shell {
        account: "lindgren".to_owned(),
        accounts: ["lindgren", "nordlicht", "demo"].map(str::to_owned).to_vec(),
        email: "jana.petersen@lindgren.example".to_owned(),
        role: "owner".to_owned(),
        csrf: "f3c1b2a49d".to_owned(),
        visible: NavEntry::all(),
        current: Some(current),
        notices: Vec::new(),
        flash: None,
    }
}

pub(crate) fn fresh() -> Freshness {
    Freshness { as_of: Time(NOW), lag: Some("0.3 s".to_owned()) }
}

/// Renders a page. The samples are fixed, so that a failure is a mistake in a template.
pub(crate) fn html(page: &impl Template) -> String {
    page.render().expect("a template of fixed data renders")
}
