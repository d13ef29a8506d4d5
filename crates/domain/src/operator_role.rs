//! What each role of an operator may do: one table, for the operator API, its documentation and the tests that walk them.

use serde::{Deserialize, Serialize};

named! {
    /// What an operator may do with the operator API.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum OperatorRole {
        /// Reads what has no secret; never whole numbers of handsets or texts.
        Reader = "reader",
        /// Helps customers: searches, replays, decides held messages and requests.
        Support = "support",
        /// Prices, money, terms of accounts.
        Finance = "finance",
        /// Carriers, routes, accounts, secrets of customers, the gateway itself. Not money.
        Operations = "operations",
        /// Everything, other operators included.
        Admin = "admin",
    }
}

impl OperatorRole {
    /// Whether this role has a permission.
    pub const fn may(self, permission: OperatorPermission) -> bool {
        use OperatorPermission::{
            Accounts, Administration, Changes, Customers, Money, Operations, Personal, Reading, WholeNumbers,
        };
        match self {
            OperatorRole::Reader => match permission {
                Reading => true,
                Personal | WholeNumbers | Changes | Customers | Money | Accounts | Operations
                | Administration => false,
            },
            OperatorRole::Support => match permission {
                Reading | Personal | Changes | Customers => true,
                WholeNumbers | Money | Accounts | Operations | Administration => false,
            },
            OperatorRole::Finance => match permission {
                Reading | Personal | Changes | Money | Accounts => true,
                WholeNumbers | Customers | Operations | Administration => false,
            },
            OperatorRole::Operations => match permission {
                Reading | Personal | WholeNumbers | Changes | Customers | Accounts | Operations => true,
                Money | Administration => false,
            },
            OperatorRole::Admin => true,
        }
    }
}

named! {
    /// Something that a route of the operator API shows or changes.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum OperatorPermission {
        /// What has no secret. Numbers of handsets and texts of messages are masked.
        Reading,
        /// Whole numbers and texts, by a role without [`OperatorPermission::WholeNumbers`] only for a reason.
        Personal,
        /// Whole numbers and texts without a reason.
        WholeNumbers,
        /// Changes of several kinds, each of which needs a permission of its own.
        Changes,
        /// Replays, held messages, requests of customers, senders, opt-outs.
        Customers,
        /// Prices and ledgers.
        Money,
        /// Accounts: their terms and limits, and what they may send.
        Accounts,
        /// Carriers, routes, queues, secrets of customers, the gateway itself.
        Operations,
        /// Operators.
        Administration,
    }
}

impl OperatorPermission {
    /// Returns the roles that have it, the one with the fewest permissions first.
    pub fn roles(self) -> impl Iterator<Item = OperatorRole> {
        OperatorRole::ALL.into_iter().filter(move |role| role.may(self))
    }

    /// Names the roles that have it: `finance or admin`.
    pub fn named_roles(self) -> String {
        let names: Vec<&str> = self.roles().map(OperatorRole::as_str).collect();
        match names.split_last() {
            Some((last, [])) => (*last).to_owned(),
            Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
            None => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_permission_belongs_to_these_roles() {
        let expect = [
            "reader, support, finance, operations or admin",
            "support, finance, operations or admin",
            "operations or admin",
            "support, finance, operations or admin",
            "support, operations or admin",
            "finance or admin",
            "finance, operations or admin",
            "operations or admin",
            "admin",
        ];
        assert_eq!(OperatorPermission::ALL.map(OperatorPermission::named_roles), expect);
    }
}
