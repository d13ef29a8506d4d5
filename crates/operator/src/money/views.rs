//! Money of an account: balance, ledger, statement, totals by day, traffic of today.

use crate::control::{Most, MostAbroad};
use crate::views::amount::{Amount, AmountInput, AmountText};
use crate::views::paging::{Limit, RowNumber, paged};
use hermod_domain::traffic::{Control, Mode, TrafficRule};
use hermod_gateway::config::Period;
use hermod_store::{Balance, DayTotals, LedgerKind, LedgerRow, StatementLine};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use utoipa::{IntoParams, ToSchema};

/// An account's money: `available = balance + credit_limit - credit_used`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BalanceView {
    pub account: String,
    pub currency: String,
    pub balance: Amount,
    pub credit_limit: Amount,
    pub credit_used: Amount,
    pub available: Amount,
    /// `prepaid` or `postpaid`.
    pub payment_terms: String,
    pub postpaid: bool,
}

/// A ledger entry to post.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PostRequest {
    /// `top-up`, `adjustment`, `invoice` or `payment`.
    #[schema(pattern = "^(top-up|adjustment|invoice|payment)$", examples("top-up"))]
    pub kind: String,
    /// Exact to a millionth. Omitted from an invoice: the whole amount owed.
    #[schema(value_type = Option<AmountText>)]
    pub amount: Option<AmountInput>,
    #[serde(default)]
    #[schema(max_length = 500, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
    pub note: String,
    /// Your own id of the entry. Posting the same reference again changes nothing.
    #[schema(
        min_length = 1,
        max_length = 128,
        pattern = r"^[^\x00-\x1f\x7f-\x9f]*$",
        examples("bank-2026-11-15-3")
    )]
    pub reference: Option<String>,
}

impl crate::views::JsonBody for PostRequest {}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PostedView {
    /// The number of the entry in the ledger.
    pub entry: i64,
    /// Whether the reference was posted before, so that nothing changed now.
    pub repeated: bool,
    pub kind: String,
    pub amount: Amount,
    pub balance: BalanceView,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct LedgerQuery {
    /// `next` of the previous page.
    pub before: Option<RowNumber>,
    /// How many at most; 100 by default.
    pub limit: Option<Limit>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LedgerEntryView {
    pub id: i64,
    pub at: String,
    pub kind: String,
    /// The change of the balance.
    pub balance: Amount,
    /// The change of the credit in use.
    pub credit_used: Amount,
    pub message_id: Option<String>,
    pub reference: Option<String>,
    pub note: String,
}

paged!(LedgerEntryView, i64, |row| row.id);

impl From<LedgerRow> for LedgerEntryView {
    fn from(row: LedgerRow) -> LedgerEntryView {
        let LedgerRow { id, at, kind, balance, credit_used, message, reference, note } = row;
        LedgerEntryView {
            id,
            at: at.to_iso(),
            kind: ledger_kind_text(kind).to_owned(),
            balance: Amount(balance),
            credit_used: Amount(credit_used),
            message_id: message.map(|message| message.to_string()),
            reference,
            note,
        }
    }
}

/// The kinds of ledger entries as they are written in JSON.
pub const fn ledger_kind_text(kind: LedgerKind) -> &'static str {
    match kind {
        LedgerKind::TopUp => "top-up",
        LedgerKind::Refund => "refund",
        LedgerKind::Adjustment => "adjustment",
        LedgerKind::Invoice => "invoice",
        LedgerKind::Payment => "payment",
        LedgerKind::RolledUpCosts => "rolled-up-costs",
        LedgerKind::RolledUpRefunds => "rolled-up-refunds",
    }
}

/// A range of UTC days, both ends included; at most 366 days.
#[derive(Clone, Debug, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct DaysQuery {
    /// The first day.
    #[param(format = Date)]
    pub from: String,
    /// The last day.
    #[param(format = Date)]
    pub to: String,
}

/// The lines add up exactly from `opening` to `closing`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StatementView {
    pub account: String,
    pub currency: String,
    pub from: String,
    pub to: String,
    pub opening: FundsView,
    pub lines: Vec<StatementLineView>,
    pub closing: FundsView,
    /// Whether lines are missing because there were too many.
    pub cut_off: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FundsView {
    pub balance: Amount,
    pub credit_used: Amount,
}

impl From<Balance> for FundsView {
    fn from(Balance { balance, credit_used }: Balance) -> FundsView {
        FundsView { balance: Amount(balance), credit_used: Amount(credit_used) }
    }
}

/// A ledger entry, or the charges of a day's messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StatementLineView {
    pub day: String,
    /// The kind of ledger entry, or `charges`.
    pub kind: String,
    pub balance: Amount,
    pub credit_used: Amount,
    /// The number of messages, if the line is about charges.
    pub messages: Option<u64>,
    pub entry: Option<i64>,
    pub reference: Option<String>,
    pub note: String,
}

impl From<StatementLine> for StatementLineView {
    fn from(line: StatementLine) -> StatementLineView {
        let Balance { balance, credit_used } = line.change();
        let (balance, credit_used) = (Amount(balance), Amount(credit_used));
        match line {
            StatementLine::Entry(LedgerRow { id, at, kind, reference, note, .. }) => StatementLineView {
                day: at.day().to_string(),
                kind: ledger_kind_text(kind).to_owned(),
                balance,
                credit_used,
                messages: None,
                entry: Some(id),
                reference,
                note,
            },
            StatementLine::Charges(DayTotals { day, messages, spend: _ }) => StatementLineView {
                day: day.to_string(),
                kind: "charges".to_owned(),
                balance,
                credit_used,
                messages: Some(messages),
                entry: None,
                reference: None,
                note: String::new(),
            },
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DaysView {
    /// Days with messages, in order.
    pub items: Vec<DayView>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DayView {
    pub day: String,
    pub messages: u64,
    pub spend: Amount,
}

impl From<DayTotals> for DayView {
    fn from(DayTotals { day, messages, spend }: DayTotals) -> DayView {
        DayView { day: day.to_string(), messages, spend: Amount(spend) }
    }
}

/// What an account sent today, and its traffic controls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TrafficView {
    pub day: String,
    pub messages: u64,
    pub spend: Amount,
    pub controls: Vec<ControlView>,
}

/// A traffic control. Exactly one of its limits is present.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ControlView {
    pub name: String,
    /// `enforce` or `watch`.
    pub mode: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spend_per_day: Option<Amount>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages_per_day: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_recipient: Option<Most>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_range: Option<Most>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_country: Option<MostAbroad>,
    /// Messages above the limit since the gateway started, while the mode is `watch`.
    pub would_have_refused: u64,
}

impl ControlView {
    pub fn new(control: Control, would_have_refused: u64) -> ControlView {
        let Control { name, mode, rule, .. } = control;
        let mode = match mode {
            Mode::Enforce => "enforce",
            Mode::Watch => "watch",
        };
        let mut view = ControlView {
            name: name.to_string(),
            mode: mode.to_owned(),
            spend_per_day: None,
            messages_per_day: None,
            per_recipient: None,
            per_range: None,
            per_country: None,
            would_have_refused,
        };
        let limit = |most, per_ms| Some(Most { most, per: Period(Duration::from_millis(per_ms)) });
        match rule {
            TrafficRule::SpendPerDay { most } => view.spend_per_day = Some(Amount(most)),
            TrafficRule::MessagesPerDay { most } => view.messages_per_day = Some(most),
            TrafficRule::PerRecipient { most, per_ms } => view.per_recipient = limit(most, per_ms),
            TrafficRule::PerRange { most, per_ms } => view.per_range = limit(most, per_ms),
            TrafficRule::PerCountry { most, per_ms, except } => {
                view.per_country = Some(MostAbroad::of(most, per_ms, except));
            }
        }
        view
    }
}
