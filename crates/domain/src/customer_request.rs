//! What a customer can request from the operator.

use serde::{Deserialize, Serialize};

named! {
    /// What a request is for. Stored as small integers: add, never renumber.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    pub enum CustomerRequestKind (to_stored, from_stored: i64) {
        /// A sender ID.
        Sender = 0 "sender",
        /// Permission to send to a country.
        Country = 1 "country",
        /// A number that receives MO messages.
        Number = 2 "number",
        /// The verification of the customer's identity.
        Verification = 3 "verification",
        /// Requests per second of a connection.
        Rate = 4 "rate",
        /// The window of a connection's binds.
        Window = 5 "window",
        /// The SMPP throughput of the account: a tier, or parts per second.
        Tier = 6 "tier",
        /// A deposit.
        TopUp = 7 "top-up",
    }
}

impl CustomerRequestKind {
    /// Whether a request of this kind is about one connection of the account.
    pub const fn is_of_connection(self) -> bool {
        matches!(self, CustomerRequestKind::Rate | CustomerRequestKind::Window)
    }
}

named! {
    /// The state of a request. Stored as small integers: add, never renumber.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    pub enum CustomerRequestState (to_stored, from_stored: i64) {
        /// The operator has not decided.
        Open = 0 "open",
        Accepted = 1 "accepted",
        Declined = 2 "declined",
        /// The customer has withdrawn it.
        Withdrawn = 3 "withdrawn",
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
