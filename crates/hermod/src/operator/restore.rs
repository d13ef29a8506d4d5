//! `hermod restore review|cancel|release`: a gateway that is held after a restore.

use super::list::{CellValue as _, listed, table};
use super::operator_client::{OperatorClient, RequestBody};
use super::target::ClientCommand;
use crate::failure::{CommandResult, Failure};
use crate::output;
use clap::{Args, Subcommand};
use hermod_operator::restore::{CancelRequest, CancelledView, ReleasedView, RestoreView, UnsentView};
use hyper::Method;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  hermod restore review
  hermod restore cancel --before-backup --dry-run
  hermod restore cancel --before-backup --reason \"sent before the disk failed\"
  hermod restore release

A gateway that starts with a backup is held: its original may have sent since what waits in the backup. Nothing is sent, posted
or expired until you have looked at what waits, and either release it, so that everything is sent, or cancel what was accepted before
the backup was made, which releases the gateway too. To cancel only a part of it, use hermod queue cancel, and then release.";

/// A request looks at few messages, but the store can be busy.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(600);

/// Look at what a restored gateway would send, cancel it, and release the gateway
#[derive(Subcommand)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) enum RestoreVerb {
    /// Show whether the gateway is held, and what it would send
    #[command(after_help = "Example:\n  hermod restore review")]
    Review,
    /// Cancel and refund what was accepted before, and release the gateway
    #[command(after_help = "Examples:\n  hermod restore cancel --before-backup --dry-run\n  \
                            hermod restore cancel --before 2026-11-15T09:30:00Z\n\n\
                            Messages that a carrier may have are not refunded: what of them waits is not sent, and parts in doubt count \
                            as submitted. Messages that were accepted later wait, and are sent after the release.")]
    Cancel(CancelArgs),
    /// Bind the carriers, and send what waits
    #[command(after_help = "Example:\n  hermod restore release")]
    Release,
}

#[derive(Args)]
pub(crate) struct CancelArgs {
    /// What was accepted before the backup was complete; without a backup, before the gateway was held
    #[arg(long, required_unless_present = "before", conflicts_with = "before")]
    before_backup: bool,
    /// What was accepted until this time
    #[arg(long, value_name = "TIME")]
    before: Option<String>,
    /// Why, for the audit log
    #[arg(long, value_name = "WORDS")]
    reason: Option<String>,
    /// Only count the messages, and do not release the gateway
    #[arg(long)]
    dry_run: bool,
}

impl ClientCommand for RestoreVerb {
    async fn run(self, client: &OperatorClient) -> CommandResult {
        match self {
            RestoreVerb::Review => {
                client.print(&client.get("/restore").await?, |view: RestoreView| review_text(&view))
            }
            RestoreVerb::Cancel(args) => cancel(client, args).await,
            RestoreVerb::Release => {
                let view = release(client).await?;
                client.print_view(&view, released_text(view))
            }
        }
    }
}

/// Cancels request after request, and releases the gateway then.
async fn cancel(client: &OperatorClient, args: CancelArgs) -> CommandResult {
    let CancelArgs { before_backup: _, before, reason, dry_run } = args;
    let request = CancelRequest { before, reason, dry_run, after: None, limit: None };
    let sum = cancel_all(client, request).await?;
    let mut text = cancelled_text(&sum, dry_run);
    if !dry_run {
        text.push_str(released_text(release(client).await?));
    }
    client.print_view(&sum, &text)
}

/// Sends a request again and again until everything was looked at, and shows the progress.
async fn cancel_all(client: &OperatorClient, mut request: CancelRequest) -> Result<CancelledView, Failure> {
    let mut sum = CancelledView::default();
    loop {
        let body = RequestBody::json(&request);
        let response =
            client.send_with_timeout(Method::POST, "/restore/cancel", body, REQUEST_TIMEOUT).await?;
        let view: CancelledView = response.read_as().map_err(Failure::failed)?;
        sum.looked_at += view.looked_at;
        sum.cancelled += view.cancelled;
        sum.stopped += view.stopped;
        sum.later += view.later;
        if view.next.is_none() {
            output::progress_done();
            return Ok(sum);
        }
        request.after = view.next;
        output::progress(&format!("looked at {} messages, cancelled {}", sum.looked_at, sum.cancelled));
    }
}

async fn release(client: &OperatorClient) -> Result<ReleasedView, Failure> {
    let response = client.send(Method::POST, "/restore/release", RequestBody::None).await?;
    response.read_as().map_err(Failure::failed)
}

fn review_text(view: &RestoreView) -> String {
    let RestoreView { held, since, backup_at, accepts_messages, waiting } = view;
    let since = since.as_deref().unwrap_or_default();
    let mut text = match (held, backup_at) {
        (false, _) => "The gateway is not held: what waits is being sent.\n".to_owned(),
        (true, Some(made_at)) => {
            format!("The gateway is held: it was restored from the backup of {made_at}.\n")
        }
        (true, None) => format!("The gateway is held since {since}.\n"),
    };
    if *held {
        text.push_str(match accepts_messages {
            true => "New messages are accepted and wait.\n",
            false => "New messages get 503, and binds are rejected.\n",
        });
    }
    text.push('\n');
    text.push_str(&table(waiting));
    if *held {
        text.push_str("\nTo send it: hermod restore release\nTo cancel and refund what was accepted before the backup: hermod restore cancel --before-backup\n");
    }
    text
}

listed! { UnsentView or "Nothing waits.":
    carrier, account, messages, parts, in_doubt, oldest_at as "oldest", newest_at as "newest", oldest_id as "first message"
}

fn cancelled_text(sum: &CancelledView, dry_run: bool) -> String {
    let CancelledView { looked_at, cancelled, stopped, later, next: _ } = sum;
    let mut text = match dry_run {
        true => format!("{cancelled} of {looked_at} waiting messages would be cancelled or stopped.\n"),
        false => format!("Cancelled and refunded {cancelled} of {looked_at} waiting messages.\n"),
    };
    if *stopped > 0 {
        text.push_str(&format!(
            "{stopped} more are not sent and not refunded, because a carrier may have them or a part of them.\n"
        ));
    }
    if *later > 0 {
        text.push_str(&format!("{later} were accepted later, and wait for the release.\n"));
    }
    text
}

const fn released_text(view: ReleasedView) -> &'static str {
    match view.released {
        true => "Released the gateway: carriers are bound, and what waits is sent.\n",
        false => "The gateway is not held.\n",
    }
}

#[cfg(test)]
#[path = "restore_tests.rs"]
mod tests;
