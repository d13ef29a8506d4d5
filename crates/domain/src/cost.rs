//! What carriers ask for a part, by destination, kind of sender and date. The most specific area decides; within it, a cost for
//! the kind of the sender precedes one for any.

use crate::area::{Area, AreaTable};
use crate::dated::{Dated, VersionRefusal, Versions};
use crate::ids::{CarrierId, CostId};
use crate::money::{Currency, Money};
use crate::numbers::Destination;
use crate::phone::Msisdn;
use crate::price::PRICE_MAX;
use crate::sender::{Sender, SenderKind};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// When a carrier's cost is due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CostBasis {
    /// For each part that it was sent.
    #[default]
    Submit,
    /// For each part that it delivered.
    Delivered,
}

/// The kinds of sender IDs that carriers ask different costs for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SenderClass {
    Alphanumeric,
    Number,
}

/// What one part costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CostTerms {
    pub per_part: Money,
    pub currency: Currency,
    pub basis: CostBasis,
    /// The entry that says so.
    pub entry: CostId,
}

/// The terms for an area and a kind of sender; `None` closes the destination.
pub type CarrierTerms = Option<CostTerms>;

/// One cost, as a table is built from it.
#[derive(Clone, Copy, Debug)]
pub struct CarrierCost {
    pub carrier: CarrierId,
    pub area: Area,
    /// `None`: for any sender ID.
    pub sender_kind: Option<SenderClass>,
    pub terms: Dated<CarrierTerms>,
}

/// The cost that applies to a message at a carrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundCost<'a> {
    pub area: Area,
    pub sender_kind: Option<SenderClass>,
    pub terms: &'a Dated<CarrierTerms>,
}

/// Why costs are invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CostRefusal {
    #[error("carrier {carrier} has two costs for {area} from the same time on")]
    Duplicate { carrier: CarrierId, area: Area },
    #[error("the cost of carrier {carrier} for {area} ends before it begins")]
    Empty { carrier: CarrierId, area: Area },
    #[error("the cost {cost} of carrier {carrier} for {area} is not between 0 and {PRICE_MAX}")]
    OutOfRange { carrier: CarrierId, area: Area, cost: Money },
}

/// The costs of all carriers.
#[derive(Clone, Debug, Default)]
pub struct Costs(HashMap<CarrierId, AreaTable<BySender>>);

#[derive(Clone, Debug, Default)]
struct BySender {
    any: Versions<CarrierTerms>,
    alphanumeric: Versions<CarrierTerms>,
    number: Versions<CarrierTerms>,
}

impl SenderClass {
    pub const fn of(sender: &Sender) -> SenderClass {
        match sender.kind() {
            SenderKind::Alphanumeric => SenderClass::Alphanumeric,
            SenderKind::International | SenderKind::ShortCode => SenderClass::Number,
        }
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            SenderClass::Alphanumeric => "alphanumeric",
            SenderClass::Number => "number",
        }
    }

    /// Returns the class with this name.
    pub fn named(name: &str) -> Option<SenderClass> {
        [SenderClass::Alphanumeric, SenderClass::Number].into_iter().find(|class| class.as_str() == name)
    }
}

impl Costs {
    pub fn build(costs: impl IntoIterator<Item = CarrierCost>) -> Result<Costs, CostRefusal> {
        let mut by_carrier: HashMap<CarrierId, Vec<(Area, CarrierCost)>> = HashMap::new();
        for cost in costs {
            by_carrier.entry(cost.carrier).or_default().push((cost.area, cost));
        }
        let tables =
            by_carrier.into_iter().map(|(carrier, costs)| Ok((carrier, AreaTable::collect(costs, add)?)));
        tables.collect::<Result<_, CostRefusal>>().map(Costs)
    }

    /// Returns the cost of a carrier that applies at a time, which may be closed; `None` if none is known.
    pub fn find(
        &self,
        carrier: CarrierId,
        to: Msisdn,
        destination: &Destination<'_>,
        sender: SenderClass,
        at: Timestamp,
    ) -> Option<FoundCost<'_>> {
        let mut covering = self.0.get(&carrier)?.covering(to, destination);
        covering.find_map(|(area, costs)| {
            [Some(sender), None].into_iter().find_map(|sender_kind| {
                let terms = costs.of(sender_kind).in_force(at)?;
                Some(FoundCost { area, sender_kind, terms })
            })
        })
    }

    /// Returns the cost that an entry says, with its carrier; none if it says none or does not exist. Looks at every cost.
    pub fn said_by(&self, entry: CostId) -> Option<(CarrierId, FoundCost<'_>)> {
        let is_its = |terms: &&Dated<CarrierTerms>| terms.value.is_some_and(|terms| terms.entry == entry);
        self.0.iter().find_map(|(carrier, areas)| {
            areas.entries().find_map(|(area, costs)| {
                BySender::KINDS.into_iter().find_map(|sender_kind| {
                    let terms = costs.of(sender_kind).iter().find(is_its)?;
                    Some((*carrier, FoundCost { area, sender_kind, terms }))
                })
            })
        })
    }
}

impl BySender {
    const KINDS: [Option<SenderClass>; 3] =
        [None, Some(SenderClass::Alphanumeric), Some(SenderClass::Number)];

    const fn of(&self, sender: Option<SenderClass>) -> &Versions<CarrierTerms> {
        match sender {
            None => &self.any,
            Some(SenderClass::Alphanumeric) => &self.alphanumeric,
            Some(SenderClass::Number) => &self.number,
        }
    }

    const fn of_mut(&mut self, sender: Option<SenderClass>) -> &mut Versions<CarrierTerms> {
        match sender {
            None => &mut self.any,
            Some(SenderClass::Alphanumeric) => &mut self.alphanumeric,
            Some(SenderClass::Number) => &mut self.number,
        }
    }
}

fn add(costs: &mut BySender, area: Area, cost: CarrierCost) -> Result<(), CostRefusal> {
    let CarrierCost { carrier, sender_kind, terms, .. } = cost;
    let amount = terms.value.map_or(Money::ZERO, |terms| terms.per_part);
    if !(Money::ZERO..=PRICE_MAX).contains(&amount) {
        return Err(CostRefusal::OutOfRange { carrier, area, cost: amount });
    }
    costs.of_mut(sender_kind).add(terms).map_err(|refusal| match refusal {
        VersionRefusal::SameStart => CostRefusal::Duplicate { carrier, area },
        VersionRefusal::Empty => CostRefusal::Empty { carrier, area },
    })
}

#[cfg(test)]
#[path = "cost_tests.rs"]
mod tests;
