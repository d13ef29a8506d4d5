//! `hermod carrier`: the verbs for carriers that do more than set a field: tests, traces, receipts.

use super::carrier_test;
use super::entries;
use super::fields::EntryFields;
use super::operator_client::{OperatorClient, RequestBody};
use super::receipts;
use super::tables::silent_nodes;
use super::target::ClientCommand;
use super::trace;
use crate::client::escape;
use crate::failure::{CommandResult, Failure};
use clap::Subcommand;
use hermod_operator::carrier::views::ResumedView;
use hermod_operator::entry::views::EntryView;
use hermod_operator::kind::Kind;
use hermod_operator::queue::CarrierWorkView;
use hyper::Method;
use serde_json::Value;

pub(super) const HELP: &str = "\
Examples:
  hermod carrier list
  hermod carrier add acme address=smsc.example:2775 system_id=hermod password=@acme.password \\
      window=10 rate=100
  hermod carrier set acme rate=50 links=2 ids=hex-to-decimal
  hermod carrier set acme long_messages=payload destination=0/1
  hermod carrier set acme retry=0x45:temporary:30s
  hermod carrier set acme 'retry=[{status=0x45,class=\"temporary\",wait=\"30s\"}]'
  hermod carrier set acme retry=
  hermod carrier show acme
  hermod carrier drain acme
  hermod carrier disable acme

A carrier that was never used can be removed; messages refer to any other. A disabled carrier has no
links, and the messages that are routed to it wait. docs/carriers.md describes the fields.";

#[derive(Subcommand)]
pub(super) enum CarrierVerb {
    /// Send again to a carrier that is drained, or was stopped because it rejected PDUs as malformed
    #[command(after_help = "Example:\n  hermod carrier resume acme")]
    Resume {
        /// The carrier
        name: String,
    },
    /// Send nothing more to a carrier; its links stay bound for receipts
    #[command(after_help = "Examples:\n  hermod carrier drain acme\n  hermod carrier drain acme --stay\n\n\
                            Run it again to see what is left. Without messages that wait for a receipt the carrier can be \
                            disabled without losing one.")]
    Drain {
        /// The carrier
        name: String,
        /// What waits stays, rather than moving to the next carriers of the routes
        #[arg(long)]
        stay: bool,
    },
    /// Disable a carrier: its links end, and its messages wait
    #[command(after_help = "Example:\n  hermod carrier disable acme")]
    Disable {
        /// The carrier
        name: String,
    },
    /// List receipts that matched no part, beside the ids of recent responses
    #[command(after_help = receipts::EXAMPLES)]
    Receipts(receipts::ReceiptsArgs),
    /// Send a test message and print every PDU
    #[command(after_help = carrier_test::EXAMPLES)]
    Test(carrier_test::CarrierTestArgs),
    /// Print PDUs as they are sent and received
    #[command(after_help = trace::EXAMPLES)]
    Trace(trace::TraceArgs),
}

impl ClientCommand for CarrierVerb {
    async fn run(self, client: &OperatorClient) -> CommandResult {
        match self {
            CarrierVerb::Resume { name } => resume(client, &name).await,
            CarrierVerb::Drain { name, stay } => {
                let draining = if stay { "stay" } else { "move" };
                change(client, &name, "draining", draining).await
            }
            CarrierVerb::Disable { name } => change(client, &name, "disabled", true).await,
            CarrierVerb::Receipts(command) => command.run(client).await,
            CarrierVerb::Test(command) => command.run(client).await,
            CarrierVerb::Trace(command) => command.run(client).await,
        }
    }
}

/// Sets a field of a carrier that ends its traffic, and prints what it still has to do.
async fn change(
    client: &OperatorClient,
    name: &str,
    field: &'static str,
    value: impl Into<Value>,
) -> CommandResult {
    entries::patch(client, Kind::Carrier, name, EntryFields::one(field, value)).await?;
    if client.json {
        return Ok(());
    }
    let work = client.get(&format!("/queues/{}", escape(name))).await?;
    client.print(&work, |work: CarrierWorkView| work_text(&work))
}

fn work_text(CarrierWorkView { queue, without_receipt, .. }: &CarrierWorkView) -> String {
    format!(
        "{} parts wait, {} are sent and not answered, {without_receipt} wait for a receipt.\n",
        queue.waiting, queue.in_flight
    )
}

async fn resume(client: &OperatorClient, name: &str) -> CommandResult {
    let carrier = entries::path(Kind::Carrier, name);
    let EntryView { entry, .. } = client.get(&carrier).await?.read_as().map_err(Failure::failed)?;
    if entry.get("draining").is_some_and(|draining| !draining.is_null()) {
        let fields = EntryFields::one("draining", Value::Null);
        return entries::patch(client, Kind::Carrier, name, fields).await;
    }
    let response = client.send(Method::POST, &format!("{carrier}/resume"), RequestBody::None).await?;
    client.print(&response, |ResumedView { resumed, missing_nodes, .. }| {
        let done = if resumed { "sends again" } else { "was neither drained nor stopped" };
        format!("{name} {done}.\n{}", silent_nodes(&missing_nodes))
    })
}
