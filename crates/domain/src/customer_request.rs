//! What a customer can request from the operator.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What a request is for. Stored as small integers: add, never renumber.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum CustomerRequestKind {
    /// A sender ID.
    Sender,
    /// Permission to send to a country.
    Country,
    /// A number that receives MO messages.
    Number,
    /// The verification of the customer's identity.
    Verification,
    /// Requests per second of a connection.
    Rate,
    /// The window of a connection's binds.
    Window,
    /// The SMPP throughput of the account: a tier, or parts per second.
    Tier,
    /// A deposit.
    TopUp,
}

impl CustomerRequestKind {
    pub const ALL: [CustomerRequestKind; 8] = [
        CustomerRequestKind::Sender,
        CustomerRequestKind::Country,
        CustomerRequestKind::Number,
        CustomerRequestKind::Verification,
        CustomerRequestKind::Rate,
        CustomerRequestKind::Window,
        CustomerRequestKind::Tier,
        CustomerRequestKind::TopUp,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            CustomerRequestKind::Sender => "sender",
            CustomerRequestKind::Country => "country",
            CustomerRequestKind::Number => "number",
            CustomerRequestKind::Verification => "verification",
            CustomerRequestKind::Rate => "rate",
            CustomerRequestKind::Window => "window",
            CustomerRequestKind::Tier => "tier",
            CustomerRequestKind::TopUp => "top-up",
        }
    }

    pub fn parse(text: &str) -> Option<CustomerRequestKind> {
        CustomerRequestKind::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    pub const fn to_stored(self) -> i64 {
        match self {
            CustomerRequestKind::Sender => 0,
            CustomerRequestKind::Country => 1,
            CustomerRequestKind::Number => 2,
            CustomerRequestKind::Verification => 3,
            CustomerRequestKind::Rate => 4,
            CustomerRequestKind::Window => 5,
            CustomerRequestKind::Tier => 6,
            CustomerRequestKind::TopUp => 7,
        }
    }

    pub fn from_stored(number: i64) -> Option<CustomerRequestKind> {
        CustomerRequestKind::ALL.into_iter().find(|kind| kind.to_stored() == number)
    }

    /// Whether a request of this kind is about one connection of the account.
    pub const fn is_of_connection(self) -> bool {
        matches!(self, CustomerRequestKind::Rate | CustomerRequestKind::Window)
    }
}

impl fmt::Display for CustomerRequestKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The state of a request. Stored as small integers: add, never renumber.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum CustomerRequestState {
    /// The operator has not decided.
    Open,
    Accepted,
    Declined,
    /// The customer has withdrawn it.
    Withdrawn,
}

impl CustomerRequestState {
    pub const ALL: [CustomerRequestState; 4] = [
        CustomerRequestState::Open,
        CustomerRequestState::Accepted,
        CustomerRequestState::Declined,
        CustomerRequestState::Withdrawn,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            CustomerRequestState::Open => "open",
            CustomerRequestState::Accepted => "accepted",
            CustomerRequestState::Declined => "declined",
            CustomerRequestState::Withdrawn => "withdrawn",
        }
    }

    pub const fn to_stored(self) -> i64 {
        match self {
            CustomerRequestState::Open => 0,
            CustomerRequestState::Accepted => 1,
            CustomerRequestState::Declined => 2,
            CustomerRequestState::Withdrawn => 3,
        }
    }

    pub fn from_stored(number: i64) -> Option<CustomerRequestState> {
        CustomerRequestState::ALL.into_iter().find(|state| state.to_stored() == number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_numbers_and_words_name_one_kind_and_state_each() {
        for kind in CustomerRequestKind::ALL {
            assert_eq!(CustomerRequestKind::from_stored(kind.to_stored()), Some(kind));
            assert_eq!(CustomerRequestKind::parse(kind.as_str()), Some(kind));
        }
        for state in CustomerRequestState::ALL {
            assert_eq!(CustomerRequestState::from_stored(state.to_stored()), Some(state));
        }
        assert_eq!(CustomerRequestKind::from_stored(8), None);
        assert_eq!(CustomerRequestState::from_stored(4), None);
    }
}
