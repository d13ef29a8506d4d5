//! Money: balances, the ledger, statements, totals by the day.

use super::answer::{Amount, Answer, fine, json};
use super::asked::{Asked, Days, Named, cursor, limit, words};
use super::body::Received;
use super::desk::Desk;
use crate::app::BalanceView;
use crate::app::operator::{self, OperatorRefusal, Post, Posted, kind_text};
use axum::extract::State;
use axum::http::StatusCode;
use hermod_domain::catalogue::Terms;
use hermod_domain::money::Money;
use hermod_store::{Balance, DayTotals, LedgerKind, LedgerRow, Statement, StatementLine};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::sync::Arc;
use utoipa::ToSchema;

const NOTE_CHARS_MAX: usize = 500;
const REFERENCE_CHARS_MAX: usize = 128;

/// The figures always add up: available = balance + credit_limit - credit_used.
#[derive(Serialize, ToSchema)]
#[schema(as = Balance)]
pub(super) struct BalanceShape {
    account: String,
    currency: String,
    balance: Amount,
    credit_limit: Amount,
    credit_used: Amount,
    available: Amount,
    payment_terms: &'static str,
    postpaid: bool,
}

impl BalanceShape {
    fn of(account: &str, view: &BalanceView) -> BalanceShape {
        let BalanceView { balance, currency, credit_limit, credit_used, available, terms } = *view;
        BalanceShape {
            account: account.to_owned(),
            currency: currency.to_string(),
            balance: Amount(balance),
            credit_limit: Amount(credit_limit),
            credit_used: Amount(credit_used),
            available: Amount(available),
            payment_terms: terms.as_str(),
            postpaid: terms == Terms::Postpaid,
        }
    }
}

pub(super) async fn balance(State(desk): State<Arc<Desk>>, Named(account): Named<String>) -> Answer {
    let view = operator::show_balance(&desk.world, &account).await?;
    fine(&BalanceShape::of(&account, &view))
}

/// What is to be posted.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Entry)]
pub(super) struct PostShape {
    /// `top-up`, `adjustment`, `invoice` or `payment`.
    #[schema(pattern = "^(top-up|adjustment|invoice|payment)$", examples("top-up"))]
    kind: String,
    /// Exact to a millionth. Left out of an invoice: all that is owed.
    #[schema(value_type = Option<AmountText>)]
    amount: Option<Box<RawValue>>,
    #[serde(default)]
    #[schema(max_length = 500, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
    note: String,
    /// Your own name for it: posted again, it changes nothing.
    #[schema(
        min_length = 1,
        max_length = 128,
        pattern = r"^[^\x00-\x1f\x7f-\x9f]*$",
        examples("bank-2026-11-15-3")
    )]
    reference: Option<String>,
}

/// A decimal, as a text or as a number.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "amounts are read from their text; this is their documented form")]
enum AmountText {
    #[schema(examples("12.5"))]
    Text(String),
    Number(f64),
}

#[derive(Serialize, ToSchema)]
#[schema(as = Posted)]
pub(super) struct PostedShape {
    entry: i64,
    repeated: bool,
    kind: &'static str,
    amount: Amount,
    balance: BalanceShape,
}

pub(super) async fn post(
    State(desk): State<Arc<Desk>>,
    Named(account): Named<String>,
    body: Received,
) -> Answer {
    let PostShape { kind, amount, note, reference } = body.json()?;
    let post = Post {
        kind: kind_of(&kind)?,
        amount: amount.map(|text| amount_of(&text)).transpose()?,
        note: words("note", note, 0, NOTE_CHARS_MAX)?,
        reference: reference.map(|text| words("reference", text, 1, REFERENCE_CHARS_MAX)).transpose()?,
    };
    let posted = operator::post_entry(&desk.world, &account, post).await?;
    let Posted { entry, repeated, kind, amount, balance } = posted;
    let status = if repeated { StatusCode::OK } else { StatusCode::CREATED };
    let balance = BalanceShape::of(&account, &balance);
    Ok(json(status, &PostedShape { entry, repeated, kind: kind_text(kind), amount: Amount(amount), balance }))
}

fn kind_of(text: &str) -> Result<LedgerKind, OperatorRefusal> {
    let known = [LedgerKind::TopUp, LedgerKind::Adjustment, LedgerKind::Invoice, LedgerKind::Payment];
    known.into_iter().find(|kind| kind_text(*kind) == text).ok_or_else(|| OperatorRefusal::InvalidField {
        field: "kind",
        rule: format!("\"{text}\" is none of top-up, adjustment, invoice and payment"),
    })
}

/// A text or a number, either way its decimal text.
fn amount_of(raw: &RawValue) -> Result<Money, OperatorRefusal> {
    let refuse = |rule: String| OperatorRefusal::InvalidField { field: "amount", rule };
    let text = match raw.get() {
        quoted if quoted.starts_with('"') => {
            serde_json::from_str::<String>(quoted).map_err(|error| refuse(error.to_string()))?
        }
        bare => bare.to_owned(),
    };
    Money::parse(&text).map_err(|refusal| refuse(format!("{}: {refusal}", raw.get())))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LedgerAsked {
    before: Option<String>,
    limit: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub(super) struct LedgerPage {
    items: Vec<LedgerShape>,
    next: Option<i64>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = LedgerRow)]
struct LedgerShape {
    id: i64,
    at: String,
    kind: &'static str,
    balance: Amount,
    credit_used: Amount,
    message_id: Option<String>,
    reference: Option<String>,
    note: String,
}

impl LedgerShape {
    fn of(row: LedgerRow) -> LedgerShape {
        let LedgerRow { id, at, kind, balance, credit_used, message, reference, note } = row;
        LedgerShape {
            id,
            at: at.to_iso(),
            kind: kind_text(kind),
            balance: Amount(balance),
            credit_used: Amount(credit_used),
            message_id: message.map(|message| message.to_string()),
            reference,
            note,
        }
    }
}

pub(super) async fn ledger(
    State(desk): State<Arc<Desk>>,
    Named(account): Named<String>,
    Asked(LedgerAsked { before, limit: most }): Asked<LedgerAsked>,
) -> Answer {
    let (before, most) = (cursor("before", before.as_deref())?, limit(most.as_deref())?);
    let (rows, next) = operator::ledger_page(&desk.world, &account, before, most).await?;
    fine(&LedgerPage { items: rows.into_iter().map(LedgerShape::of).collect(), next })
}

#[derive(Serialize, ToSchema)]
#[schema(as = Statement)]
pub(super) struct StatementShape {
    account: String,
    currency: String,
    from: String,
    to: String,
    opening: Standing,
    lines: Vec<LineShape>,
    closing: Standing,
    cut_off: bool,
}

#[derive(Serialize, ToSchema)]
struct Standing {
    balance: Amount,
    credit_used: Amount,
}

impl Standing {
    fn of(Balance { balance, credit_used }: Balance) -> Standing {
        Standing { balance: Amount(balance), credit_used: Amount(credit_used) }
    }
}

/// An entry of the ledger, or what a day's messages cost.
#[derive(Serialize, ToSchema)]
#[schema(as = StatementLine)]
struct LineShape {
    day: String,
    kind: &'static str,
    balance: Amount,
    credit_used: Amount,
    messages: Option<u64>,
    entry: Option<i64>,
    reference: Option<String>,
    note: String,
}

impl LineShape {
    fn of(line: StatementLine) -> LineShape {
        let Balance { balance, credit_used } = line.change();
        let (balance, credit_used) = (Amount(balance), Amount(credit_used));
        match line {
            StatementLine::Entry(LedgerRow { id, at, kind, reference, note, .. }) => LineShape {
                day: at.day().to_string(),
                kind: kind_text(kind),
                balance,
                credit_used,
                messages: None,
                entry: Some(id),
                reference,
                note,
            },
            StatementLine::Charges(DayTotals { day, messages, spend: _ }) => LineShape {
                day: day.to_string(),
                kind: "charges",
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

pub(super) async fn statement(
    State(desk): State<Arc<Desk>>,
    Named(account): Named<String>,
    Asked(days): Asked<Days>,
) -> Answer {
    let (from, to) = days.read()?;
    let (view, statement) = operator::statement(&desk.world, &account, from, to).await?;
    let Statement { opening, lines, closing, cut_off } = statement;
    fine(&StatementShape {
        account,
        currency: view.currency.to_string(),
        from: from.to_string(),
        to: to.to_string(),
        opening: Standing::of(opening),
        lines: lines.into_iter().map(LineShape::of).collect(),
        closing: Standing::of(closing),
        cut_off,
    })
}

#[derive(Serialize, ToSchema)]
#[schema(as = Days)]
pub(super) struct DaysShape {
    items: Vec<DayShape>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Day)]
struct DayShape {
    day: String,
    messages: u64,
    spend: Amount,
}

pub(super) async fn days(
    State(desk): State<Arc<Desk>>,
    Named(account): Named<String>,
    Asked(days): Asked<Days>,
) -> Answer {
    let (from, to) = days.read()?;
    let totals = operator::day_totals(&desk.world, &account, from, to).await?;
    let items = totals.into_iter().map(|DayTotals { day, messages, spend }| DayShape {
        day: day.to_string(),
        messages,
        spend: Amount(spend),
    });
    fine(&DaysShape { items: items.collect() })
}
