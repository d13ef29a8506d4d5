//! How a route chooses by cost: the order of its carriers, the margin that they must leave, and what happens where none
//! does.

use super::Margin;
use serde::{Deserialize, Serialize};

named! {
    /// The order of a route's carriers.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum ChooseBy {
        /// By priority and weight.
        #[default]
        Priority = "priority",
        /// The cheapest first.
        Cost = "cost",
        /// Those that deliver best first, by steps of the delivery rate; within a step the cheapest.
        Quality = "quality",
    }
}

named! {
    /// What happens to a new message if no carrier leaves the margin.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum OnLoss {
        /// It is rejected as without a route.
        #[default]
        Reject = "reject",
        /// It goes to the carrier that leaves most, with an alarm.
        Allow = "allow",
    }
}

named! {
    /// What becomes of a carrier whose cost is unknown.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum UnknownCost {
        /// It gets no message.
        Skip = "skip",
        /// It is after all others, and no margin is checked.
        Last = "last",
    }
}

/// Why a message needs a carrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occasion {
    /// It is new, or the operator has it routed again.
    Submission,
    /// Its carrier cannot send it, or rejected it.
    Failover,
}

/// What a route does with costs. The default looks at none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CostRules {
    pub choose: ChooseBy,
    /// `None`: any carrier may get a message, also one that costs more than the price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_margin: Option<Margin>,
    /// For failover, instead of `min_margin`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failover_margin: Option<Margin>,
    pub on_loss: OnLoss,
    /// `None`: skipped if there is a margin to check, otherwise last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unknown_cost: Option<UnknownCost>,
}

impl CostRules {
    /// Whether costs decide.
    pub fn apply_to(&self, occasion: Occasion) -> bool {
        self.choose != ChooseBy::Priority || self.margin(occasion).is_some()
    }

    /// Returns the margin that a carrier must leave.
    pub fn margin(&self, occasion: Occasion) -> Option<Margin> {
        match occasion {
            Occasion::Submission => self.min_margin,
            Occasion::Failover => self.failover_margin.or(self.min_margin),
        }
    }

    /// Whether carriers without a known cost get no message.
    pub(super) fn skips_unknown_costs(&self, occasion: Occasion) -> bool {
        match self.unknown_cost {
            Some(unknown) => unknown == UnknownCost::Skip,
            None => self.margin(occasion).is_some(),
        }
    }

    pub fn is_default(&self) -> bool {
        *self == CostRules::default()
    }
}
