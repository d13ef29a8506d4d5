//! `hermod webhook show|list|attempts|replay|secret`: an account's webhooks, for the operator.

use super::list::{ListFormat, NextPage, print_page, table};
use super::operator_client::{OperatorClient, RequestBody};
use super::target::ClientCommand;
use crate::client::escape;
use crate::failure::{CommandResult, Failure};
use crate::input_file::first_line;
use crate::output;
use clap::{Args, Subcommand};
use hermod_operator::views::paging::{Limit, RowNumber};
use hermod_operator::webhook::views::{
    EventAttemptsView, EventView, EventsQuery, ReplayRequest, ReplayedView, WebhookSecretRequest,
    WebhookSecretView, WebhooksView,
};
use hyper::Method;
use std::path::PathBuf;

pub(crate) const SHOW_EXAMPLES: &str = "\
Example:
  hermod webhook show shop

Addresses are changed with hermod account set shop --dlr-webhook URL --inbound-webhook URL.";
pub(crate) const LIST_EXAMPLES: &str = "\
Examples:
  hermod webhook list shop
  hermod webhook list shop --state failed --kind dlr
  hermod webhook list shop --before 4711";
pub(crate) const ATTEMPTS_EXAMPLES: &str = "Example:\n  hermod webhook attempts shop evt_4711";
pub(crate) const REPLAY_EXAMPLES: &str = "\
Examples:
  hermod webhook replay shop evt_4711
  hermod webhook replay shop --since 2026-11-15
  hermod webhook replay shop --since 2026-11-15T09:30:00Z --kind inbound
  hermod webhook replay shop --waiting

--since takes events that were given up and events that wait for a later attempt, --waiting only the
latter; each starts its retry schedule again. A replay has the same body and webhook-id, so that the receiver recognizes a duplicate.";
pub(crate) const SECRET_EXAMPLES: &str = "\
Examples, in the order of a change of secret:
  hermod webhook secret stage shop      every post is also signed with the new secret, in X-SVC-Signature-Next
  hermod webhook secret switch shop     the new secret is current; the old one signs X-SVC-Signature-Previous for 24 h
  hermod webhook secret drop shop       discard the staged secret, or the previous one if none is staged

Between stage and switch, add the new secret to your receivers.";

#[derive(Args)]
pub(crate) struct WebhookShowArgs {
    /// The account
    account: String,
}

#[derive(Args)]
pub(crate) struct WebhookListArgs {
    /// The account
    account: String,
    /// Only events in this state
    #[arg(long, value_name = "STATE", value_parser = ["waiting", "delivered", "failed"])]
    state: Option<String>,
    /// Only delivery reports, or only MO messages
    #[arg(long, value_name = "KIND", value_parser = ["dlr", "inbound"])]
    kind: Option<String>,
    /// Only events before this number; the last line of a page has it
    #[arg(long, value_name = "N")]
    before: Option<RowNumber>,
    /// Rows of a page, 1 to 1000
    #[arg(long, value_name = "N", default_value = "100")]
    limit: Limit,
    #[command(flatten)]
    format: ListFormat,
}

#[derive(Args)]
pub(crate) struct WebhookAttemptsArgs {
    /// The account
    account: String,
    /// The webhook-id of the event
    event: String,
}

#[derive(Args)]
pub(crate) struct WebhookReplayArgs {
    /// The account
    account: String,
    /// The webhook-id of one event
    #[arg(required_unless_present_any = ["since", "waiting"], conflicts_with_all = ["since", "waiting", "kind"])]
    event: Option<String>,
    /// All events that were given up since this day or time, and all that wait
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// All events that wait for a later attempt, now
    #[arg(long, conflicts_with = "since")]
    waiting: bool,
    /// Only delivery reports, or only MO messages
    #[arg(long, value_name = "KIND", value_parser = ["dlr", "inbound"])]
    kind: Option<String>,
}

#[derive(Subcommand)]
pub(crate) enum SecretStep {
    /// Also sign with a new secret; a generated secret is printed once
    #[command(after_help = "Examples:\n  hermod webhook secret stage shop\n  \
                            hermod webhook secret stage shop --secret-file new.txt")]
    Stage {
        /// The account
        account: String,
        /// File with the new secret in its first line; - reads standard input [default: a generated secret]
        #[arg(long, value_name = "FILE")]
        secret_file: Option<PathBuf>,
    },
    /// Make the staged secret the current one
    #[command(after_help = "Example:\n  hermod webhook secret switch shop")]
    Switch {
        /// The account
        account: String,
    },
    /// Discard the staged secret, or the previous one if none is staged
    #[command(after_help = "Example:\n  hermod webhook secret drop shop")]
    Drop {
        /// The account
        account: String,
    },
}

impl ClientCommand for WebhookShowArgs {
    async fn run(self, client: &OperatorClient) -> CommandResult {
        let WebhookShowArgs { account } = self;
        client.print(&client.get(&path(&account, "")).await?, |view: WebhooksView| webhooks_text(&view))
    }
}

impl ClientCommand for WebhookListArgs {
    async fn run(self, client: &OperatorClient) -> CommandResult {
        let WebhookListArgs { account, state, kind, before, limit, format } = self;
        let query = EventsQuery { kind, state, before, limit: Some(limit) };
        let path = path(&account, "/events");
        print_page::<EventView>(client, &path, &query, NextPage::Before, format).await
    }
}

impl ClientCommand for WebhookAttemptsArgs {
    async fn run(self, client: &OperatorClient) -> CommandResult {
        let WebhookAttemptsArgs { account, event } = self;
        let response = client.get(&path(&account, &format!("/events/{}", escape(&event)))).await?;
        client.print(&response, |view: EventAttemptsView| attempts_text(&view))
    }
}

impl ClientCommand for WebhookReplayArgs {
    async fn run(self, client: &OperatorClient) -> CommandResult {
        let WebhookReplayArgs { account, event, since, waiting: _, kind } = self;
        let response = match event {
            Some(event) => {
                let path = path(&account, &format!("/events/{}/replay", escape(&event)));
                client.send(Method::POST, &path, RequestBody::None).await?
            }
            None => {
                let request = ReplayRequest { since, kind };
                client.send(Method::POST, &path(&account, "/replay"), RequestBody::json(&request)).await?
            }
        };
        client.print(&response, |view: ReplayedView| replayed_text(&view))
    }
}

fn replayed_text(ReplayedView { replayed, retried }: &ReplayedView) -> String {
    let events = |count: u64| match count {
        1 => "1 event".to_owned(),
        count => format!("{count} events"),
    };
    match (replayed, retried) {
        (0, 0) => "There is no event to post again.\n".to_owned(),
        (_, 0) => format!("Posting {} again.\n", events(*replayed)),
        (0, _) => format!("Posting {} now that waited for a later attempt.\n", events(*retried)),
        (_, _) => format!(
            "Posting {} again, and {} now that waited for a later attempt.\n",
            events(*replayed),
            events(*retried)
        ),
    }
}

impl ClientCommand for SecretStep {
    async fn run(self, client: &OperatorClient) -> CommandResult {
        match self {
            SecretStep::Stage { account, secret_file } => {
                stage(client, &account, secret_file.as_deref().map(first_line).transpose()?).await
            }
            SecretStep::Switch { account } => {
                let done = "The new secret is current. The old one also signs for 24 hours.\n";
                change(client, &account, "switch", done).await
            }
            SecretStep::Drop { account } => {
                change(client, &account, "drop", "The secret signs no more.\n").await
            }
        }
    }
}

async fn stage(client: &OperatorClient, account: &str, secret: Option<String>) -> CommandResult {
    let body = RequestBody::json(&WebhookSecretRequest { secret });
    let response = client.send(Method::POST, &path(account, "/secret/stage"), body).await?;
    if client.json {
        return output::print_once(&format!("{}\n", response.body.trim_end()));
    }
    let WebhookSecretView { secret } = response.read_as().map_err(Failure::failed)?;
    let staged = "Staged: every post is also signed with it, until you switch to it or drop it.\n";
    match secret {
        Some(secret) => {
            output::print_once(&format!("{staged}\nThe new secret, shown only now:\n  {secret}\n"))
        }
        None => output::print(staged),
    }
}

async fn change(client: &OperatorClient, account: &str, step: &str, sentence: &str) -> CommandResult {
    let response =
        client.send(Method::POST, &path(account, &format!("/secret/{step}")), RequestBody::None).await?;
    client.print(&response, |_: WebhookSecretView| sentence.to_owned())
}

fn path(account: &str, below: &str) -> String {
    format!("/accounts/{}/webhooks{below}", escape(account))
}

fn webhooks_text(view: &WebhooksView) -> String {
    let staged = if view.secret_staged { "yes" } else { "no" };
    let fields = output::fields(&[
        ("dlr webhook", view.dlr_webhook.clone().unwrap_or_default()),
        ("inbound webhook", view.inbound_webhook.clone().unwrap_or_default()),
        ("next secret staged", staged.to_owned()),
        ("previous secret until", view.previous_secret_until.clone().unwrap_or_default()),
    ]);
    format!("{fields}\n{}", table(&view.endpoints))
}

fn attempts_text(EventAttemptsView { event, attempts }: &EventAttemptsView) -> String {
    let EventView { event, message_id, state, .. } = event;
    format!("{event} of message {message_id} is {state}.\n\n{}", table(attempts))
}

#[cfg(test)]
#[path = "webhook_tests.rs"]
mod tests;
