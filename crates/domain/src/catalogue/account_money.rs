//! What follows from the money of an account: its terms, and its low-balance warnings.

use crate::catalogue::{Account, Terms};
use crate::money::Money;
use serde::{Deserialize, Serialize};

/// How the available amount of an account stands to its two warnings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BalanceLevel {
    #[default]
    Enough,
    /// Below the first warning.
    Low,
    /// Below the second one.
    Urgent,
}

impl Account {
    pub fn terms(&self) -> Terms {
        let implied = if self.credit_limit > Money::ZERO { Terms::Postpaid } else { Terms::Prepaid };
        self.terms.unwrap_or(implied)
    }

    /// Returns the level of an available amount, and the amount of the warning that it is below.
    pub fn balance_level(&self, available: Money) -> (BalanceLevel, Option<Money>) {
        let is_below = |warning: &Money| available < *warning;
        if let Some(urgent) = self.urgent_below.filter(is_below) {
            return (BalanceLevel::Urgent, Some(urgent));
        }
        let low = self.warn_below.filter(is_below);
        (if low.is_some() { BalanceLevel::Low } else { BalanceLevel::Enough }, low)
    }
}
