//! `hermod review`, `hermod reports`, `hermod inbound unassigned`: messages that need a decision or were not delivered.

use super::list::{ListFormat, NextPage, print_page};
use super::operator_client::{OperatorClient, RequestBody};
use super::target::ClientCommand;
use crate::client::escape;
use crate::failure::CommandResult;
use crate::output;
use clap::{Args, Subcommand};
use hermod_operator::inbound::{
    AssignRequest, AssignedView, GivenUpQuery, GivenUpView, UnassignedQuery, UnassignedView,
};
use hermod_operator::review::{DecisionRequest, ReviewView, ReviewsQuery};
use hermod_operator::views::paging::{Limit, RowNumber};
use hyper::Method;

const REVIEW_EXAMPLES: &str = "\
Examples:
  hermod review list
  hermod review show 7
  hermod review approve 7
  hermod review reject 7 --by alice --reason 'Links are not allowed'

A message that matches a screening rule is rejected, not charged, and opens a review case. After
approval, the customer's retry of the message passes for a week.";

/// Decide about messages that screening rules hold
#[derive(Subcommand)]
#[command(after_help = REVIEW_EXAMPLES, arg_required_else_help = true)]
pub(crate) enum ReviewCommand {
    /// List review cases, the newest first
    #[command(after_help = "Examples:\n  hermod review list\n  hermod review list --state rejected")]
    List {
        /// Only cases of this account
        #[arg(long, value_name = "NAME")]
        account: Option<String>,
        /// Only cases in this state
        #[arg(long, value_name = "STATE", value_parser = ["open", "approved", "rejected"], default_value = "open")]
        state: String,
        /// Only cases before this id; the last line of a page has it
        #[arg(long, value_name = "ID")]
        before: Option<RowNumber>,
        #[command(flatten)]
        format: ListFormat,
    },
    /// Show a review case with the text of the message
    #[command(after_help = "Example:\n  hermod review show 7")]
    Show {
        /// The number of the case
        id: u64,
    },
    /// Let the customer's retry of the message pass
    #[command(after_help = "Example:\n  hermod review approve 7 --by alice")]
    Approve(ReviewDecision),
    /// Keep rejecting the message
    #[command(after_help = "Example:\n  hermod review reject 7 --by alice")]
    Reject(ReviewDecision),
}

#[derive(Args)]
pub(crate) struct ReviewDecision {
    /// The number of the case
    id: u64,
    /// Who decides, for the record
    #[arg(long, value_name = "NAME", env = "USER", default_value = "operator")]
    by: String,
    /// What the customer is told
    #[arg(long, value_name = "TEXT", default_value = "")]
    reason: String,
}

impl ClientCommand for ReviewCommand {
    async fn run(self, client: &OperatorClient) -> CommandResult {
        match self {
            ReviewCommand::List { account, state, before, format } => {
                let query = ReviewsQuery { account, state: Some(state), before, limit: None };
                print_page::<ReviewView>(client, "/reviews", &query, NextPage::Before, format).await
            }
            ReviewCommand::Show { id } => {
                let response = client.get(&format!("/reviews/{id}")).await?;
                client.print(&response, |case: ReviewView| case_text(&case))
            }
            ReviewCommand::Approve(decision) => decision.run(client, "approve").await,
            ReviewCommand::Reject(decision) => decision.run(client, "reject").await,
        }
    }
}

impl ReviewDecision {
    async fn run(self, client: &OperatorClient, verb: &str) -> CommandResult {
        let ReviewDecision { id, by, reason } = self;
        let body = RequestBody::json(&DecisionRequest { by, reason });
        let response = client.send(Method::POST, &format!("/reviews/{id}/{verb}"), body).await?;
        client.print(&response, |case: ReviewView| format!("Case {} is {}.\n", case.id, case.state))
    }
}

fn case_text(case: &ReviewView) -> String {
    output::fields(&[
        ("case", case.id.to_string()),
        ("state", case.state.clone()),
        ("account", case.account.clone()),
        ("from", case.from.clone()),
        ("to", case.to.to_string()),
        ("text", case.text.to_string()),
        ("rules", case.rules.join(", ")),
        ("seen", format!("{} times, last {}", case.seen, case.last_at)),
        ("opened", case.opened_at.clone()),
        ("decided", case.decided_at.clone().unwrap_or_default()),
        ("by", case.decided_by.clone()),
        ("reason", case.reason.clone()),
    ])
}

const REPORTS_EXAMPLES: &str = "\
Examples:
  hermod reports given-up
  hermod reports given-up --account shop";

/// List reports that customers did not receive
#[derive(Subcommand)]
#[command(after_help = REPORTS_EXAMPLES, arg_required_else_help = true)]
pub(crate) enum ReportsCommand {
    /// List receipts and MO messages that no bind acknowledged for 72 hours, or that were rejected; kept for 30 days
    #[command(
        after_help = "Examples:\n  hermod reports given-up\n  hermod reports given-up --account shop --after 4711"
    )]
    GivenUp {
        /// Only reports of this account
        #[arg(long, value_name = "NAME")]
        account: Option<String>,
        /// Only reports after this number; the last line of a page has it
        #[arg(long, value_name = "N")]
        after: Option<RowNumber>,
        /// Rows of a page, 1 to 1000
        #[arg(long, value_name = "N", default_value = "100")]
        limit: Limit,
        #[command(flatten)]
        format: ListFormat,
    },
}

impl ClientCommand for ReportsCommand {
    async fn run(self, client: &OperatorClient) -> CommandResult {
        let ReportsCommand::GivenUp { account, after, limit, format } = self;
        let query = GivenUpQuery { account, after, limit: Some(limit) };
        print_page::<GivenUpView>(client, "/reports/given-up", &query, NextPage::After, format).await
    }
}

pub(crate) const UNASSIGNED_EXAMPLES: &str = "\
Examples:
  hermod inbound unassigned list
  hermod inbound unassigned assign 15526526976000001 shop";

#[derive(Subcommand)]
pub(crate) enum UnassignedCommand {
    /// List MO messages that belong to no account, the oldest first; kept for 30 days
    #[command(after_help = "Examples:\n  hermod inbound unassigned list\n  \
                            hermod inbound unassigned list --after 15526526976000001")]
    List {
        /// Only messages after this id; the last line of a page has it
        #[arg(long, value_name = "MESSAGE")]
        after: Option<String>,
        /// Rows of a page, 1 to 1000
        #[arg(long, value_name = "N", default_value = "100")]
        limit: Limit,
        #[command(flatten)]
        format: ListFormat,
    },
    /// Assign an MO message to an account, which receives it like any other
    #[command(after_help = "Example:\n  hermod inbound unassigned assign 15526526976000001 shop")]
    Assign {
        /// The id of the message
        message: String,
        /// The account
        account: String,
    },
}

impl ClientCommand for UnassignedCommand {
    async fn run(self, client: &OperatorClient) -> CommandResult {
        match self {
            UnassignedCommand::List { after, limit, format } => {
                let query = UnassignedQuery { after, limit: Some(limit) };
                print_page::<UnassignedView>(client, "/inbound/unassigned", &query, NextPage::After, format)
                    .await
            }
            UnassignedCommand::Assign { message, account } => {
                let path = format!("/inbound/unassigned/{}/assign", escape(&message));
                let response =
                    client.send(Method::POST, &path, RequestBody::json(&AssignRequest { account })).await?;
                client.print(&response, |AssignedView { message_id, account, id }| {
                    let account = output::safe(&account);
                    format!("Message {message_id} is assigned to {account} as its inbound message {id}.\n")
                })
            }
        }
    }
}
