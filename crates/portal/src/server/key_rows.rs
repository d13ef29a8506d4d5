//! What the pages of keys have in common: finding a key of the account, and how it is shown.

use super::Portal;
use super::allow_list;
use super::member::Member;
use super::reply::NoPage;
use crate::elements::{Chip, Tone};
use crate::forms::Select;
use crate::pages::keys::KeyRow;
use crate::time::Time;
use hermod_domain::catalogue::{ApiKey, Catalogue, Connection};
use hermod_domain::time::Timestamp;
use hermod_gateway::live_status::KeyUse;
use hermod_operator::refusal::OperatorRefusal;
use hermod_operator::rotation::{RotateQuery, overlap_of};
use std::sync::Arc;

/// How long an old secret may stay valid, as the forms offer it.
const OVERLAPS: [(&str, &str); 6] = [
    ("0s", "Not at all"),
    ("1h", "1 hour"),
    ("24h", "24 hours"),
    ("7d", "7 days"),
    ("14d", "14 days"),
    ("30d", "30 days"),
];
const OVERLAP_DEFAULT: &str = "24h";

/// A key of the member's account, with the catalogue that has it.
pub(super) struct OwnKey {
    pub(super) id: String,
    pub(super) key: ApiKey,
    catalogue: Arc<Catalogue>,
}

impl OwnKey {
    /// A key of another account looks like one that does not exist.
    pub(super) fn find(portal: &Portal, member: &Member, id: &str) -> Result<OwnKey, NoPage> {
        let catalogue = portal.gateway.catalogue();
        let key = catalogue.key(id).cloned().ok_or(NoPage::NotFound)?;
        let connection = catalogue.connection(key.connection).ok_or(NoPage::NotFound)?;
        if connection.account != member.account {
            return Err(NoPage::NotFound);
        }
        Ok(OwnKey { id: id.to_owned(), key, catalogue })
    }

    pub(super) fn connection(&self) -> &Connection {
        self.catalogue.connection(self.key.connection).expect("checked when the key was found")
    }

    pub(super) fn connection_name(&self) -> &str {
        self.catalogue.connection_name(self.key.connection).unwrap_or_default()
    }
}

pub(super) fn row(id: &str, key: &ApiKey, connection: &str, used: Option<&KeyUse>, now: Timestamp) -> KeyRow {
    KeyRow {
        id: id.to_owned(),
        label: key.label.clone(),
        connection: connection.to_owned(),
        last_used: used.map(|used| Time(used.at.as_millis())),
        last_address: used.and_then(|used| used.address).map(|address| address.to_string()),
        expires: key.expires_at.map(|at| Time(at.as_millis())),
        allow_list: allow_list::summary(&key.allow),
        state: state(key, now),
    }
}

fn state(key: &ApiKey, now: Timestamp) -> Chip {
    if key.revoked {
        Chip::new(Tone::Stopped, "Revoked")
    } else if !key.is_valid_at(now) {
        Chip::new(Tone::Warning, "Expired")
    } else if old_secret_until(key, now).is_some() {
        Chip::new(Tone::Waiting, "Rotating")
    } else {
        Chip::new(Tone::Good, "Active")
    }
}

/// Returns until when the old secret of a running rotation is valid.
pub(super) fn old_secret_until(key: &ApiKey, now: Timestamp) -> Option<Time> {
    let previous = key.previous.as_ref().filter(|previous| previous.is_valid_at(now) && !key.revoked);
    previous.map(|previous| Time(previous.until.as_millis()))
}

pub(super) fn overlaps() -> Select {
    Select::new(OVERLAPS, OVERLAP_DEFAULT)
}

/// Checks the overlap of a form.
pub(super) fn overlap(text: &str) -> Result<RotateQuery, OperatorRefusal> {
    let query = RotateQuery { overlap: Some(text.to_owned()) };
    overlap_of(&query).map(|_| query)
}

/// Returns the address of the HTTP API.
pub(super) fn base_url(portal: &Portal) -> String {
    format!("{}/api/v1", portal.gateway.portal_url)
}
