//! `hermod inbound`: what was sent to a customer.

use super::{Access, CREDENTIALS_HELP};
use crate::ending::{Ended, Failure};
use crate::runtime;
use crate::show::{self, Align, Table};
use clap::Args;
use serde::Deserialize;

const EXAMPLES: &str = "\
Examples:
  hermod inbound
  hermod inbound --since 42 --limit 500
  hermod inbound --json | jq .next_since

Messages come in the order of their ids. The last line says where to go on: what was read once is
not read again.";

/// Read messages that were sent to you
#[derive(Args)]
#[command(after_help = format!("{EXAMPLES}\n\n{CREDENTIALS_HELP}"))]
pub(crate) struct Inbound {
    /// Only messages after this id
    #[arg(long, value_name = "N", default_value_t = 0)]
    since: u64,
    /// At most so many, up to 500
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=500))]
    limit: u16,
    #[command(flatten)]
    access: Access,
}

#[derive(Deserialize)]
struct Page {
    messages: Vec<Message>,
    next_since: u64,
}

#[derive(Deserialize)]
struct Message {
    id: u64,
    from: String,
    to: String,
    text: String,
    received_at: String,
}

impl Inbound {
    pub(crate) fn run(self) -> Ended {
        let Inbound { since, limit, access } = self;
        let customer = access.customer()?;
        runtime::block_on(async move {
            let answer = customer.get(&format!("/inbound?since={since}&limit={limit}")).await?;
            if customer.json {
                return show::say_raw(&answer.body);
            }
            let Page { messages, next_since } = answer.read_as().map_err(Failure::failed)?;
            let mut table = Table::new(&[
                ("id", Align::Right),
                ("received", Align::Left),
                ("from", Align::Left),
                ("to", Align::Left),
                ("text", Align::Left),
            ]);
            for Message { id, from, to, text, received_at } in &messages {
                table.row([id.to_string(), received_at.clone(), from.clone(), to.clone(), text.clone()]);
            }
            show::say(&table.text("Nothing new."))?;
            if messages.is_empty() {
                return Ok(());
            }
            show::say(&format!("\nGo on with: hermod inbound --since {next_since}\n"))
        })
    }
}
