//! `hermod changes`: the audit log.

use super::list::{ListFormat, NextPage, print_page};
use super::operator_client::OperatorClient;
use super::target::ClientCommand;
use crate::failure::CommandResult;
use clap::Args;
use hermod_operator::audit_log::{AuditLogQuery, AuditRowView};
use hermod_operator::views::paging::{Limit, RowNumber};

const EXAMPLES: &str = "\
Examples:
  hermod changes
  hermod changes --account shop
  hermod changes --by ann --action key --since 7d
  hermod changes --json | jq '.items[] | {by, action, subject, detail}'

Every change of the setup, of balances, reviews, opt-outs and webhooks is written into the audit log in the transaction of
the change: who made it, from where, and each field before and after, without secrets. Rows are never removed. hermod audit
checks that none was altered.";

/// List who changed what, the newest first
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ChangesArgs {
    /// Only changes that concern this account
    #[arg(long, value_name = "NAME")]
    account: Option<String>,
    /// Only changes by authors whose name contains this text
    #[arg(long, value_name = "TEXT")]
    by: Option<String>,
    /// Only changes of this kind, such as key, or with this action, such as key.update
    #[arg(long, value_name = "ACTION")]
    action: Option<String>,
    /// Only changes since this time, UTC day, or how long ago, such as 7d
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only changes before this number; the last line of a page has it
    #[arg(long, value_name = "N")]
    before: Option<RowNumber>,
    /// Rows of a page, 1 to 1000
    #[arg(long, value_name = "N", default_value = "100")]
    limit: Limit,
    #[command(flatten)]
    format: ListFormat,
}

impl ClientCommand for ChangesArgs {
    async fn run(self, client: &OperatorClient) -> CommandResult {
        let ChangesArgs { account, by, action, since, before, limit, format } = self;
        let query = AuditLogQuery { account, by, action, since, before, limit: Some(limit) };
        print_page::<AuditRowView>(client, "/audit-log", &query, NextPage::Before, format).await
    }
}
