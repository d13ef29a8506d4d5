//! Balance, ledger, statements and low-balance warnings of an account.

use crate::forms::Field;
use crate::layout::{NavEntry, Shell};
use crate::numbers::{amount, grouped};
use crate::request::extract::{Before, MemberForm, Path, Query};
use crate::request::member::Member;
use crate::request::reply::{NoPage, Reply, csv, fault, page, page_again};
use crate::request::shown::{runway_days, runway_words, signed, time_of};
use crate::time::Time;
use askama::Template;
use hermod_domain::money::Money;
use hermod_domain::permission::Permission;
use hermod_domain::shown_number::NumberKind;
use hermod_domain::time::Day;
use hermod_operator::kind::Kind;
use hermod_operator::money::use_cases;
use hermod_operator::money::use_cases::{
    list_days, list_ledger, show_balance, show_whole_statement, statement_csv,
};
use hermod_operator::money::views::{
    DayView, DaysQuery, LedgerEntryView, LedgerQuery, StatementLineView, StatementView,
};
use hermod_operator::refusal::OperatorRefusal;
use hermod_operator::views::paging::Limit;
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

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

/// Ledger entries of a page.
const ROWS: u32 = 50;
/// Lines of a statement on a page. The CSV has all.
const LINES_MAX: usize = 1_000;
/// How far back statements are listed.
const DAYS_LISTED: i64 = 365;

/// `GET /accounts/{account}/billing`.
pub(crate) async fn show(member: Member, Query(Before { before }): Query<Before>) -> Reply {
    member.require(Permission::ReadMoney)?;
    Ok(page(&billing(&member, before).await?))
}

async fn billing(member: &Member, before: Option<u64>) -> Result<BillingPage, NoPage> {
    let gateway = member.gateway();
    let account = &member.account_name;
    let before = member.row_number(NumberKind::LedgerRow, before);
    let query = LedgerQuery { before, limit: Limit::try_from(ROWS.to_string()).ok() };
    let ledger = list_ledger(gateway, account, query).await?;
    let shell = member.shell(NavEntry::Billing);
    Ok(BillingPage {
        funds: funds(member).await?,
        warnings: member.may(Permission::ChangeMoney).then(|| warnings(member)),
        next: member.next_rows("billing", NumberKind::LedgerRow, ledger.next.map(i64::unsigned_abs)),
        ledger: ledger.items.into_iter().map(ledger_row).collect(),
        months: months(member).await?,
        shell,
    })
}

async fn funds(member: &Member) -> Result<Funds, NoPage> {
    let balance = show_balance(member.gateway(), &member.account_name).await?;
    let catalogue = member.gateway().catalogue();
    let minimum = catalogue.account(member.account).map(|view| view.account.minimum);
    Ok(Funds {
        runway: runway_days(member, balance.available.0).await?.map(runway_words),
        available: amount(&balance.available.to_string()),
        balance: amount(&balance.balance.to_string()),
        credit_limit: amount(&balance.credit_limit.to_string()),
        credit_used: amount(&balance.credit_used.to_string()),
        minimum: minimum.filter(|least| *least != Money::ZERO).map(|least| amount(&least.to_string())),
        currency: balance.currency,
        terms: balance.payment_terms,
    })
}

fn warnings(member: &Member) -> Warnings {
    let catalogue = member.gateway().catalogue();
    let account = catalogue.account(member.account).map(|view| &view.account);
    let field =
        |amount: Option<Money>| Field::new(amount.map(|amount| amount.to_string()).unwrap_or_default());
    Warnings {
        warn_at: field(account.and_then(|account| account.warn_below)),
        urgent_at: field(account.and_then(|account| account.urgent_below)),
    }
}

fn ledger_row(view: LedgerEntryView) -> BillingRow {
    BillingRow {
        at: time_of(&view.at),
        kind: kind_words(&view.kind),
        note: with_credit(view.note, view.credit_used.0),
        reference: view.reference,
        message: view.message_id,
        is_credit: view.balance.0 > Money::ZERO,
        amount: signed(view.balance),
    }
}

/// Adds a change of the credit in use to a note.
fn with_credit(note: String, credit_used: Money) -> String {
    if credit_used == Money::ZERO {
        return note;
    }
    let between = if note.is_empty() { "" } else { ", " };
    format!("{note}{between}credit used {}", signed(hermod_operator::views::amount::Amount(credit_used)))
}

fn kind_words(kind: &str) -> String {
    let words = match kind {
        "top-up" => "Top-up",
        "refund" => "Refund",
        "adjustment" => "Adjustment",
        "invoice" => "Invoice",
        "payment" => "Payment",
        "charges" => "Charges",
        "rolled-up-costs" => "Costs of messages whose record was deleted",
        "rolled-up-refunds" => "Refunds of messages whose record was deleted",
        other => other,
    };
    words.to_owned()
}

/// Returns the months with messages of the last year, and the present one.
async fn months(member: &Member) -> Result<Vec<Month>, OperatorRefusal> {
    let today = member.gateway().clock.now().day();
    let query = DaysQuery { from: Day::new(today.get() - DAYS_LISTED).to_string(), to: today.to_string() };
    let days = list_days(member.gateway(), &member.account_name, &query).await?;
    let mut sums: BTreeMap<String, (u64, Money)> = BTreeMap::new();
    sums.insert(month_of(&today.to_string()).to_owned(), (0, Money::ZERO));
    for DayView { day, messages, spend } in days.items {
        let sum = sums.entry(month_of(&day).to_owned()).or_insert((0, Money::ZERO));
        sum.0 += messages;
        sum.1 = sum.1.checked_add(spend.0).unwrap_or(sum.1);
    }
    let month = |(path, (messages, spend)): (String, (u64, Money))| Month {
        label: month_words(&path),
        messages: grouped(messages),
        spend: amount(&spend.to_string()),
        path,
    };
    Ok(sums.into_iter().rev().map(month).collect())
}

fn month_of(day: &str) -> &str {
    day.get(..7).unwrap_or(day)
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Returns `November 2026` for `2026-11`.
fn month_words(month: &str) -> String {
    let (year, number) = month.split_once('-').unwrap_or((month, ""));
    let name = number.parse::<usize>().ok().and_then(|number| MONTHS.get(number.checked_sub(1)?));
    name.map_or_else(|| month.to_owned(), |name| format!("{name} {year}"))
}

#[derive(Deserialize)]
pub(crate) struct WarningsForm {
    #[serde(default)]
    warn_at: String,
    #[serde(default)]
    urgent_at: String,
}

/// `POST /accounts/{account}/billing/warnings`.
pub(crate) async fn save_warnings(
    MemberForm { member, form: WarningsForm { warn_at, urgent_at } }: MemberForm<WarningsForm>,
) -> Reply {
    member.require(Permission::ChangeMoney)?;
    let parsed = [parse(&warn_at), parse(&urgent_at)];
    let (warn, urgent) = match parsed {
        [Ok(warn), Ok(urgent)] => (warn, urgent),
        [warn, urgent] => {
            let errors = [warn.err(), urgent.err()];
            return invalid(&member, [warn_at, urgent_at], errors).await;
        }
    };
    let fields = [("warn_below", warn), ("urgent_below", urgent)];
    match member.patch(Kind::Account, &member.account_name, fields).await {
        Ok(()) => Ok(member.done("billing", "warnings-saved")),
        Err(refusal) => {
            // The entry names itself; the page is about one account only.
            let error = match (parse_money(&warn_at), parse_money(&urgent_at)) {
                (Some(warn), Some(urgent)) if urgent >= warn => {
                    format!("Must be less than the first warning, {}.", amount(&warn.to_string()))
                }
                _ => fault(refusal)?,
            };
            invalid(&member, [warn_at, urgent_at], [None, Some(error)]).await
        }
    }
}

fn parse_money(text: &str) -> Option<Money> {
    Money::parse(text.trim()).ok()
}

/// Returns an amount for a patch; null if the field is empty.
fn parse(text: &str) -> Result<Value, String> {
    if text.trim().is_empty() {
        return Ok(Value::Null);
    }
    match parse_money(text) {
        Some(money) if !money.is_negative() => Ok(Value::from(money.to_string())),
        _ => Err("Enter an amount such as 200 or 49.50, or nothing.".to_owned()),
    }
}

async fn invalid(member: &Member, texts: [String; 2], errors: [Option<String>; 2]) -> Reply {
    let mut page = billing(member, None).await?;
    let [warn_at, urgent_at] = texts;
    let [warn_error, urgent_error] = errors;
    page.warnings = Some(Warnings {
        warn_at: Field { value: warn_at, error: warn_error },
        urgent_at: Field { value: urgent_at, error: urgent_error },
    });
    Ok(page_again(&page))
}

/// `GET /accounts/{account}/billing/statements/{month}`, and with `.csv` at its end as a file.
pub(crate) async fn show_statement(Path(names): Path<HashMap<String, String>>, member: Member) -> Reply {
    member.require(Permission::ReadMoney)?;
    let name = names.get("month").ok_or(NoPage::NotFound)?;
    let (month, is_csv) = name.strip_suffix(".csv").map_or((name.as_str(), false), |month| (month, true));
    let days = days_of(month).ok_or(NoPage::NotFound)?;
    let account = &member.account_name;
    if is_csv {
        let mut statement = show_whole_statement(member.gateway(), account, &days).await?;
        for entry in statement.lines.iter_mut().filter_map(|line| line.entry.as_mut()) {
            let shown = member.gateway().numbers.show(NumberKind::LedgerRow, entry.unsigned_abs());
            *entry = shown.try_into().unwrap_or(i64::MAX);
        }
        // Names of accounts are plain words.
        return Ok(csv(&format!("statement-{account}-{month}"), statement_csv(&statement)));
    }
    let statement = use_cases::show_statement(member.gateway(), account, &days).await?;
    Ok(page(&statement_page(&member, month, statement)))
}

/// Returns the days of a month such as `2026-11`.
fn days_of(month: &str) -> Option<DaysQuery> {
    let first = Day::parse(&format!("{month}-01")).filter(|_| month.len() == 7)?;
    let next = first.start().plus_months(1)?.day();
    Some(DaysQuery { from: first.to_string(), to: Day::new(next.get() - 1).to_string() })
}

fn statement_page(member: &Member, month: &str, view: StatementView) -> StatementPage {
    let shell = member.shell(NavEntry::Billing);
    let is_cut_off = view.cut_off || view.lines.len() > LINES_MAX;
    StatementPage {
        month: month_words(month),
        currency: view.currency,
        opening: amount(&view.opening.balance.to_string()),
        lines: view.lines.into_iter().take(LINES_MAX).map(statement_row).collect(),
        closing: amount(&view.closing.balance.to_string()),
        is_cut_off,
        csv: shell.path_to("billing/statements", &format!("{month}.csv")),
        shell,
    }
}

fn statement_row(line: StatementLineView) -> StatementRow {
    let StatementLineView { day, kind, balance, credit_used, messages, entry: _, reference, note } = line;
    let messages = messages.map(|count| match count {
        1 => "1 message".to_owned(),
        count => format!("{} messages", grouped(count)),
    });
    let note = [Some(note).filter(|note| !note.is_empty()), messages, reference];
    let note = note.into_iter().flatten().collect::<Vec<_>>().join(", ");
    StatementRow {
        day: day_words(&day),
        kind: kind_words(&kind),
        note: with_credit(note, credit_used.0),
        amount: signed(balance),
    }
}

/// Returns `15 Nov` for `2026-11-15`.
fn day_words(day: &str) -> String {
    let mut parts = day.split('-').skip(1).filter_map(|part| part.parse::<usize>().ok());
    let (month, number) = (parts.next(), parts.next());
    let name = month.and_then(|month| MONTHS.get(month.checked_sub(1)?)).and_then(|name| name.get(..3));
    match (name, number) {
        (Some(name), Some(number)) => format!("{number} {name}"),
        _ => day.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_and_days_are_said_in_words() {
        assert_eq!(month_words("2026-11"), "November 2026");
        assert_eq!(month_words("2026-13"), "2026-13");
        assert_eq!(day_words("2026-11-05"), "5 Nov");
        let days = days_of("2028-02").unwrap();
        assert_eq!((days.from.as_str(), days.to.as_str()), ("2028-02-01", "2028-02-29"));
        for wrong in ["2026-13", "2026-1", "2026-11-01", "", "x", "2026-11/.."] {
            assert!(days_of(wrong).is_none(), "{wrong}");
        }
    }
}
