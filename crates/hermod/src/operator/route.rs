//! `hermod route`: the verbs for routes that do more than set a field.

use super::explain;
use super::operator_client::OperatorClient;
use super::target::ClientCommand;
use crate::failure::CommandResult;
use clap::Subcommand;

pub(super) const HELP: &str = "\
Examples:
  hermod route list
  hermod route set '*' carriers=acme
  hermod route set 49 carriers=acme,backup
  hermod route set 262-01 carriers=acme:1:70,beta:1:30,backup:2
  hermod route set shop/mcc262@Shop carriers=beta fail_over_refusals=true
  hermod route set 49 in_doubt=never-resend
  hermod route explain +4915112345678 --account shop --from Shop
  hermod route remove 49

The name of a route is [ACCOUNT/]AREA[@SENDER]. AREA is a prefix without a plus (49), a country (DE),
a network (262-01), an MCC (mcc262), or * for every number. The most specific route is taken: first
by account and sender, then by account, by sender, for all; among those by network, longest prefix,
country, then *.

A carrier is NAME, NAME:PRIORITY or NAME:PRIORITY:WEIGHT. Without priorities, the first carrier is
preferred and the next ones are its fallback. Carriers of the same priority share the recipients by
weight, and a recipient keeps its carrier while that carrier is healthy.";

#[derive(Subcommand)]
pub(super) enum RouteVerb {
    /// Explain which route a message to a number takes
    #[command(after_help = "Examples:\n  hermod route explain +4915112345678\n  \
                            hermod route explain +4915112345678 --account shop --from Shop\n\nNothing is sent.")]
    Explain(explain::ExplainArgs),
}

impl ClientCommand for RouteVerb {
    async fn run(self, client: &OperatorClient) -> CommandResult {
        match self {
            RouteVerb::Explain(explain) => explain.run(client).await,
        }
    }
}
