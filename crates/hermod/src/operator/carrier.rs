//! `hermod carrier`: the verbs for carriers that do more than set a field: tests, traces, receipts.

use super::carrier_test;
use super::entries;
use super::entries::OwnVerb;
use super::operator_client::{OperatorClient, RequestBody};
use super::receipts;
use super::tables::silent_nodes;
use super::trace;
use crate::failure::CommandResult;
use clap::Subcommand;
use hermod_operator::carrier::views::ResumedView;
use hermod_operator::kind::Kind;
use hyper::Method;

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
  hermod carrier disable acme

A carrier cannot be removed, because messages refer to it. A disabled carrier has no links, and the
messages that are routed to it wait. docs/carriers.md describes the fields.";

#[derive(Subcommand)]
pub(super) enum CarrierVerb {
    /// Resume a carrier that was stopped because it rejected PDUs as malformed
    #[command(after_help = "Example:\n  hermod carrier resume acme")]
    Resume {
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

impl OwnVerb for CarrierVerb {
    async fn run(self, client: &OperatorClient) -> CommandResult {
        match self {
            CarrierVerb::Resume { name } => resume(client, &name).await,
            CarrierVerb::Receipts(command) => command.run(client).await,
            CarrierVerb::Test(command) => command.run(client).await,
            CarrierVerb::Trace(command) => command.run(client).await,
        }
    }
}

async fn resume(client: &OperatorClient, name: &str) -> CommandResult {
    let path = format!("{}/resume", entries::path(Kind::Carrier, name));
    let response = client.send(Method::POST, &path, RequestBody::None).await?;
    client.print(&response, |ResumedView { resumed, missing_nodes, .. }| {
        let done = if resumed { "sends again" } else { "was not stopped" };
        format!("{name} {done}.\n{}", silent_nodes(&missing_nodes))
    })
}
