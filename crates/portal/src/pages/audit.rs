//! The audit log: who changed what.

use crate::forms::{Field, Select};
use crate::layout::Shell;
use crate::time::Time;
use askama::Template;

/// `GET /accounts/{account}/audit`. The filters are the query: `who`, `action`, `since`.
#[derive(Clone, Debug, Template)]
#[template(path = "audit.html")]
pub struct AuditPage {
    pub shell: Shell,
    pub who: Field,
    /// Without choices the filters are left out.
    pub action: Select,
    pub since: Field,
    pub is_filtered: bool,
    pub rows: Vec<AuditedChange>,
    pub next: Option<String>,
}

/// One change.
#[derive(Clone, Debug)]
pub struct AuditedChange {
    pub at: Time,
    /// An e-mail address, or `operator`.
    pub who: String,
    /// `portal`, `operator API` or `command line`, and the address.
    pub from: String,
    /// Such as `Changed the allow-list of key lk_live_1`.
    pub action: String,
    /// The fields that changed, without secrets.
    pub changes: Vec<ChangedField>,
}

/// A field before and after.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangedField {
    pub field: String,
    /// `None` if there was nothing before.
    pub before: Option<String>,
    /// `None` if there is nothing now.
    pub after: Option<String>,
}
