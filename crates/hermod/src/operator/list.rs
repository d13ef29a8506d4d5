//! Lists of views as tables: columns, paging and `--json` are the same for every list. With `--watch`, a list is printed
//! every second.

use super::operator_client::{OperatorClient, with_query};
use crate::failure::{CommandResult, Failure};
use crate::output::{self, Align, TextTable};
use hermod_gateway::clock::Clock;
use hermod_operator::views::paging::{Page, Paged};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::time::Duration;

const WATCH_INTERVAL: Duration = Duration::from_secs(1);
/// Clears the terminal.
const CLEAR: &str = "\x1b[2J\x1b[H";

/// The heading of a column, its alignment, and the cell of a row.
pub(super) type Column<T> = (&'static str, Align, fn(&T) -> String);

/// A view that is printed as a row of a table.
pub(super) trait ListedView: Sized + 'static {
    const COLUMNS: &'static [Column<Self>];
    /// What is printed in place of an empty table.
    const EMPTY: &'static str;
}

/// The option that continues a list at the next page.
#[derive(Clone, Copy)]
pub(super) enum NextPage {
    After,
    Before,
}

pub(super) fn table<T: ListedView>(items: &[T]) -> String {
    table_of(T::COLUMNS, items, T::EMPTY)
}

pub(super) fn table_of<T>(columns: &[Column<T>], items: &[T], empty: &str) -> String {
    let headings: Vec<(&str, Align)> = columns.iter().map(|(name, align, _)| (*name, *align)).collect();
    let mut table = TextTable::new(&headings);
    for item in items {
        table.row(columns.iter().map(|(_, _, cell)| cell(item)));
    }
    table.text(empty)
}

/// Prints one page of a list, and how to get the next one.
pub(super) async fn print_page<T: ListedView + Paged + DeserializeOwned>(
    client: &OperatorClient,
    path: &str,
    query: &impl Serialize,
    next: NextPage,
) -> CommandResult {
    let response = client.get(&with_query(path, query)).await?;
    client.print(&response, |page: Page<T>| page_text(&page, next))
}

fn page_text<T: ListedView + Paged>(page: &Page<T>, next: NextPage) -> String {
    let mut text = table(&page.items);
    if let Some(cursor) = &page.next {
        let option = match next {
            NextPage::After => "--after",
            NextPage::Before => "--before",
        };
        text.push_str(&format!("\nMore rows: {option} {cursor}\n"));
    }
    text
}

/// Prints a view once, or every second with `watch`.
pub(super) async fn print_or_watch<T: DeserializeOwned>(
    client: &OperatorClient,
    path: &str,
    watch: bool,
    text: impl Fn(T) -> String,
) -> CommandResult {
    let clock = Clock::real();
    let before = if watch { CLEAR } else { "" };
    loop {
        let response = client.get(path).await?;
        if client.json {
            output::print_json(&response.body)?;
        } else {
            output::print(&format!("{before}{}", text(response.read_as().map_err(Failure::failed)?)))?;
        }
        if !watch {
            return Ok(());
        }
        clock.sleep(WATCH_INTERVAL).await;
    }
}

#[cfg(test)]
#[path = "list_tests.rs"]
mod tests;
