//! Finds what will be sold below its cost: every destination of the number data and every changed prefix is priced for every
//! account at every date of the plan.

use crate::rates::plan::PlannedRate;
use hermod_domain::area::Area;
use hermod_domain::catalogue::{Catalogue, Cost};
use hermod_domain::cost::{CostRefusal, CostTerms, Costs, SenderClass};
use hermod_domain::ids::{AccountId, CarrierId, CostId};
use hermod_domain::money::{Currency, Money};
use hermod_domain::numbers::{Destination, Numbers};
use hermod_domain::phone::Msisdn;
use hermod_domain::prefix::Prefix;
use hermod_domain::time::Timestamp;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Comparisons of a cost with a price. More than these, some seconds, are not made.
const COMPARED_MAX: usize = 10_000_000;
/// What is planned has no number yet, and nothing here asks for one.
const UNNUMBERED: CostId = CostId::new(0);
/// Dates of a plan at which costs are compared.
const DATES_MAX: usize = 8;

/// A destination that an account pays less for than the carrier asks, from a time on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Loss {
    pub(crate) account: AccountId,
    /// A network, a country, or a prefix that has a cost of its own.
    pub(crate) area: Area,
    pub(crate) from: Timestamp,
    pub(crate) price: Money,
    /// In the currency of the account.
    pub(crate) cost: Money,
    pub(crate) currency: Currency,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Losses {
    pub(crate) found: Vec<Loss>,
    /// Everything was compared.
    pub(crate) is_complete: bool,
}

/// A number of each destination that a plan may change.
struct Probe {
    area: Area,
    to: Msisdn,
    destination: Destination<'static>,
}

/// Finds the losses that a plan makes or makes larger.
pub(crate) fn find(
    catalogue: &Catalogue,
    carrier: CarrierId,
    stored: &[Cost],
    planned: &[PlannedRate],
) -> Result<Losses, CostRefusal> {
    let after = costs_after(stored, planned);
    let (old, new) = (table(stored.iter())?, table(after.into_values())?);
    let dates: BTreeSet<Timestamp> = planned.iter().map(PlannedRate::from).collect();
    let mut losses = Losses { found: Vec::new(), is_complete: dates.len() <= DATES_MAX };
    let dates: Vec<Timestamp> = dates.into_iter().take(DATES_MAX).collect();
    let mut accounts: Vec<_> = catalogue.accounts().collect();
    accounts.sort_unstable_by_key(|(id, _)| *id);
    let mut compared = 0;
    for Probe { area, to, destination } in probes(planned) {
        let raised = dates.iter().filter_map(|at| {
            let (before, then) = (
                dearest(&old, carrier, to, &destination, *at),
                dearest(&new, carrier, to, &destination, *at),
            );
            then.filter(|then| before.as_ref() != Some(then)).map(|then| (*at, before, then))
        });
        let raised: Vec<_> = raised.collect();
        for (account, view) in accounts.iter().filter(|_| !raised.is_empty()) {
            compared += raised.len();
            if compared > COMPARED_MAX {
                losses.is_complete = false;
                return Ok(losses);
            }
            let currency = view.account.currency;
            let converted = |terms: &CostTerms, at| {
                catalogue.exchange_rates().convert(terms.per_part, terms.currency, currency, at)
            };
            let loss = raised.iter().find_map(|(at, before, then)| {
                let price = view.prices().find(to, &destination, *at)?.price.value?;
                let cost = converted(then, *at).filter(|cost| *cost > price)?;
                let is_larger =
                    before.as_ref().and_then(|before| converted(before, *at)).is_none_or(|was| was < cost);
                is_larger.then_some(Loss { account: *account, area, from: *at, price, cost, currency })
            });
            losses.found.extend(loss);
        }
    }
    Ok(losses)
}

/// Returns the costs of a carrier as a plan leaves them, by destination and start.
fn costs_after<'c>(
    stored: &'c [Cost],
    planned: &'c [PlannedRate],
) -> BTreeMap<(String, Timestamp), &'c Cost> {
    let all = stored.iter().chain(planned.iter().map(|planned| &planned.cost));
    let named = all.filter_map(|cost| {
        let kind = cost.sender_kind.map_or("", SenderClass::as_str);
        let key = format!("{}:{kind}", cost.area()?.name());
        Some(((key, cost.from.unwrap_or(Timestamp::EPOCH)), cost))
    });
    named.collect()
}

fn table<'c>(costs: impl IntoIterator<Item = &'c Cost>) -> Result<Costs, CostRefusal> {
    Costs::build(costs.into_iter().filter_map(|cost| cost.in_table(UNNUMBERED)))
}

/// Returns the highest cost of a part over both kinds of sender ID.
fn dearest(
    costs: &Costs,
    carrier: CarrierId,
    to: Msisdn,
    destination: &Destination<'_>,
    at: Timestamp,
) -> Option<CostTerms> {
    let kinds = [SenderClass::Alphanumeric, SenderClass::Number];
    let found =
        kinds.into_iter().filter_map(|kind| costs.find(carrier, to, destination, kind, at)?.terms.value);
    found.max_by_key(|terms| terms.per_part)
}

/// Returns a number of every network and country of the number data, and of every prefix of the plan.
fn probes(planned: &[PlannedRate]) -> Vec<Probe> {
    let mut seen = HashSet::new();
    let known = Numbers::examples().iter().filter_map(|(destination, to)| {
        let area = destination.network.map(Area::Network).or(destination.country.map(Area::Country))?;
        Some(Probe { area, to: *to, destination: *destination })
    });
    let prefixes =
        planned.iter().filter_map(|planned| planned.cost.prefix).filter(|prefix| *prefix != Prefix::ANY);
    let prefixes = prefixes.filter_map(|prefix| {
        let to = Numbers::example_of(prefix)?;
        Some(Probe { area: Area::Prefix(prefix), to, destination: Numbers::embedded().find(to) })
    });
    known.chain(prefixes).filter(|probe| seen.insert(probe.area)).collect()
}
