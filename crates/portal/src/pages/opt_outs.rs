//! Opt-outs: numbers that get no messages from this account.

use crate::forms::Field;
use crate::layout::Shell;
use crate::time::Time;
use askama::Template;

/// `GET /accounts/{account}/opt-outs?number=…`. Adding posts `number` and `note` to the same address; lifting is the page
/// `opt-outs/{number}/lift`.
#[derive(Clone, Debug, Template)]
#[template(path = "opt_outs.html")]
pub struct OptOuts {
    pub shell: Shell,
    pub search: Field,
    pub is_filtered: bool,
    /// The number of all opt-outs of the account.
    pub total: String,
    pub rows: Vec<OptOutRow>,
    pub next: Option<String>,
    /// `None` if the role may not add or lift.
    pub add: Option<AddOptOut>,
    /// The list as CSV.
    pub export: Option<String>,
    /// The words that opt a handset out, such as `STOP`.
    pub keywords: Vec<String>,
}

/// A number that opted out.
#[derive(Clone, Debug)]
pub struct OptOutRow {
    /// The number, masked for roles that may not see it.
    pub number: String,
    /// As in URLs.
    pub id: String,
    pub since: Time,
    /// `Replied STOP to Lindgren`, or `Added by jana@…`.
    pub how: String,
    /// Messages rejected since then.
    pub rejected: String,
}

/// The form that adds an opt-out.
#[derive(Clone, Debug, Default)]
pub struct AddOptOut {
    pub number: Field,
    pub note: Field,
}
