//! Messages that a screening rule held for review.

use crate::elements::Chip;
use crate::layout::Shell;
use crate::time::Time;
use askama::Template;

/// `GET /accounts/{account}/held`.
#[derive(Clone, Debug, Template)]
#[template(path = "held.html")]
pub struct Held {
    pub shell: Shell,
    pub rows: Vec<HeldRow>,
    pub next: Option<String>,
}

/// A held message.
#[derive(Clone, Debug)]
pub struct HeldRow {
    pub at: Time,
    pub from: String,
    pub to: String,
    /// `None` if the role may not read texts.
    pub text: Option<String>,
    /// Waiting, approved or declined.
    pub state: Chip,
    /// What the decision means: `Approved until 24 Nov: send it again.`
    pub note: String,
    /// Compose with the same message, after an approval.
    pub send_again: Option<String>,
}
