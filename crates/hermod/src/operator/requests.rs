//! `hermod requests`: the request log of customers.

use super::list::table;
use super::operator_client::{OperatorClient, with_query};
use super::record_notes::{behind, more};
use super::target::ClientCommand;
use crate::failure::CommandResult;
use crate::output::safe;
use clap::Args;
use hermod_operator::request::{
    RequestGroupView, RequestGroupsView, RequestView, RequestsQuery, RequestsView,
};
use hermod_operator::views::paging::{Limit, RowNumber};

const EXAMPLES: &str = "\
Examples:
  hermod requests --rejected --since 1h
  hermod requests --grouped
  hermod requests --grouped --account shop --since 7d
  hermod requests --account shop --code INSUFFICIENT_CREDIT
  hermod requests --kind bind --rejected
  hermod requests --request 9d1f6a20
  hermod requests --to +4915112345678 --rejected
  hermod requests --rejected --since 24h --csv > rejected.csv

Lists calls of the HTTP API, submits and binds, the newest first: every rejected one with the reason in
words, and up to 5 successful ones per second and account. It holds no text, no secret and no phone
number: a send request is found by --to through a keyed digest of its recipient. It is kept for 7 days
unless [retention] requests says otherwise. --grouped counts rejected requests by code and says what to
do.";

/// List requests of customers, and why they were rejected
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RequestsArgs {
    /// Only requests of this account
    #[arg(long, value_name = "NAME")]
    account: Option<String>,
    /// Only requests that were rejected with this code
    #[arg(long, value_name = "CODE")]
    code: Option<String>,
    /// Only calls of the HTTP API, submits, or binds
    #[arg(long, value_name = "KIND", value_parser = ["http", "submit", "bind"])]
    kind: Option<String>,
    /// X-Request-Id of an HTTP request
    #[arg(long, value_name = "ID")]
    request: Option<String>,
    /// Only send requests to this number
    #[arg(long, value_name = "NUMBER")]
    to: Option<String>,
    /// Only rejected requests
    #[arg(long)]
    rejected: bool,
    /// At this time or later: 2026-11-15T09:30:00Z, 2026-11-15, or how long ago: 30m, 2h, 7d
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Before this time
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Count rejected requests by code, and say what to do; the last 24 hours by default
    #[arg(long, conflicts_with_all = ["code", "kind", "request", "to", "rejected", "csv", "cursor"])]
    grouped: bool,
    /// Print all of them as CSV
    #[arg(long, conflicts_with_all = ["json", "cursor"])]
    csv: bool,
    /// Continue after a page; its last line says where
    #[arg(long, value_name = "N")]
    cursor: Option<RowNumber>,
    /// Rows of a page, 1 to 1000
    #[arg(long, value_name = "N", default_value = "100")]
    limit: Limit,
}

impl ClientCommand for RequestsArgs {
    async fn run(self, client: &OperatorClient) -> CommandResult {
        let RequestsArgs { account, code, kind, request, to, rejected, since, until, cursor, limit, .. } =
            self;
        let (grouped, csv) = (self.grouped, self.csv);

        let rejected = rejected.then_some(true);
        let limit = (!grouped && !csv).then_some(limit);
        let query = RequestsQuery { account, code, kind, request, to, rejected, since, until, cursor, limit };
        if csv {
            return client.print_file(&with_query("/requests.csv", &query)).await;
        }
        if grouped {
            let response = client.get(&with_query("/requests/groups", &query)).await?;
            return client.print(&response, |view: RequestGroupsView| groups_text(&view));
        }
        let response = client.get(&with_query("/requests", &query)).await?;
        client.print(&response, |RequestsView { items, next, record }| {
            format!("{}{}{}", table(&items), more(next.as_ref()), behind(record))
        })
    }
}

fn groups_text(view: &RequestGroupsView) -> String {
    let mut text = if view.items.is_empty() {
        "No request was rejected.\n".to_owned()
    } else {
        view.items.iter().map(group_text).collect::<Vec<_>>().join("\n")
    };
    text.push_str(&format!("\nFrom {} to {}.\n{}", view.since, view.until, behind(view.record)));
    text
}

fn group_text(RequestGroupView { code, count, what_to_do, last }: &RequestGroupView) -> String {
    let times = if *count == 1 { "once".to_owned() } else { format!("{count} times") };
    let latest = last.as_ref().map(latest_text).unwrap_or_default();
    format!("{}, {times}\n    {}\n    {what_to_do}\n", safe(code), safe(&latest))
}

fn latest_text(last: &RequestView) -> String {
    let who = last.account.as_deref().unwrap_or(&last.who);
    let from = last.address.as_ref().map(|address| format!(" from {address}")).unwrap_or_default();
    format!("last {} by {who}{from}: {}: {}", last.at, last.operation, last.reason)
}

#[cfg(test)]
#[path = "requests_tests.rs"]
mod tests;
