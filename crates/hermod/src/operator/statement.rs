//! `hermod account ledger` and `hermod account statement`: the changes of an account's money.

use super::entries;
use super::list::{Column, ListFormat, NextPage, print_page, table_of};
use super::operator_client::{OperatorClient, with_query};
use super::tables::change;
use crate::failure::CommandResult;
use crate::output::Align::{Left, Right};
use clap::Args;
use hermod_gateway::clock::Clock;
use hermod_operator::kind::Kind;
use hermod_operator::money::use_cases::statement_csv;
use hermod_operator::money::views::{
    DaysQuery, FundsView, LedgerEntryView, LedgerQuery, StatementLineView, StatementView,
};
use hermod_operator::views::paging::{Limit, RowNumber};

#[derive(Args)]
pub(super) struct LedgerArgs {
    /// The account
    name: String,
    /// Only entries before this id; the last line of a page has it
    #[arg(long, value_name = "ID")]
    before: Option<RowNumber>,
    /// Rows of a page, 1 to 1000
    #[arg(long, value_name = "N", default_value = "50")]
    limit: Limit,
    #[command(flatten)]
    format: ListFormat,
}

impl LedgerArgs {
    pub(super) async fn run(self, client: &OperatorClient) -> CommandResult {
        let LedgerArgs { name, before, limit, format } = self;
        let path = format!("{}/ledger", entries::path(Kind::Account, &name));
        let query = LedgerQuery { before, limit: Some(limit) };
        print_page::<LedgerEntryView>(client, &path, &query, NextPage::Before, format).await
    }
}

#[derive(Args)]
pub(super) struct StatementArgs {
    /// The account
    name: String,
    /// The first UTC day, such as 2026-11-01 [default: the first day of this month]
    #[arg(long, value_name = "DAY")]
    from: Option<String>,
    /// The last UTC day [default: today]
    #[arg(long, value_name = "DAY")]
    to: Option<String>,
    #[command(flatten)]
    format: ListFormat,
}

impl StatementArgs {
    pub(super) async fn run(self, client: &OperatorClient) -> CommandResult {
        let StatementArgs { name, from, to, format } = self;
        let today = Clock::real().now().day().to_string();
        let from = from.unwrap_or_else(|| format!("{}-01", &today[..7]));
        let query = DaysQuery { from, to: to.unwrap_or(today) };
        let path = format!("{}/statement", entries::path(Kind::Account, &name));
        let response = client.get(&with_query(&path, &query)).await?;
        client.print(&response, |statement: StatementView| match format.csv {
            true => statement_csv(&statement),
            false => statement_text(&statement),
        })
    }
}

/// A row of a statement: day, what, messages, balance, credit used, reference, note.
type Row = [String; 7];

const COLUMNS: [Column<Row>; 7] = [
    ("day", Left, |row| row[0].clone()),
    ("what", Left, |row| row[1].clone()),
    ("messages", Right, |row| row[2].clone()),
    ("balance", Right, |row| row[3].clone()),
    ("credit used", Right, |row| row[4].clone()),
    ("reference", Left, |row| row[5].clone()),
    ("note", Left, |row| row[6].clone()),
];

fn statement_text(statement: &StatementView) -> String {
    let StatementView { account, currency, from, to, opening, lines, closing, cut_off } = statement;
    let funds = |day: &str, what: &str, funds: &FundsView| -> Row {
        let (balance, used) = (funds.balance.to_string(), funds.credit_used.to_string());
        [day.to_owned(), what.to_owned(), String::new(), balance, used, String::new(), String::new()]
    };
    let line = |line: &StatementLineView| -> Row {
        [
            line.day.clone(),
            line.kind.clone(),
            line.messages.map(|count| count.to_string()).unwrap_or_default(),
            change(line.balance),
            change(line.credit_used),
            line.reference.clone().unwrap_or_default(),
            line.note.clone(),
        ]
    };
    let mut rows = vec![funds(from, "opening", opening)];
    rows.extend(lines.iter().map(line));
    rows.push(funds(to, "closing", closing));
    let table = table_of(&COLUMNS, &rows, "");
    let mut text = format!("Account {account}, {from} to {to}, in {currency}\n\n{table}");
    if *cut_off {
        text.push_str("\nThere are more lines than fit: choose fewer days.\n");
    }
    text
}
