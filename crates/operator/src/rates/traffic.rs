//! What was sent to the destinations of losses in the last 30 days, from the statistics of the record.

use crate::find::account_name;
use crate::rates::losses::{Loss, Losses};
use crate::rates::views::LossView;
use crate::views::amount::Amount;
use hermod_domain::area::Area;
use hermod_domain::ids::AccountId;
use hermod_domain::numbers::Numbers;
use hermod_gateway::gateway::Gateway;
use hermod_store::record::{Dimension, Resolution, Scope, StatisticsQuery, Value};
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

const BACK: Duration = Duration::from_secs(30 * 86_400);
/// Accounts whose statistics are read, each with two queries.
const ACCOUNTS_MAX: usize = 200;

/// The parts of an account to each network and country; `None` if they are not known.
type Parts = HashMap<(AccountId, String), u64>;

/// Returns the losses with the most traffic, and how many there are.
pub(crate) async fn with_traffic(gateway: &Gateway, losses: &Losses, listed: usize) -> (Vec<LossView>, u64) {
    let accounts: BTreeSet<AccountId> = losses.found.iter().map(|loss| loss.account).collect();
    let mut parts = Parts::new();
    let mut known = BTreeSet::new();
    for account in accounts.into_iter().take(ACCOUNTS_MAX) {
        if read(gateway, account, &mut parts).await.is_some() {
            known.insert(account);
        }
    }
    let parts_of = |loss: &Loss| {
        let place = match loss.area {
            // The record knows no prefixes: it is the country's traffic.
            Area::Prefix(prefix) => {
                let to = Numbers::example_of(prefix)?;
                Area::Country(Numbers::embedded().find(to).country?)
            }
            area => area,
        };
        let sent = parts.get(&(loss.account, Area::name(place))).copied().unwrap_or(0);
        known.contains(&loss.account).then_some(sent)
    };
    let mut all: Vec<(Option<u64>, &Loss)> = losses.found.iter().map(|loss| (parts_of(loss), loss)).collect();
    all.sort_by_key(|(parts, loss)| (Reverse(*parts), loss.from));
    let view = |(parts, loss): &(Option<u64>, &Loss)| LossView {
        account: account_name(gateway, loss.account),
        destination: Area::name(loss.area),
        from: loss.from.to_iso(),
        price: Amount(loss.price),
        cost: Amount(loss.cost),
        currency: loss.currency.to_string(),
        parts: *parts,
    };
    let views = all.iter().take(listed).map(view).collect();
    (views, u64::try_from(all.len()).unwrap_or(u64::MAX))
}

/// Adds the parts of an account. None if the record does not have them.
async fn read(gateway: &Gateway, account: AccountId, parts: &mut Parts) -> Option<()> {
    let now = gateway.clock.now();
    for by in [Dimension::Network, Dimension::Country] {
        let from = Resolution::Day.start_of(now.minus(BACK));
        let query = StatisticsQuery { resolution: Resolution::Day, by, value: None, from, until: now };
        let rows = gateway.store.record().statistics(Scope::Account(account), query).await.ok()?;
        for row in rows {
            if let Value::Text(place) = row.value {
                *parts.entry((account, place.into_string())).or_default() += row.figures.parts;
            }
        }
    }
    Some(())
}
