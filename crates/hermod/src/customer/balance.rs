//! `hermod balance`: the balance of a customer's account.

use super::{Access, CREDENTIALS_HELP};
use crate::client::Amount;
use crate::failure::{CommandResult, Failure};
use crate::{output, runtime};
use clap::Args;
use serde::Deserialize;

/// Show the balance of your account
#[derive(Args)]
#[command(after_help = format!("Examples:\n  hermod balance\n  hermod balance --json | jq .available\n\n{CREDENTIALS_HELP}"))]
pub(crate) struct Balance {
    #[command(flatten)]
    access: Access,
}

#[derive(Deserialize)]
struct Record {
    balance: Amount,
    currency: String,
    credit_limit: Amount,
    credit_used: Amount,
    available: Amount,
    payment_terms: String,
}

impl Balance {
    pub(crate) fn run(self) -> CommandResult {
        let customer = self.access.customer()?;
        runtime::block_on(async move {
            let response = customer.get("/balance").await?;
            if customer.json {
                return output::print_json(&response.body);
            }
            let Record { balance, currency, credit_limit, credit_used, available, payment_terms } =
                response.read_as().map_err(Failure::failed)?;
            output::print(&output::fields(&[
                ("available", format!("{available} {currency}")),
                ("balance", balance.to_string()),
                ("credit limit", credit_limit.to_string()),
                ("credit used", credit_used.to_string()),
                ("terms", payment_terms),
            ]))
        })
    }
}
