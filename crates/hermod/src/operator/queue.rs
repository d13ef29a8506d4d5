//! `hermod queue list|hold|release|reroute|cancel`: what waits for carriers, and what is to happen to it.

use super::list::{CellValue as _, ListFormat, listed, print_list, table};
use super::operator_client::{OperatorClient, RequestBody};
use super::tables::age;
use super::target::ClientCommand;
use crate::failure::{CommandResult, Failure};
use crate::output;
use clap::{Args, Subcommand};
use hermod_operator::queue::{
    CarrierQueueView, QueueAction, QueueConditions, QueueRequest, QueueResultView, QueuesView,
};
use hyper::Method;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  hermod queue list
  hermod queue hold --account shop --reason \"looks like fraud\"
  hermod queue hold --prefix 49900 --dry-run
  hermod queue release --account shop
  hermod queue reroute --carrier acme
  hermod queue cancel --account shop --text \"Sale ends today\"
  hermod queue cancel --id 15506713804701696

Only messages of which no carrier has any part. One that a carrier may have, because it did not answer, moves like the others and
is not cancelled. Held messages keep their order, and their validity runs on. A release sends them to the carriers that their
routes choose then. A cancelled message ends as rejected, and its cost is refunded. Messages
that arrive later are not held: suspend the account for that.";

/// A request looks at few messages, but the store can be busy.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(600);

/// List, hold, release or cancel what waits for carriers
#[derive(Subcommand)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) enum QueueVerb {
    /// List the queues of the carriers, and what is held
    #[command(after_help = "Example:\n  hermod queue list")]
    List(ListFormat),
    /// Hold waiting messages until they are released or cancelled
    #[command(after_help = "Examples:\n  hermod queue hold --carrier acme\n  \
                            hermod queue hold --account shop --prefix 49900 --dry-run")]
    Hold(ChangeArgs),
    /// Send held messages
    #[command(after_help = "Examples:\n  hermod queue release --account shop\n  hermod queue release --all")]
    Release(ChangeArgs),
    /// Send waiting messages to the carriers that their routes choose now
    #[command(after_help = "Example, after a change of routes:\n  hermod queue reroute --carrier acme")]
    Reroute(ChangeArgs),
    /// Cancel waiting and held messages and refund their costs
    #[command(after_help = "Examples:\n  hermod queue cancel --account shop --dry-run\n  \
                            hermod queue cancel --id 15506713804701696")]
    Cancel(ChangeArgs),
}

/// Messages that fulfil every condition. At least one is needed
#[derive(Args)]
pub(crate) struct ChangeArgs {
    /// Of this account
    #[arg(long, value_name = "NAME")]
    account: Option<String>,
    /// In the queue of this carrier; for a release, those that go to it
    #[arg(long, value_name = "NAME")]
    carrier: Option<String>,
    /// To numbers that begin with these digits
    #[arg(long, value_name = "DIGITS")]
    prefix: Option<String>,
    /// With this sender
    #[arg(long, value_name = "SENDER")]
    sender: Option<String>,
    /// With these words in their text
    #[arg(long, value_name = "WORDS")]
    text: Option<String>,
    /// The message with this id; can be repeated
    #[arg(long = "id", value_name = "ID")]
    ids: Vec<String>,
    /// Every message
    #[arg(long)]
    all: bool,
    /// Why, for the audit log
    #[arg(long, value_name = "WORDS")]
    reason: Option<String>,
    /// Only count the messages
    #[arg(long)]
    dry_run: bool,
}

impl ClientCommand for QueueVerb {
    async fn run(self, client: &OperatorClient) -> CommandResult {
        let (action, args) = match self {
            QueueVerb::List(format) => return list(client, format).await,
            QueueVerb::Hold(args) => (QueueAction::Hold, args),
            QueueVerb::Release(args) => (QueueAction::Release, args),
            QueueVerb::Reroute(args) => (QueueAction::Reroute, args),
            QueueVerb::Cancel(args) => (QueueAction::Cancel, args),
        };
        change(client, args.request(action)).await
    }
}

impl ChangeArgs {
    fn request(self, action: QueueAction) -> QueueRequest {
        let ChangeArgs { account, carrier, prefix, sender, text, ids, all, reason, dry_run } = self;
        let conditions = QueueConditions { account, carrier, prefix, sender, text, ids, all };
        QueueRequest { action, conditions, reason, dry_run, after: None, limit: None }
    }
}

async fn list(client: &OperatorClient, format: ListFormat) -> CommandResult {
    let response = client.get("/queues").await?;
    print_list(client, &response, format, |view: &QueuesView| view.items.clone(), |view| table(&view.items))
}

listed! { CarrierQueueView or "Nothing waits.":
    carrier, "waiting" Right |row| row.queue.waiting.cell(), "for a retry" Right |row| row.queue.deferred.cell(),
    "sent" Right |row| row.queue.in_flight.cell(), "oldest" Right |row| row.queue.oldest_for_s.map(age).unwrap_or_default()
}

/// Changes waiting messages, request after request, and prints the counts.
async fn change(client: &OperatorClient, request: QueueRequest) -> CommandResult {
    let result = change_all(client, &request).await?;
    client.print_view(&result, &result_text(&request, &result))
}

/// Sends a request again and again until everything was looked at, and shows the progress.
pub(super) async fn change_all(
    client: &OperatorClient,
    request: &QueueRequest,
) -> Result<QueueResultView, Failure> {
    let (mut request, mut sum) = (request.clone(), QueueResultView::default());
    loop {
        let body = RequestBody::json(&request);
        let response = client.send_with_timeout(Method::POST, "/queues", body, REQUEST_TIMEOUT).await?;
        let view: QueueResultView = response.read_as().map_err(Failure::failed)?;
        sum.looked_at += view.looked_at;
        sum.done += view.done;
        sum.left += view.left;
        if view.next.is_none() {
            output::progress_done();
            return Ok(sum);
        }
        request.after = view.next;
        output::progress(&format!(
            "looked at {} messages, {} {}",
            sum.looked_at,
            done_word(&request),
            sum.done
        ));
    }
}

fn done_word(request: &QueueRequest) -> &'static str {
    match request.action {
        _ if request.dry_run => "found",
        QueueAction::Hold => "held",
        QueueAction::Release => "released",
        QueueAction::Reroute => "moved",
        QueueAction::Cancel => "cancelled",
    }
}

pub(super) fn result_text(request: &QueueRequest, result: &QueueResultView) -> String {
    let QueueResultView { looked_at, done, left, next: _ } = result;
    let action = request.action.as_str();
    let mut text = match request.dry_run {
        true => format!("{done} of {looked_at} waiting messages would be changed by this {action}.\n"),
        false => format!("{} {done} of {looked_at} waiting messages.\n", capitalized(done_word(request))),
    };
    if *left > 0 {
        text.push_str(&format!(
            "{left} more stay as they are: they do not wait any more, a carrier may have them, or no route serves them.\n"
        ));
    }
    text
}

fn capitalized(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    format!("{}{rest}", first.to_uppercase())
}
