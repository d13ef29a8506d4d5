//! `hermod balance`: the balance of a customer's account.

use super::{AccessArgs, CREDENTIALS_HELP};
use crate::client::ExactAmount;
use crate::failure::{CommandResult, Failure};
use crate::{output, runtime};
use clap::Args;
use serde::Deserialize;

/// Show the balance of your account
#[derive(Args)]
#[command(after_help = format!("Examples:\n  hermod balance\n  hermod balance --json | jq .available\n\n{CREDENTIALS_HELP}"))]
pub(crate) struct BalanceArgs {
    #[command(flatten)]
    access: AccessArgs,
}

#[derive(Deserialize)]
struct Record {
    balance: ExactAmount,
    currency: String,
    credit_limit: ExactAmount,
    credit_used: ExactAmount,
    available: ExactAmount,
    payment_terms: String,
}

impl BalanceArgs {
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
