//! Money of an account: balance, ledger entries posted by hand, statements, totals by day, traffic of today.

use crate::author::Acting;
use crate::csv::{Cell, push_headings, push_row};
use crate::find::find_account;
use crate::input::{day, invalid, one_of, words};
use crate::money::views::{
    BalanceView, ControlView, DayView, DaysQuery, DaysView, FundsView, LedgerEntryView, LedgerQuery,
    PostRequest, PostedView, StatementLineView, StatementView, TrafficView, ledger_kind_text,
};
use crate::refusal::{OperatorRefusal, Result};
use crate::views::Created;
use crate::views::amount::Amount;
use crate::views::paging::{Limit, Page};
use hermod_domain::catalogue::Terms;
use hermod_domain::ids::AccountId;
use hermod_domain::money::Money;
use hermod_domain::time::Day;
use hermod_gateway::app::AccountBalance;
use hermod_gateway::gateway::Gateway;
use hermod_store::{
    Balance, DAYS_PER_READ_MAX, DayTotals, LedgerEntry, LedgerKind, LedgerRow, PostOutcome, PostRefusal,
    Statement,
};
use serde_json::json;

const NOTE_CHARS_MAX: usize = 500;
const REFERENCE_CHARS_MAX: usize = 128;
/// The kinds of ledger entries that an operator posts.
const POSTED_KINDS: [LedgerKind; 4] =
    [LedgerKind::TopUp, LedgerKind::Adjustment, LedgerKind::Invoice, LedgerKind::Payment];

pub async fn show_balance(gateway: &Gateway, account: &str) -> Result<BalanceView> {
    let id = find_account(gateway, account)?;
    let stored = gateway.store.money().balance(id).await?;
    Ok(balance_view(account, &account_balance(gateway, id, stored)?))
}

pub(crate) fn account_balance(gateway: &Gateway, id: AccountId, stored: Balance) -> Result<AccountBalance> {
    let catalogue = gateway.catalogue();
    let account = catalogue.account(id).ok_or(OperatorRefusal::Failed)?;
    AccountBalance::of(&account.account, stored).ok_or(OperatorRefusal::Failed)
}

fn balance_view(account: &str, balance: &AccountBalance) -> BalanceView {
    let AccountBalance { balance, currency, credit_limit, credit_used, available, terms } = *balance;
    BalanceView {
        account: account.to_owned(),
        currency: currency.to_string(),
        balance: Amount(balance),
        credit_limit: Amount(credit_limit),
        credit_used: Amount(credit_used),
        available: Amount(available),
        payment_terms: terms.as_str().to_owned(),
        postpaid: terms == Terms::Postpaid,
    }
}

/// Posts a ledger entry. A reference that was posted before posts nothing.
pub async fn post_entry(
    gateway: &Acting,
    account: &str,
    request: PostRequest,
) -> Result<Created<PostedView>> {
    let PostRequest { kind, amount, note, reference } = request;
    let kind = one_of("kind", &kind, POSTED_KINDS, ledger_kind_text)?;
    let amount = amount.map(|amount| amount.parse()).transpose().map_err(|rule| invalid("amount", rule))?;
    let note = words("note", note, 0, NOTE_CHARS_MAX)?;
    let reference = reference.map(|text| words("reference", text, 1, REFERENCE_CHARS_MAX)).transpose()?;
    let id = find_account(gateway, account)?;
    // Two concurrent invoices for the whole amount owed must not both post it.
    let _alone = gateway.change_alone().await?;
    let amount = match amount {
        Some(amount) => amount,
        None => match invoice_for_all(gateway, id, account, kind, reference.as_deref()).await? {
            Invoice::For(owed) => owed,
            Invoice::PostedBefore(entry, amount) => {
                let stored = gateway.store.money().balance(id).await?;
                return posted(gateway, id, account, (entry, true, kind, amount, stored));
            }
        },
    };
    let entry = LedgerEntry { account: id, kind, amount, note, reference, now: gateway.clock.now() };
    let detail = json!({ "amount": amount.to_string(), "note": &entry.note, "reference": &entry.reference });
    let action = format!("ledger.{}", ledger_kind_text(kind));
    let audited = gateway.audited(Some(id), &action, account, &detail);
    let (entry, repeated, stored) = match audited.money().post(entry).await? {
        PostOutcome::Posted { entry, balance } => (entry, false, balance),
        PostOutcome::Repeated { entry, balance } => (entry, true, balance),
        PostOutcome::Refused(refusal) => return Err(OperatorRefusal::Posting(refusal)),
    };
    tracing::info!(
        account,
        kind = ledger_kind_text(kind),
        entry,
        repeated,
        "The operator posted a ledger entry"
    );
    posted(gateway, id, account, (entry, repeated, kind, amount, stored))
}

fn posted(
    gateway: &Gateway,
    id: AccountId,
    account: &str,
    (entry, repeated, kind, amount, stored): (i64, bool, LedgerKind, Money, Balance),
) -> Result<Created<PostedView>> {
    let balance = balance_view(account, &account_balance(gateway, id, stored)?);
    let kind = ledger_kind_text(kind).to_owned();
    let view = PostedView { entry, repeated, kind, amount: Amount(amount), balance };
    Ok(Created { view, is_new: !repeated })
}

enum Invoice {
    For(Money),
    PostedBefore(i64, Money),
}

async fn invoice_for_all(
    gateway: &Gateway,
    id: AccountId,
    account: &str,
    kind: LedgerKind,
    reference: Option<&str>,
) -> Result<Invoice> {
    if kind != LedgerKind::Invoice {
        return Err(invalid(
            "amount",
            "is missing; only an invoice can go without, and is then for all that is owed",
        ));
    }
    if let Some(reference) = reference
        && let Some(LedgerRow { id, kind, balance, .. }) =
            gateway.store.money().posted(id, reference.to_owned()).await?
    {
        return match kind {
            LedgerKind::Invoice => Ok(Invoice::PostedBefore(id, balance)),
            _ => Err(OperatorRefusal::Posting(PostRefusal::ReferenceTaken)),
        };
    }
    let balance = gateway.store.money().balance(id).await?.balance;
    match balance.checked_neg() {
        Some(owed) if owed > Money::ZERO => Ok(Invoice::For(owed)),
        _ => Err(OperatorRefusal::NothingOwed { account: account.to_owned(), balance: balance.to_string() }),
    }
}

/// Lists ledger entries, the newest first.
pub async fn list_ledger(
    gateway: &Gateway,
    account: &str,
    query: LedgerQuery,
) -> Result<Page<LedgerEntryView>> {
    let id = find_account(gateway, account)?;
    let limit = Limit::of(query.limit);
    let rows = gateway.store.money().ledger(id, query.before.map(|before| before.signed()), limit).await?;
    Ok(Page::new(rows.into_iter().map(LedgerEntryView::from).collect(), limit))
}

pub async fn show_statement(gateway: &Gateway, account: &str, query: &DaysQuery) -> Result<StatementView> {
    let (from, to) = parse_days(query)?;
    let id = find_account(gateway, account)?;
    let Statement { opening, lines, closing, cut_off } =
        gateway.store.money().statement(id, from, to).await?;
    Ok(StatementView {
        account: account.to_owned(),
        currency: account_balance(gateway, id, closing)?.currency.to_string(),
        from: from.to_string(),
        to: to.to_string(),
        opening: opening.into(),
        lines: lines.into_iter().map(StatementLineView::from).collect(),
        closing: closing.into(),
        cut_off,
    })
}

/// Returns a statement with all its lines: one that was cut off is read again day by day.
pub async fn show_whole_statement(
    gateway: &Gateway,
    account: &str,
    query: &DaysQuery,
) -> Result<StatementView> {
    let mut statement = show_statement(gateway, account, query).await?;
    if !statement.cut_off {
        return Ok(statement);
    }
    let (mut next, last) = parse_days(query)?;
    (statement.lines, statement.cut_off) = (Vec::new(), false);
    while next <= last {
        let one = DaysQuery { from: next.to_string(), to: next.to_string() };
        let of_day = show_statement(gateway, account, &one).await?;
        statement.lines.extend(of_day.lines);
        statement.cut_off |= of_day.cut_off;
        statement.closing = of_day.closing;
        next = next.next();
    }
    Ok(statement)
}

/// Writes a statement as CSV: opening balance, lines, closing balance.
pub fn statement_csv(statement: &StatementView) -> String {
    let mut csv = String::new();
    push_headings(
        &mut csv,
        &["day", "line", "balance", "credit_used", "messages", "entry", "reference", "note", "currency"],
    );
    let StatementView { currency, from, to, opening, lines, closing, .. } = statement;
    let funds = |csv: &mut String, day: &str, line: &str, funds: &FundsView| {
        let amount = |amount: Amount| Cell::Number(amount.to_string());
        let cells = [Cell::Text(day), Cell::Text(line), amount(funds.balance), amount(funds.credit_used)];
        let rest = [Cell::Empty, Cell::Empty, Cell::Empty, Cell::Empty, Cell::Text(currency)];
        push_row(csv, &cells.into_iter().chain(rest).collect::<Vec<_>>());
    };
    funds(&mut csv, from, "opening", opening);
    for line in lines {
        let StatementLineView { day, kind, balance, credit_used, messages, entry, reference, note } = line;
        push_row(
            &mut csv,
            &[
                Cell::Text(day),
                Cell::Text(kind),
                Cell::Number(balance.to_string()),
                Cell::Number(credit_used.to_string()),
                Cell::number(*messages),
                Cell::number(*entry),
                Cell::text(reference.as_ref()),
                Cell::Text(note),
                Cell::Text(currency),
            ],
        );
    }
    funds(&mut csv, to, "closing", closing);
    csv
}

/// Lists the days that have messages.
pub async fn list_days(gateway: &Gateway, account: &str, query: &DaysQuery) -> Result<DaysView> {
    let (from, to) = parse_days(query)?;
    let id = find_account(gateway, account)?;
    let totals = gateway.store.money().day_totals(id, from, to).await?;
    Ok(DaysView { items: totals.into_iter().map(DayView::from).collect() })
}

fn parse_days(query: &DaysQuery) -> Result<(Day, Day)> {
    let (from, to) = (day("from", &query.from)?, day("to", &query.to)?);
    if to < from {
        return Err(invalid("to", format!("{to} is before {from}")));
    }
    if to.get() - from.get() >= DAYS_PER_READ_MAX {
        return Err(invalid("to", format!("{from} to {to} is more than {DAYS_PER_READ_MAX} days")));
    }
    Ok((from, to))
}

/// Returns what an account sent today, beside its traffic controls.
pub async fn show_traffic(gateway: &Gateway, account: &str) -> Result<TrafficView> {
    let id = find_account(gateway, account)?;
    let today = gateway.clock.now().day();
    let totals = gateway.store.money().day_totals(id, today, today).await?;
    let DayTotals { day, messages, spend } = totals.first().copied().unwrap_or(DayTotals::none(today));
    let catalogue = gateway.catalogue();
    let controls = catalogue.account(id).map(|account| account.controls()).unwrap_or_default();
    let controls = controls
        .iter()
        .map(|control| ControlView::new(control.clone(), gateway.watched.times(id, &control.name)));
    Ok(TrafficView { day: day.to_string(), messages, spend: Amount(spend), controls: controls.collect() })
}
