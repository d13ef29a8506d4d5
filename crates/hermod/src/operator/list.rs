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
mod tests {
    use super::*;
    use hermod_operator::inbound::{GivenUpView, UnassignedView};
    use hermod_operator::maintenance::SetAsideView;
    use hermod_operator::webhook::views::EventView;

    #[track_caller]
    fn check<T: ListedView + Paged + DeserializeOwned>(json: &str, next: NextPage, expect: &str) {
        let page: Page<T> = serde_json::from_str(json).unwrap();
        assert_eq!(page_text(&page, next), expect);
    }

    #[test]
    fn page_of_reports_has_a_row_for_each_and_names_the_next_page() {
        let json = r#"{"items": [{"number": 7, "account": "shop", "system_id": "shop", "message_id": "1234", "stat": "DELIVRD",
            "at": "2026-06-12T12:00:00Z", "given_up_at": "2026-06-15T12:00:01Z", "why": "not acknowledged"}], "next": 7}"#;
        let expect = "\
MESSAGE  ACCOUNT  SYSTEM ID  STAT     SINCE                 GIVEN UP              WHY
1234     shop     shop       DELIVRD  2026-06-12T12:00:00Z  2026-06-15T12:00:01Z  not acknowledged

More rows: --after 7
";
        check::<GivenUpView>(json, NextPage::After, expect);
        check::<GivenUpView>(
            r#"{"items": [], "next": null}"#,
            NextPage::After,
            "No reports were given up.\n",
        );
    }

    #[test]
    fn row_that_was_set_aside_shows_its_part_if_it_has_one() {
        let json = r#"{"items": [
            {"number": 7, "at": "2026-06-12T12:00:00Z", "reason": "part 2: 99 is not a known state", "carrier": 1, "account": 3,
             "message_id": "1234", "part": {"no": 2, "state": 99, "doubts": 0, "resend": 3, "attempts": 0, "due_at": 0,
             "expires_at": 5}},
            {"number": 8, "at": "2026-06-12T12:00:00Z", "reason": "a status", "carrier": 1, "account": 3,
             "message_id": "1235", "part": null}], "next": 8}"#;
        let expect = "\
NUMBER  MESSAGE  PART  STATE  ACCOUNT  CARRIER  SET ASIDE             REASON
     7  1234        2     99        3        1  2026-06-12T12:00:00Z  part 2: 99 is not a known state
     8  1235                        3        1  2026-06-12T12:00:00Z  a status

More rows: --after 8
";
        check::<SetAsideView>(json, NextPage::After, expect);
    }

    #[test]
    fn cursor_may_be_a_text() {
        let json = r#"{"items": [{"message_id": "1234", "carrier": "acme", "from": "+4915112345678", "to": "80800",
            "text": "hello", "received_at": "2026-06-12T12:00:00Z"}], "next": "1234"}"#;
        let expect = "\
MESSAGE  RECEIVED              CARRIER  FROM            TO     TEXT
1234     2026-06-12T12:00:00Z  acme     +4915112345678  80800  hello

More rows: --after 1234
";
        check::<UnassignedView>(json, NextPage::After, expect);
    }

    #[test]
    fn page_of_webhook_events_continues_before_the_last() {
        let json = r#"{"items": [{"event": "evt_7", "kind": "dlr", "message_id": "1234", "status": "DELIVRD", "state": "failed",
            "why": "every attempt failed", "attempts": 6, "at": "2026-11-15T09:30:00Z", "due_at": null,
            "ended_at": "2026-11-16T07:06:00Z"}], "next": 7}"#;
        let expect = "\
EVENT  KIND  MESSAGE  STATUS   SINCE                 STATE   ATTEMPTS  NEXT OR END           WHY
evt_7  dlr   1234     DELIVRD  2026-11-15T09:30:00Z  failed         6  2026-11-16T07:06:00Z  every attempt failed

More rows: --before 7
";
        check::<EventView>(json, NextPage::Before, expect);
    }
}
