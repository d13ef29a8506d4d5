//! Requests to the operator: senders, countries, limits, top-ups.

use crate::elements::Chip;
use crate::forms::{Field, Select};
use crate::layout::Shell;
use crate::time::Time;
use askama::Template;

/// `GET /accounts/{account}/requests`. The form posts `kind`, `subject`, `connection` and `details` to the same address;
/// `requests/{id}/withdraw` is a post.
#[derive(Clone, Debug, Template)]
#[template(path = "requests.html")]
pub struct RequestsPage {
    pub shell: Shell,
    pub rows: Vec<CustomerRequestRow>,
    /// The address of the next page.
    pub next: Option<String>,
    /// `None` if the role may not make requests.
    pub form: Option<RequestForm>,
}

/// A request.
#[derive(Clone, Debug)]
pub struct CustomerRequestRow {
    pub id: String,
    pub at: Time,
    pub by: String,
    /// Such as `Sender`.
    pub kind: String,
    /// What was requested.
    pub subject: String,
    /// Open, accepted, declined or withdrawn.
    pub state: Chip,
    /// The operator's reason.
    pub reason: Option<String>,
    pub can_withdraw: bool,
}

/// The form for a request.
#[derive(Clone, Debug, Default)]
pub struct RequestForm {
    pub kind: Select,
    pub subject: Field,
    /// The connection of a rate or a window. Without choices it is left out.
    pub connection: Select,
    pub details: Field,
}
