//! `hermod account opt-outs`: phone numbers that opted out of an account's messages.

use super::entries;
use super::list::{ListFormat, NextPage, print_page};
use super::operator_client::{OperatorClient, RequestBody};
use crate::client::escape;
use crate::failure::CommandResult;
use crate::output;
use clap::Args;
use hermod_operator::kind::Kind;
use hermod_operator::opt_out::{OptOutRemovedView, OptOutRequest, OptOutView, OptOutsQuery};
use hermod_operator::views::paging::Limit;
use hyper::Method;

#[derive(Args)]
pub(super) struct OptOutsArgs {
    /// The account
    name: String,
    /// Add an opt-out: the account can send nothing to this number
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["lift", "csv"])]
    add: Option<String>,
    /// How the opt-out was made, for the record
    #[arg(long, value_name = "TEXT", requires = "add")]
    how: Option<String>,
    /// It is from a list of another system
    #[arg(long, requires = "add")]
    imported: bool,
    /// Remove the opt-out of this number
    #[arg(long, value_name = "NUMBER", conflicts_with = "csv")]
    lift: Option<String>,
    /// Only numbers after this one; the last line of a page has it
    #[arg(long, value_name = "NUMBER")]
    after: Option<String>,
    #[command(flatten)]
    format: ListFormat,
}

impl OptOutsArgs {
    pub(super) async fn run(self, client: &OperatorClient) -> CommandResult {
        let OptOutsArgs { name, add, how, imported, lift, after, format } = self;
        let path = format!("{}/opt-outs", entries::path(Kind::Account, &name));
        if let Some(number) = add {
            let how = how.unwrap_or_else(|| if imported { "list" } else { "operator" }.to_owned());
            let path = format!("{path}/{}", escape(&number));
            let request = OptOutRequest { how, imported };
            let response = client.send(Method::PUT, &path, RequestBody::json(&request)).await?;
            return client.print(&response, |OptOutView { number, at, .. }| {
                format!("{} is opted out of {name} since {at}.\n", output::safe(&number))
            });
        }
        if let Some(number) = lift {
            let path = format!("{path}/{}", escape(&number));
            let response = client.send(Method::DELETE, &path, RequestBody::None).await?;
            return client.print(&response, |OptOutRemovedView { number, .. }| {
                format!("{name} can send to {} again.\n", output::safe(&number))
            });
        }
        let query = OptOutsQuery { after, limit: Some(Limit::MAX) };
        print_page::<OptOutView>(client, &path, &query, NextPage::After, format).await
    }
}
