//! `hermod deliveries`: delivery statistics by carrier, country and network.

use super::list::{ListFormat, print_list, table};
use super::operator_client::{OperatorClient, with_query};
use super::target::ClientCommand;
use crate::failure::CommandResult;
use clap::Args;
use hermod_operator::delivery::{DeliveriesQuery, DeliveriesView};

const EXAMPLES: &str = "\
Examples:
  hermod deliveries
  hermod deliveries --days 1 --by country
  hermod deliveries --carrier acme --days 30

Figures are in parts. A receipt counts for the day on which its part was accepted. DELIVERED is the
share of parts with a final receipt; OPEN parts have none so far. The bars of TIMES count deliveries
within 5 s, 15 s, 1 min, 5 min, 1 h, and longer.";

/// Show delivery statistics of carriers
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DeliveriesArgs {
    /// Number of days, today included
    #[arg(long, value_name = "N", default_value = "7")]
    days: u32,
    /// Only this carrier
    #[arg(long, value_name = "NAME")]
    carrier: Option<String>,
    /// What the figures are grouped by, beside the carrier
    #[arg(long, value_name = "GROUP", default_value = "network", value_parser = ["carrier", "country", "network"])]
    by: String,
    #[command(flatten)]
    format: ListFormat,
}

impl ClientCommand for DeliveriesArgs {
    async fn run(self, client: &OperatorClient) -> CommandResult {
        let DeliveriesArgs { days, carrier, by, format } = self;
        let query = DeliveriesQuery { days: Some(days.into()), carrier, by: Some(by) };
        let response = client.get(&with_query("/deliveries", &query)).await?;
        print_list(
            client,
            &response,
            format,
            |view: &DeliveriesView| view.items.clone(),
            |DeliveriesView { from, to, items }| {
                format!("{}\nFrom {from} to {to}, UTC days.\n", table(&items))
            },
        )
    }
}
