//! `hermod unowned`: messages from handsets that no account owns, and whose they shall be.

use super::desk::Body;
use super::place::{Absent, Place};
use crate::client::escape;
use crate::ending::Ended;
use crate::show::Align::Left;
use crate::show::{self, Table};
use clap::{Args, Subcommand};
use hyper::Method;
use serde::Deserialize;
use serde_json::json;

const EXAMPLES: &str = "\
Examples:
  hermod unowned list
  hermod unowned assign 15526526976000001 shop";

/// See messages from handsets that are nobody's, and give them to an account
#[derive(Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct Unowned {
    #[command(flatten)]
    place: Place,
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Messages to a number that no account owns, from handsets that none wrote to from it; kept for 30 days
    #[command(
        after_help = "Examples:\n  hermod unowned list\n  hermod unowned list --after 15526526976000001"
    )]
    List {
        /// Those behind this message, as the last line of a page says
        #[arg(long, value_name = "MESSAGE")]
        after: Option<String>,
        /// So many at most
        #[arg(long, value_name = "N", default_value = "100")]
        limit: u32,
    },
    /// Give one to an account, as if it had been the account's from the beginning
    #[command(after_help = "Examples:\n  hermod unowned assign 15526526976000001 shop")]
    Assign {
        /// The message's id
        message: String,
        /// The account's name
        account: String,
    },
}

#[derive(Deserialize)]
struct Page {
    items: Vec<Message>,
    next: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    message_id: String,
    carrier: String,
    from: String,
    to: String,
    text: String,
    received_at: String,
}

#[derive(Deserialize)]
struct Assigned {
    message_id: String,
    account: String,
    id: u64,
}

impl Unowned {
    pub(crate) fn run(self) -> Ended {
        let Unowned { place, what } = self;
        place.work(Absent::Refuse, async move |desk| match what {
            What::List { after, limit } => {
                let after = after.map(|after| format!("&after={}", escape(&after))).unwrap_or_default();
                let answer = desk.get(&format!("/inbound/unowned?limit={limit}{after}")).await?;
                desk.tell(&answer, |page: Page| told(&page))
            }
            What::Assign { message, account } => {
                let path = format!("/inbound/unowned/{}/assign", escape(&message));
                let body = json!({ "account": account });
                let answer = desk.asked(Method::POST, &path, Body::Json(&body)).await?;
                desk.tell(&answer, |Assigned { message_id, account, id }| {
                    let account = show::safe(&account);
                    format!(
                        "Message {message_id} is {account}'s now, as number {id} of its inbound messages.\n"
                    )
                })
            }
        })
    }
}

fn told(Page { items, next }: &Page) -> String {
    let mut table = Table::new(&[
        ("message", Left),
        ("received", Left),
        ("carrier", Left),
        ("from", Left),
        ("to", Left),
        ("text", Left),
    ]);
    for message in items {
        table.row([
            message.message_id.clone(),
            message.received_at.clone(),
            message.carrier.clone(),
            message.from.clone(),
            message.to.clone(),
            message.text.clone(),
        ]);
    }
    let mut text = table.text("Every message has its account.");
    if let Some(next) = next {
        text.push_str(&format!("\nThere may be more: --after {next}\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_lines_up_and_names_the_next() {
        let page = r#"{"items": [{"message_id": "1234", "carrier": "acme", "from": "+4915112345678", "to": "80800",
            "text": "hello", "received_at": "2026-06-12T12:00:00Z"}], "next": "1234"}"#;
        let expect = "\
MESSAGE  RECEIVED              CARRIER  FROM            TO     TEXT
1234     2026-06-12T12:00:00Z  acme     +4915112345678  80800  hello

There may be more: --after 1234
";
        assert_eq!(told(&serde_json::from_str(page).unwrap()), expect);
        assert_eq!(told(&Page { items: Vec::new(), next: None }), "Every message has its account.\n");
    }
}
