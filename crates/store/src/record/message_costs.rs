//! What carriers were believed to ask for a message, and what they can bill.

use hermod_domain::believed_cost::BelievedCost;
use hermod_domain::ids::CarrierId;
use hermod_domain::lifecycle::Billable;
use hermod_domain::money::Money;
use hermod_engine::ops::EarlierCost;

/// What the carriers of a message were believed to ask, and what they can bill.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageCosts {
    /// What the carrier asks that has or had it last; none if that is not known.
    pub believed: Option<BelievedCost>,
    /// What that carrier can bill; none until the message has ended.
    pub billable: Option<Billable>,
    /// Of the carriers that had it before and may have got it, in the order of the moves.
    pub earlier: Vec<EarlierCost>,
}

/// A move of a message, or what the store has of its costs.
#[derive(Clone, Debug, Default)]
pub(crate) struct CostChange {
    pub believed: Option<BelievedCost>,
    pub earlier: Vec<EarlierCost>,
}

/// What is due to a carrier for a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DueCost {
    pub carrier: CarrierId,
    pub cost: BelievedCost,
    pub amount: Money,
}

impl MessageCosts {
    /// Applies a change. To apply it again changes nothing.
    pub(crate) fn apply(&mut self, CostChange { believed, earlier }: &CostChange) {
        self.believed = *believed;
        for more in earlier {
            if self.earlier.iter().all(|known| known.no != more.no) {
                self.earlier.push(*more);
            }
        }
    }

    /// Returns what is due to each carrier whose cost is known, in the order in which they had the message; nothing until it has
    /// ended. `carrier`: the last one. `parts`: of the message.
    pub(crate) fn due(&self, carrier: CarrierId, parts: u8) -> Vec<DueCost> {
        let MessageCosts { believed, billable: Some(billable), earlier } = self else { return Vec::new() };
        // No receipt of a carrier counts after the message has left it.
        let without_receipts = |submitted| Billable { submitted, delivered: 0 };
        let earlier = earlier.iter().map(|left| (left.carrier, left.cost, without_receipts(left.submitted)));
        let due = |(carrier, cost, billable): (CarrierId, Option<BelievedCost>, Billable)| {
            let cost = cost?;
            Some(DueCost { carrier, cost, amount: cost.due(billable, parts) })
        };
        earlier.chain([(carrier, *believed, *billable)]).filter_map(due).collect()
    }
}
