//! `hermod lookup`: the country, network, price and route of a number.

use super::explain::explanation_text;
use super::operator_client::{OperatorClient, with_query};
use super::target::ClientCommand;
use crate::client::escape;
use crate::failure::CommandResult;
use crate::output;
use clap::Args;
use hermod_operator::lookup::views::{LookupQuery, LookupView};

const EXAMPLES: &str = "\
Examples:
  hermod lookup +4915112345678
  hermod lookup +4915112345678 --account shop --from Shop

Nothing is sent. With an account, the price of a part and the name of that price are shown, and every
reason for which a message would be rejected now.";

/// Look up the network, price and route of a number
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LookupArgs {
    /// The number: a plus, then the number with its country code
    number: String,
    /// The sending account
    #[arg(long, value_name = "NAME")]
    account: Option<String>,
    /// The sender
    #[arg(long, value_name = "SENDER")]
    from: Option<String>,
}

impl ClientCommand for LookupArgs {
    async fn run(self, client: &OperatorClient) -> CommandResult {
        let LookupArgs { number, account, from } = self;
        let path = with_query(&format!("/lookup/{}", escape(&number)), &LookupQuery { account, from });
        client.print(&client.get(&path).await?, |view: LookupView| lookup_text(&view))
    }
}

fn lookup_text(view: &LookupView) -> String {
    let price = match (&view.per_part, &view.currency) {
        (Some(per_part), Some(currency)) => {
            let name = view.price.as_deref().unwrap_or_default();
            format!("{per_part} {currency} (price {})", output::safe(name))
        }
        (None, Some(_)) => "none".to_owned(),
        // Prices are those of an account.
        (_, None) => String::new(),
    };
    let country = match view.country.as_str() {
        "" => "unknown".to_owned(),
        country => format!("{country} ({})", view.country_code),
    };
    let network = match (view.mcc.as_str(), view.mnc.as_str()) {
        (mcc, "") => mcc.to_owned(),
        (mcc, mnc) => format!("{mcc}-{mnc}"),
    };
    let enabled = view.country_enabled.map_or("", |enabled| if enabled { "yes" } else { "no" });
    let fields = output::fields(&[
        ("number", view.number.clone()),
        ("country", country),
        ("operator", view.operator.clone()),
        ("network", network),
        ("per part", price),
        ("country enabled", enabled.to_owned()),
        ("block", view.block.clone().unwrap_or_default()),
    ]);
    let reasons: String =
        view.refusals.iter().map(|reason| format!("  {}\n", output::safe(reason))).collect();
    let acceptance = match (view.country_enabled, reasons.is_empty()) {
        (None, _) => String::new(),
        (Some(_), true) => "A message of this account would be accepted now.\n\n".to_owned(),
        (Some(_), false) => format!("A message of this account would be rejected now:\n{reasons}\n"),
    };
    format!("{fields}\n{acceptance}{}", explanation_text(&view.explanation))
}
