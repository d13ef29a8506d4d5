//! `hermod set-aside`: rows of the database that make no sense.

use super::place::{Absent, Place};
use crate::ending::Ended;
use crate::show::Align::{Left, Right};
use crate::show::Table;
use clap::{Args, Subcommand};
use serde::Deserialize;

const EXAMPLES: &str = "\
Examples:
  hermod set-aside list
  hermod set-aside list --after 100";

/// See which messages cannot be sent because their rows in the database make no sense
#[derive(Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct SetAside {
    #[command(flatten)]
    place: Place,
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Rows that were set aside, with the reason; docs/alarms.md says how to repair them
    #[command(after_help = EXAMPLES)]
    List {
        /// Those behind this number, as the last line of a page says
        #[arg(long, value_name = "N")]
        after: Option<u64>,
        /// So many at most
        #[arg(long, value_name = "N", default_value = "100")]
        limit: u32,
    },
}

#[derive(Deserialize)]
struct Page {
    items: Vec<Row>,
    next: Option<i64>,
}

#[derive(Deserialize)]
struct Row {
    number: i64,
    at: String,
    reason: String,
    carrier: i64,
    account: i64,
    message_id: String,
    part: Option<Part>,
}

#[derive(Deserialize)]
struct Part {
    no: i64,
    state: i64,
}

impl SetAside {
    pub(crate) fn run(self) -> Ended {
        let SetAside { place, what: What::List { after, limit } } = self;
        let after = after.map(|after| format!("&after={after}")).unwrap_or_default();
        place.work(Absent::Refuse, async move |desk| {
            let answer = desk.get(&format!("/set-aside?limit={limit}{after}")).await?;
            desk.tell(&answer, |page: Page| told(&page))
        })
    }
}

fn told(Page { items, next }: &Page) -> String {
    let mut table = Table::new(&[
        ("number", Right),
        ("message", Left),
        ("part", Right),
        ("state", Right),
        ("account", Right),
        ("carrier", Right),
        ("set aside", Left),
        ("reason", Left),
    ]);
    for Row { number, at, reason, carrier, account, message_id, part } in items {
        let part = part.as_ref();
        table.row([
            number.to_string(),
            message_id.clone(),
            part.map(|part| part.no.to_string()).unwrap_or_default(),
            part.map(|part| part.state.to_string()).unwrap_or_default(),
            account.to_string(),
            carrier.to_string(),
            at.clone(),
            reason.clone(),
        ]);
    }
    let mut text = table.text("Nothing is set aside.");
    if let Some(next) = next {
        text.push_str(&format!("\nThere may be more: --after {next}\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_of_rows_set_aside_lines_up_and_names_the_next() {
        let page = r#"{"items": [
            {"number": 7, "at": "2026-06-12T12:00:00Z", "reason": "part 2: 99 is not a known state", "carrier": 1, "account": 3,
             "message_id": "1234", "part": {"no": 2, "state": 99, "doubts": 0, "resend": 3, "attempts": 0, "due_at": 0,
             "expires_at": 5}},
            {"number": 8, "at": "2026-06-12T12:00:00Z", "reason": "a wish", "carrier": 1, "account": 3, "message_id": "1235",
             "part": null}], "next": 8}"#;
        let expect = "\
NUMBER  MESSAGE  PART  STATE  ACCOUNT  CARRIER  SET ASIDE             REASON
     7  1234        2     99        3        1  2026-06-12T12:00:00Z  part 2: 99 is not a known state
     8  1235                        3        1  2026-06-12T12:00:00Z  a wish

There may be more: --after 8
";
        assert_eq!(told(&serde_json::from_str(page).unwrap()), expect);
        assert_eq!(told(&Page { items: Vec::new(), next: None }), "Nothing is set aside.\n");
    }
}
