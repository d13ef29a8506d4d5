//! Billing: balance, ledger, statements.

use crate::forms::Field;
use crate::layout::Shell;
use crate::time::Time;
use askama::Template;

/// `GET /accounts/{account}/billing`. Warnings post `warn_at` and `urgent_at` to `billing/warnings`.
#[derive(Clone, Debug, Template)]
#[template(path = "billing.html")]
pub struct BillingPage {
    pub shell: Shell,
    pub funds: Funds,
    /// `None` if the role may not change warnings.
    pub warnings: Option<Warnings>,
    pub ledger: Vec<BillingRow>,
    /// The address of the next page of the ledger.
    pub next: Option<String>,
    /// The months with a statement, the newest first.
    pub months: Vec<Month>,
}

/// The money of the account, each amount without its currency.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Funds {
    pub currency: String,
    pub available: String,
    pub balance: String,
    pub credit_limit: String,
    pub credit_used: String,
    /// What must be left; `None` if nothing.
    pub minimum: Option<String>,
    /// `prepaid` or `postpaid`.
    pub terms: String,
    /// How long it lasts.
    pub runway: Option<String>,
}

/// The amounts at which the account warns.
#[derive(Clone, Debug, Default)]
pub struct Warnings {
    pub warn_at: Field,
    pub urgent_at: Field,
}

/// A ledger entry.
#[derive(Clone, Debug)]
pub struct BillingRow {
    pub at: Time,
    /// Such as `Top-up`.
    pub kind: String,
    pub note: String,
    pub reference: Option<String>,
    /// The message of a refund.
    pub message: Option<String>,
    /// The change of the balance with its sign, such as `+500.00`.
    pub amount: String,
    pub is_credit: bool,
}

/// A month with a statement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Month {
    /// As in the URL: `2026-11`.
    pub path: String,
    /// `November 2026`
    pub label: String,
    pub messages: String,
    pub spend: String,
}

/// `GET /accounts/{account}/billing/statements/{month}`.
#[derive(Clone, Debug, Template)]
#[template(path = "statement.html")]
pub struct StatementPage {
    pub shell: Shell,
    pub month: String,
    pub currency: String,
    pub opening: String,
    pub lines: Vec<StatementRow>,
    pub closing: String,
    /// Whether lines are missing because there were too many.
    pub is_cut_off: bool,
    /// The same as CSV.
    pub csv: String,
}

/// A line of a statement.
#[derive(Clone, Debug)]
pub struct StatementRow {
    /// `15 Nov`
    pub day: String,
    /// `Charges` or the kind of ledger entry.
    pub kind: String,
    /// Such as `12,408 messages`, a note or a reference.
    pub note: String,
    /// With its sign.
    pub amount: String,
}
