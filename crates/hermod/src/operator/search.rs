//! `hermod messages`: searches, counts and exports messages.

use super::list::table;
use super::operator_client::{OperatorClient, with_query};
use super::record_notes::{behind, more};
use super::target::ClientCommand;
use crate::failure::{CommandResult, Failure};
use crate::output::safe;
use clap::Args;
use hermod_operator::message::views::{
    CountView, MessagesQuery, MessagesView, TextSearchQuery, TextSearchView,
};
use hermod_operator::request::RejectedRequestsView;
use hermod_operator::views::paging::Limit;

const EXAMPLES: &str = "\
Examples:
  hermod messages --account shop --since 2h
  hermod messages --to +4915112345678
  hermod messages --to '*5678' --account shop --since 2d
  hermod messages --to '+49151*' --state undeliverable --since 2026-11-15
  hermod messages --carrier acme --carrier-id 7f3a0c12
  hermod messages --request 9d1f6a20 --json
  hermod messages --account shop --key order-4711
  hermod messages --country DE --since 7d --count
  hermod messages --account shop --text 'your code' --since 1d
  hermod messages --account shop --since 2026-11-01 --until 2026-12-01 --csv > november.csv

The newest messages come first. hermod message ID shows everything about one. The record, which these
commands read, is written after the messages, usually within a second; a line says so if it is behind.
A request that was rejected made no message: below the messages to a number, a line says how many
there were and which command lists them. The search by last digits looks at one message after another,
so narrow it by account or time.

CSV files can be opened in a spreadsheet: numbers have no plus, and texts that would run as a formula
begin with an apostrophe. Import the column id as text: it has more digits than a spreadsheet keeps.";

/// Search messages: by number, sender, account, state, carrier, time and ids
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct MessagesArgs {
    /// Only messages of this account
    #[arg(long, value_name = "NAME")]
    account: Option<String>,
    /// Recipient: a number, the beginning of numbers such as '+49151*', or 4 or more last digits such as '*5678'
    #[arg(long, value_name = "NUMBER")]
    to: Option<String>,
    /// Sender
    #[arg(long, value_name = "SENDER")]
    from: Option<String>,
    /// queued, submitted, enroute, delivered, expired, undeliverable or rejected
    #[arg(long, value_name = "STATE", value_parser = STATES)]
    state: Option<String>,
    /// Country of the recipient, such as DE
    #[arg(long, value_name = "CODE")]
    country: Option<String>,
    /// Network of the recipient: MCC and MNC, such as 262-01
    #[arg(long, value_name = "MCC-MNC")]
    network: Option<String>,
    /// Carrier that has or had the message last
    #[arg(long, value_name = "NAME")]
    carrier: Option<String>,
    /// Connection that the customer used
    #[arg(long, value_name = "NAME")]
    connection: Option<String>,
    /// Id that a carrier gave to a part, as the carrier wrote it
    #[arg(long, value_name = "ID")]
    carrier_id: Option<String>,
    /// X-Request-Id of the HTTP request that submitted it
    #[arg(long, value_name = "ID")]
    request: Option<String>,
    /// Idempotency key of the request
    #[arg(long, value_name = "KEY", requires = "account")]
    key: Option<String>,
    /// Id of a webhook event about it, such as evt_4711
    #[arg(long, value_name = "EVENT")]
    event: Option<String>,
    /// Accepted at this time or later: 2026-11-15T09:30:00Z, 2026-11-15, or how long ago: 30m, 2h, 7d
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Accepted before this time
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Look for a text in the messages of an account; at most 7 days, the last two by default
    #[arg(long, value_name = "TEXT", requires = "account", conflicts_with_all = NOT_WITH_TEXT)]
    text: Option<String>,
    /// Only count them
    #[arg(long, conflicts_with = "csv")]
    count: bool,
    /// Print all of them as CSV
    #[arg(long, conflicts_with_all = ["json", "cursor"])]
    csv: bool,
    /// Continue after a page; its last line says where
    #[arg(long, value_name = "ID")]
    cursor: Option<String>,
    /// Rows of a page, 1 to 1000
    #[arg(long, value_name = "N", default_value = "100")]
    limit: Limit,
}

const STATES: [&str; 7] =
    ["queued", "submitted", "enroute", "delivered", "expired", "undeliverable", "rejected"];
const NOT_WITH_TEXT: [&str; 13] = [
    "to",
    "from",
    "state",
    "country",
    "network",
    "carrier",
    "connection",
    "carrier_id",
    "request",
    "key",
    "event",
    "count",
    "csv",
];

impl ClientCommand for MessagesArgs {
    async fn run(self, client: &OperatorClient) -> CommandResult {
        let MessagesArgs { account, to, from, state, country, network, carrier, connection, .. } = self;
        let MessagesArgs { carrier_id, request, key, event, since, until, text, cursor, limit, .. } = self;
        let (count, csv) = (self.count, self.csv);

        if let Some(text) = text {
            let text = Some(text);
            return text_search(
                client,
                TextSearchQuery { account, text, since, until, cursor, limit: Some(limit) },
            )
            .await;
        }
        let query = MessagesQuery {
            account,
            to,
            from,
            state,
            country,
            network,
            carrier,
            connection,
            carrier_id,
            request,
            key,
            event,
            since,
            until,
            cursor,
            limit: (!count && !csv).then_some(limit),
        };
        if csv {
            client.print_file(&with_query("/messages.csv", &query)).await
        } else if count {
            let response = client.get(&with_query("/messages/count", &query)).await?;
            client.print(&response, |view: CountView| count_text(&view))
        } else {
            page(client, query).await
        }
    }
}

fn count_text(CountView { count, exact, record }: &CountView) -> String {
    let least = if *exact { "" } else { "at least " };
    format!("{least}{count} messages\n{}", behind(*record))
}

/// Prints a page. A search by last digits continues until the page is full or the search is complete.
async fn page(client: &OperatorClient, mut query: MessagesQuery) -> CommandResult {
    let by_last_digits = query.to.as_ref().is_some_and(|to| to.starts_with('*'));
    let rows = rows_of(query.limit);
    let mut items = Vec::new();
    loop {
        let response = client.get(&with_query("/messages", &query)).await?;
        if !by_last_digits {
            return client.print(&response, |view: MessagesView| page_text(&view, &query));
        }
        let mut view: MessagesView = response.read_as().map_err(Failure::failed)?;
        items.append(&mut view.items);
        match (&view.next, &view.searched_to) {
            (Some(next), Some(at)) if items.len() < rows => {
                crate::output::progress(&format!("looked at messages down to {at}"));
                query.cursor = Some(next.clone());
            }
            _ => {
                crate::output::progress_done();
                let view = MessagesView { items, ..view };
                return client.print_view(&view, &page_text(&view, &query));
            }
        }
    }
}

fn rows_of(limit: Option<Limit>) -> usize {
    limit.map_or(usize::MAX, |limit| usize::try_from(u32::from(limit)).unwrap_or(usize::MAX))
}

fn page_text(view: &MessagesView, query: &MessagesQuery) -> String {
    let MessagesView { items, next, searched_to, rejected_requests, record } = view;
    let mut text = table(items);
    if let Some(at) = searched_to {
        text.push_str(&format!("\nSearched down to {at}: there may be more.\n"));
    }
    text.push_str(&more(next.as_ref()));
    if let Some(rejected) = rejected_requests {
        text.push_str(&rejected_text(*rejected, query));
    }
    text.push_str(&behind(*record));
    text
}

/// Returns the line about rejected requests to the number, with the command that lists them; empty without any.
fn rejected_text(
    RejectedRequestsView { count, exact }: RejectedRequestsView,
    query: &MessagesQuery,
) -> String {
    let requests = match (count, exact) {
        (0, _) => return String::new(),
        (1, true) => "1 request to this number was".to_owned(),
        (_, true) => format!("{count} requests to this number were"),
        (_, false) => format!("{count} or more requests to this number were"),
    };
    let MessagesQuery { account, to, since, until, .. } = query;
    let given = [("to", to), ("account", account), ("since", since), ("until", until)];
    let options = given.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?)));
    let options: String = options.map(|(name, value)| format!(" --{name} {}", safe(value))).collect();
    format!("\n{requests} rejected: hermod requests{options} --rejected\n")
}

/// Searches slice after slice until a page is full or the search is complete.
async fn text_search(client: &OperatorClient, mut query: TextSearchQuery) -> CommandResult {
    let rows = rows_of(query.limit);
    let mut found: Option<TextSearchView> = None;
    loop {
        let response = client.get(&with_query("/messages/text", &query)).await?;
        let slice: TextSearchView = response.read_as().map_err(Failure::failed)?;
        let looked_at = slice.looked_at;
        let view = match found.take() {
            None => slice,
            Some(mut before) => {
                before.items.extend(slice.items);
                let (items, looked_at) = (before.items, before.looked_at + looked_at);
                TextSearchView { items, looked_at, ..slice }
            }
        };
        crate::output::progress(&format!("looked at {} texts, down to {}", view.looked_at, view.searched_to));
        query.cursor.clone_from(&view.next);
        if view.next.is_none() || view.items.len() >= rows {
            crate::output::progress_done();
            return client.print_view(&view, &text_text(&view));
        }
        found = Some(view);
    }
}

fn text_text(view: &TextSearchView) -> String {
    let mut text = table(&view.items);
    text.push_str(&format!("\nLooked at {} texts, down to {}.\n", view.looked_at, view.searched_to));
    text.push_str(&more(view.next.as_ref()));
    text.push_str(&behind(view.record));
    text
}

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;
