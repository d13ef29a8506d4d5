//! What each role may do in the portal: one table, for the handlers and for the test that walks them.

use crate::catalogue::Role;

named! {
    /// Something that a page shows or changes.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Permission {
        /// Messages, statistics and the request log.
        ReadMessages,
        /// Texts and whole phone numbers.
        ReadTexts,
        /// Sending, opt-outs, replies.
        SendMessages,
        /// Keys, binds, webhooks and their allow-lists, without secrets.
        ReadSetup,
        /// Changing them, and seeing their secrets once.
        ChangeSetup,
        /// Balance, ledger, statements, prices.
        ReadMoney,
        /// Warnings about a low balance, requests for a top-up.
        ChangeMoney,
        /// Requests to the operator.
        MakeRequests,
        /// Who is in the account, and the audit log.
        ReadTeam,
        /// Inviting and removing users, and changing their roles.
        ChangeTeam,
    }
}

impl Role {
    /// Whether this role has a permission.
    pub const fn may(self, permission: Permission) -> bool {
        use Permission::{
            ChangeMoney, ChangeSetup, ChangeTeam, MakeRequests, ReadMessages, ReadMoney, ReadSetup, ReadTeam,
            ReadTexts, SendMessages,
        };
        match self {
            Role::Owner => true,
            Role::Developer => match permission {
                ReadMessages | ReadTexts | SendMessages | ReadSetup | ChangeSetup | ReadMoney
                | MakeRequests | ReadTeam => true,
                ChangeMoney | ChangeTeam => false,
            },
            Role::Billing => match permission {
                ReadMessages | ReadMoney | ChangeMoney | MakeRequests => true,
                ReadTexts | SendMessages | ReadSetup | ChangeSetup | ReadTeam | ChangeTeam => false,
            },
            Role::Viewer => match permission {
                ReadMessages | ReadTexts | ReadSetup | ReadMoney | ReadTeam => true,
                SendMessages | ChangeSetup | ChangeMoney | MakeRequests | ChangeTeam => false,
            },
        }
    }
}

#[cfg(test)]
#[path = "permission_tests.rs"]
mod tests;
