//! People who use the portal, with their roles in accounts and how they sign in; and operators.

use super::Catalogue;
use crate::ids::AccountId;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fmt;

/// What a user may do in an account. The permissions of each role are in [`crate::permission`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Everything, and the other users.
    Owner,
    /// Messages, keys, binds and webhooks.
    Developer,
    /// Balance, ledger and statements; neither texts nor whole numbers.
    Billing,
    /// Reads what a developer reads, and changes nothing.
    Viewer,
}

impl Role {
    pub const ALL: [Role; 4] = [Role::Owner, Role::Developer, Role::Billing, Role::Viewer];

    pub const fn as_str(self) -> &'static str {
        match self {
            Role::Owner => "owner",
            Role::Developer => "developer",
            Role::Billing => "billing",
            Role::Viewer => "viewer",
        }
    }

    pub fn parse(text: &str) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.as_str() == text)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A user's role in an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Membership {
    pub account: AccountId,
    pub role: Role,
}

/// The second factor of a user: one-time codes by time (RFC 6238).
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecondFactor {
    /// Encrypted.
    pub secret: String,
    /// Keyed digests of the recovery codes that are left.
    pub recovery: Vec<String>,
    /// When it was switched on.
    pub since: Timestamp,
}

/// A user.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct User {
    /// The name that other users see; empty if there is none.
    #[serde(default)]
    pub name: String,
    pub accounts: Vec<Membership>,
    /// Argon2id; none until the user has accepted the invitation.
    #[serde(default)]
    pub password: Option<String>,
    #[serde(default)]
    pub second_factor: Option<SecondFactor>,
    /// A disabled user cannot sign in.
    #[serde(default)]
    pub disabled: bool,
}

impl User {
    /// Returns the user's role in an account.
    pub fn role_in(&self, account: AccountId) -> Option<Role> {
        self.accounts
            .iter()
            .find(|membership| membership.account == account)
            .map(|membership| membership.role)
    }

    /// Whether the user has chosen a password and may sign in.
    pub fn can_sign_in(&self) -> bool {
        self.password.is_some() && !self.disabled
    }

    /// Returns the accounts of the user.
    pub fn owners(&self) -> impl Iterator<Item = AccountId> {
        self.accounts.iter().map(|membership| membership.account)
    }
}

/// A user with the role in an account.
#[derive(Clone, Copy, Debug)]
pub struct AccountUser<'a> {
    pub id: u32,
    pub email: &'a str,
    pub user: &'a User,
    pub role: Role,
}

/// A person or program that uses the operator API with a token of its own. Only a keyed digest of the token is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OperatorEntry {
    /// Lower-case hex.
    pub token_digest: String,
}

impl Catalogue {
    pub fn users(&self) -> &Users {
        &self.users
    }

    /// Returns the operators with tokens of their own, by name.
    pub fn operators(&self) -> &[(String, OperatorEntry)] {
        &self.operators
    }
}

/// All users.
#[derive(Debug, Default)]
pub struct Users {
    by_email: HashMap<String, (u32, User)>,
    emails: HashMap<u32, String>,
}

impl Users {
    pub(super) fn of(users: Vec<(u32, String, User)>) -> Users {
        Users {
            emails: users.iter().map(|(id, email, _)| (*id, email.clone())).collect(),
            by_email: users.into_iter().map(|(id, email, user)| (email, (id, user))).collect(),
        }
    }

    /// Returns the user with this e-mail address, in lower case, and its id.
    pub fn find(&self, email: &str) -> Option<(u32, &User)> {
        self.by_email.get(email).map(|(id, user)| (*id, user))
    }

    /// Returns the user with this id, and the e-mail address.
    pub fn by_id(&self, id: u32) -> Option<(&str, &User)> {
        let email = self.emails.get(&id)?;
        self.by_email.get(email).map(|(_, user)| (email.as_str(), user))
    }

    /// Returns the users of an account in the order of their e-mail addresses.
    pub fn of_account(&self, account: AccountId) -> Vec<AccountUser<'_>> {
        let members = self.by_email.iter().filter_map(|(email, (id, user))| {
            let role = user.role_in(account)?;
            Some(AccountUser { id: *id, email, user, role })
        });
        let mut members: Vec<_> = members.collect();
        members.sort_by_key(|member| member.email);
        members
    }
}

/// Prints no secret.
impl fmt::Debug for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("User")
            .field("accounts", &self.accounts)
            .field("disabled", &self.disabled)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for SecondFactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecondFactor({} recovery codes)", self.recovery.len())
    }
}
