//! Lists of views as tables: columns, paging, `--json` and `--csv` are the same for every list. With `--watch`, a list is
//! printed every second.

use super::operator_client::{OperatorClient, with_query};
use crate::client::ApiResponse;
use crate::failure::{CommandResult, Failure};
use crate::output::{self, Align, TextTable};
use clap::Args;
use hermod_gateway::clock::Clock;
use hermod_operator::views::amount::Amount;
use hermod_operator::views::csv_rows::{self, CsvView};
use hermod_operator::views::masking::{HandsetNumber, MessageText, NamesHandsets};
use hermod_operator::views::paging::{Limit, Page, Paged};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::time::Duration;

const WATCH_INTERVAL: Duration = Duration::from_secs(1);
/// Clears the terminal.
const CLEAR: &str = "\x1b[2J\x1b[H";

// Without a doc comment: it would become the text about every command that prints a list.
#[derive(Args, Clone, Copy)]
pub(crate) struct ListFormat {
    /// Print all rows as CSV, not only a page: a column for each field of --json, in full
    #[arg(long, conflicts_with = "json", help_heading = "Output")]
    pub(super) csv: bool,
}

/// The heading of a column, its alignment, and the cell of a row.
pub(super) type Column<T> = (&'static str, Align, fn(&T) -> String);

/// A view that is printed as a row of a table.
pub(super) trait ListedView: Sized + 'static {
    const COLUMNS: &'static [Column<Self>];
    /// What is printed in place of an empty table.
    const EMPTY: &'static str;
}

/// Makes a view a row of a table. A column is a field, its heading if that is not the name of the field, or a heading with its
/// alignment and what its cells show.
macro_rules! listed {
    ($view:ident or $empty:literal: $($columns:tt)*) => {
        impl $crate::operator::list::ListedView for $view {
            const COLUMNS: &'static [$crate::operator::list::Column<$view>] =
                $crate::operator::list::columns!($view [] $($columns)*,);
            const EMPTY: &'static str = $empty;
        }
    };
}

macro_rules! columns {
    ($view:ident [$($done:tt)*] $(,)?) => { &[$($done)*] };
    ($view:ident [$($done:tt)*] $field:ident, $($rest:tt)*) => {
        $crate::operator::list::columns!($view [$($done)*] $field as (stringify!($field)), $($rest)*)
    };
    ($view:ident [$($done:tt)*] $field:ident as $heading:tt, $($rest:tt)*) => {
        $crate::operator::list::columns!($view [
            $($done)* ($heading, $crate::operator::list::align_of(|row: &$view| &row.$field), |row| row.$field.cell()),
        ] $($rest)*)
    };
    ($view:ident [$($done:tt)*] $heading:literal $align:ident |$row:ident| $cell:expr, $($rest:tt)*) => {
        $crate::operator::list::columns!($view [$($done)* ($heading, $crate::output::Align::$align, |$row| $cell),] $($rest)*)
    };
}

pub(super) use {columns, listed};

/// A value of a view that a column shows.
pub(super) trait CellValue {
    const ALIGN: Align;

    fn cell(&self) -> String;
}

macro_rules! cell_values {
    ($($align:ident: $($value:ty),*;)*) => {$($(
        impl CellValue for $value {
            const ALIGN: Align = Align::$align;

            fn cell(&self) -> String {
                self.to_string()
            }
        }
    )*)*};
}

cell_values! {
    Left: String, HandsetNumber, MessageText, NamesHandsets;
    Right: u8, u16, u32, u64, i64, Amount;
}

/// Nothing is an empty cell.
impl<T: CellValue> CellValue for Option<T> {
    const ALIGN: Align = T::ALIGN;

    fn cell(&self) -> String {
        self.as_ref().map(T::cell).unwrap_or_default()
    }
}

/// Returns how a column of these values stands.
pub(super) const fn align_of<T, V: CellValue>(_: fn(&T) -> &V) -> Align {
    V::ALIGN
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

impl NextPage {
    const fn parameter(self) -> &'static str {
        match self {
            NextPage::After => "after",
            NextPage::Before => "before",
        }
    }
}

/// Prints one page of a list, and how to get the next one; as CSV, this page and all after it.
pub(super) async fn print_page<T: ListedView + Paged + Serialize + DeserializeOwned>(
    client: &OperatorClient,
    path: &str,
    query: &impl Serialize,
    next: NextPage,
    format: ListFormat,
) -> CommandResult {
    if format.csv {
        return print_pages_as_csv::<T>(client, path, query, next).await;
    }
    let response = client.get(&with_query(path, query)).await?;
    client.print(&response, |page: Page<T>| page_text(&page, next))
}

async fn print_pages_as_csv<T: Paged + Serialize + DeserializeOwned>(
    client: &OperatorClient,
    path: &str,
    query: &impl Serialize,
    next: NextPage,
) -> CommandResult {
    let query = serde_urlencoded::to_string(query).expect("a query has texts and numbers");
    let mut query: BTreeMap<String, String> =
        serde_urlencoded::from_str(&query).expect("it was just written");
    query.insert("limit".to_owned(), u32::from(Limit::MAX).to_string());
    output::print(&csv_rows::headings::<T>())?;
    loop {
        let response = client.get(&with_query(path, &query)).await?;
        let page: Page<T> = response.read_as().map_err(Failure::failed)?;
        output::print(&csv_rows::rows(&page.items))?;
        match page.next {
            Some(cursor) => query.insert(next.parameter().to_owned(), cursor.to_string()),
            None => return Ok(()),
        };
    }
}

/// Prints a list that has no pages: its rows as CSV, the JSON of the response, or a text.
pub(super) fn print_list<V: DeserializeOwned, T: CsvView>(
    client: &OperatorClient,
    response: &ApiResponse,
    format: ListFormat,
    rows: impl Fn(&V) -> Vec<T>,
    text: impl FnOnce(V) -> String,
) -> CommandResult {
    client.print(response, |view: V| if format.csv { csv_rows::file(&rows(&view)) } else { text(view) })
}

fn page_text<T: ListedView + Paged>(page: &Page<T>, next: NextPage) -> String {
    let mut text = table(&page.items);
    if let Some(cursor) = &page.next {
        text.push_str(&format!("\nMore rows: --{} {cursor}\n", next.parameter()));
    }
    text
}

/// Prints a list once, or every second with `watch`.
pub(super) async fn print_or_watch<V: DeserializeOwned, T: CsvView>(
    client: &OperatorClient,
    path: &str,
    watch: bool,
    format: ListFormat,
    rows: impl Fn(&V) -> Vec<T>,
    text: impl Fn(V) -> String,
) -> CommandResult {
    if !watch {
        return print_list(client, &client.get(path).await?, format, rows, text);
    }
    let clock = Clock::real();
    loop {
        let response = client.get(path).await?;
        if client.json {
            output::print_json(&response.body)?;
        } else {
            output::print(&format!("{CLEAR}{}", text(response.read_as().map_err(Failure::failed)?)))?;
        }
        clock.sleep(WATCH_INTERVAL).await;
    }
}

#[cfg(test)]
#[path = "list_tests.rs"]
mod tests;
