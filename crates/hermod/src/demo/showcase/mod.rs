//! Two showcase accounts beside the demo's own: `aurora`, a shop that writes to twelve countries, and `kite`, a taxi service whose
//! webhook fails. They begin with three days of traffic and a few requests to the operator, and get a trickle of new messages.

mod content;
mod requests;
mod traffic;
mod trickle;

pub(super) use trickle::run as run_trickle;

use super::history::{DemoError, play, play_requests};
use super::seed::{self, read};
use crate::failure::{CommandResult, Failure};
use crate::provision_file;
use hermod_gateway::clock::Clock;
use hermod_gateway::config::WebhooksSection;
use hermod_gateway::running::Opened;
use hermod_operator::setup::file_entries::WantedSetup;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

/// The accounts, and the keys that their traffic uses.
pub(super) const SHOP: ShowcaseAccount = ShowcaseAccount { key: "aurora-shop", number: "+4915700000100" };
pub(super) const TAXI: ShowcaseAccount = ShowcaseAccount { key: "kite-dispatch", number: "+447400000200" };

/// How long before the first message the accounts were made.
const MADE_BEFORE: Duration = Duration::from_secs(26 * 3600);
/// The webhook was set this long ago: it has failed since then.
const WEBHOOK_SET: Duration = Duration::from_secs(40 * 60);

#[derive(Clone, Copy, Debug)]
pub(super) struct ShowcaseAccount {
    pub(super) key: &'static str,
    /// Where its customers reply to.
    pub(super) number: &'static str,
}

/// The entries of both accounts. Prices of their own, so that those of the demo's account stay as they are.
pub(super) fn provision_text() -> String {
    // Hundredths of the usual price.
    let prices = [("aurora", 100), ("kite", 110)].map(|(account, percent)| {
        let prices = content::COUNTRIES.iter().map(|country| {
            let price = country.price * percent / 100;
            format!(
                "[[price]]\naccount = \"{account}\"\ncountry = \"{}\"\nper_part = \"0.{price:04}\"\n",
                country.code
            )
        });
        prices.collect::<String>()
    });
    format!("{}{}", include_str!("accounts.toml"), prices.concat())
}

/// Makes the accounts and their traffic in an empty data folder.
pub(super) async fn make(
    opened: &Opened,
    carrier: SocketAddr,
    rules: &WebhooksSection,
    clock: &Clock,
) -> CommandResult {
    let now = clock.now();
    let begun = Clock::manual(now.minus(traffic::LENGTH + MADE_BEFORE));
    apply(opened, seed::with_carrier(read(provision_text()), carrier), rules, &begun).await?;
    let (before, since) = traffic::make(now, WEBHOOK_SET);
    play(opened, seed::CARRIER, before).await.map_err(not_played)?;
    play_requests(opened, requests::all(now)).await.map_err(not_played)?;
    // Nothing listens there.
    let webhook = "[[account]]\nname = \"kite\"\ndlr_webhook = \"http://127.0.0.1:1025/webhooks/dlr\"\n";
    let set = Clock::manual(now.minus(WEBHOOK_SET));
    apply(opened, read(webhook.to_owned()), rules, &set).await?;
    play(opened, seed::CARRIER, since).await.map_err(not_played)?;
    Ok(())
}

async fn apply(
    opened: &Opened,
    wanted: WantedSetup,
    rules: &WebhooksSection,
    clock: &Clock,
) -> CommandResult {
    let wanted = wanted.judged_by(rules.rules());
    provision_file::apply(opened, &wanted, Path::new("the demo's showcase"), clock).await.map(drop)
}

fn not_played(error: DemoError) -> Failure {
    Failure::failed(format!("the demo's showcase: {error}"))
}

#[cfg(test)]
mod tests;
