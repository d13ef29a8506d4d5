//! `hermod customer-request`: what customers request in the portal.

use super::list::{ListFormat, NextPage, print_page};
use super::operator_client::{OperatorClient, RequestBody};
use super::target::ClientCommand;
use crate::client::ApiResponse;
use crate::failure::CommandResult;
use crate::output;
use clap::Subcommand;
use hermod_operator::customer_request::views::{
    AcceptRequest, CustomerRequestView, CustomerRequestsQuery, DeclineRequest,
};
use hermod_operator::views::paging::RowNumber;
use hyper::Method;

const EXAMPLES: &str = "\
Examples:
  hermod customer-request list
  hermod customer-request show 7
  hermod customer-request accept 7
  hermod customer-request accept 8 --set 50 --note 'Start with 50 per second'
  hermod customer-request accept 9 --set +4915799999999
  hermod customer-request decline 10 --reason 'The name belongs to another company'

Customers request senders, countries, numbers, verification, rates, windows, tiers and top-ups in the portal, and read the
answer there. Accepting a request makes its change in the same transaction. A request for a number needs --set with the
number. What was done by hand is accepted with --done. The log of API requests is hermod requests.";

/// Accept or decline what customers request
#[derive(Subcommand)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) enum CustomerRequestCommand {
    /// List requests, the newest first
    #[command(after_help = "Examples:\n  hermod customer-request list\n  \
                            hermod customer-request list --account shop --state declined")]
    List {
        /// Only requests of this account
        #[arg(long, value_name = "NAME")]
        account: Option<String>,
        /// Only requests in this state
        #[arg(long, value_name = "STATE", default_value = "open",
              value_parser = ["open", "accepted", "declined", "withdrawn"])]
        state: String,
        /// Only requests before this number; the last line of a page has it
        #[arg(long, value_name = "N")]
        before: Option<RowNumber>,
        #[command(flatten)]
        format: ListFormat,
    },
    /// Show a request with what the customer says about it
    #[command(after_help = "Example:\n  hermod customer-request show 7")]
    Show {
        /// The number of the request
        id: u64,
    },
    /// Accept a request and make its change
    #[command(after_help = "Examples:\n  hermod customer-request accept 7\n  \
                            hermod customer-request accept 8 --set 50\n  \
                            hermod customer-request accept 9 --done --note 'Your number is +4915799999999'")]
    Accept {
        /// The number of the request
        id: u64,
        /// Grant this instead of what was requested: a rate, an amount, a number
        #[arg(long, value_name = "VALUE")]
        set: Option<String>,
        /// The change was made by hand: change nothing else
        #[arg(long, conflicts_with = "set")]
        done: bool,
        /// What the customer is told
        #[arg(long, value_name = "TEXT", default_value = "")]
        note: String,
    },
    /// Decline a request
    #[command(
        after_help = "Example:\n  hermod customer-request decline 10 --reason 'Not available in your country'"
    )]
    Decline {
        /// The number of the request
        id: u64,
        /// What the customer is told
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
}

impl ClientCommand for CustomerRequestCommand {
    async fn run(self, client: &OperatorClient) -> CommandResult {
        match self {
            CustomerRequestCommand::List { account, state, before, format } => {
                let query = CustomerRequestsQuery { account, state: Some(state), before, limit: None };
                let path = "/customer-requests";
                print_page::<CustomerRequestView>(client, path, &query, NextPage::Before, format).await
            }
            CustomerRequestCommand::Show { id } => {
                let response = client.get(&format!("/customer-requests/{id}")).await?;
                client.print(&response, |request: CustomerRequestView| request_text(&request))
            }
            CustomerRequestCommand::Accept { id, set, done, note } => {
                let body = RequestBody::json(&AcceptRequest { value: set, done, note });
                let path = format!("/customer-requests/{id}/accept");
                decided(client, &client.send(Method::POST, &path, body).await?)
            }
            CustomerRequestCommand::Decline { id, reason } => {
                let body = RequestBody::json(&DeclineRequest { reason });
                let path = format!("/customer-requests/{id}/decline");
                decided(client, &client.send(Method::POST, &path, body).await?)
            }
        }
    }
}

fn decided(client: &OperatorClient, response: &ApiResponse) -> CommandResult {
    client.note_write();
    client.print(response, |request: CustomerRequestView| {
        format!("Request {} is {}.\n", request.id, request.state)
    })
}

fn request_text(request: &CustomerRequestView) -> String {
    output::fields(&[
        ("request", request.id.to_string()),
        ("state", request.state.clone()),
        ("account", request.account.clone()),
        ("kind", request.kind.clone()),
        ("subject", request.subject.clone()),
        ("connection", request.connection.clone().unwrap_or_default()),
        ("details", request.details.clone()),
        ("made", request.made_at.clone()),
        ("by", request.by.clone()),
        ("ended", request.ended_at.clone().unwrap_or_default()),
        ("ended by", request.ended_by.clone()),
        ("reason", request.reason.clone()),
    ])
}
