//! People who use the portal, with their roles in accounts and how they sign in; and operators.

use super::Catalogue;
use crate::ids::AccountId;
use crate::operator_role::OperatorRole;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fmt;

named! {
    /// What a user may do in an account. The permissions of each role are in [`crate::permission`].
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Role {
        /// Everything, and the other users.
        Owner = "owner",
        /// Messages, keys, binds and webhooks.
        Developer = "developer",
        /// Balance, ledger and statements; neither texts nor whole numbers.
        Billing = "billing",
        /// Reads what a developer reads, and changes nothing.
        Viewer = "viewer",
    }
}

/// A user's role in an account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Membership {
    pub account: AccountId,
    pub role: Role,
    /// Set until the user accepts. A pending membership grants nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<PendingInvitation>,
}

/// The invitation to an account that its user has not accepted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PendingInvitation {
    /// The e-mail address of the user who invited; none if the operator did.
    pub invited_by: Option<String>,
    /// Until when it can be accepted; none for an invitation of the operator.
    pub expires_at: Option<Timestamp>,
}

impl PendingInvitation {
    pub fn has_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|expires_at| expires_at <= now)
    }
}

/// Who passes a link on to its user: what its use proves about the person.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LinkCourier {
    /// An owner of the account saw the link, and may have used it.
    #[default]
    Owner,
    /// It was mailed to the address of the user.
    Mail,
    /// The operator passes it on.
    Operator,
}

impl LinkCourier {
    /// Whether only the person of the address can have got the link.
    pub const fn proves_address(self) -> bool {
        matches!(self, LinkCourier::Mail | LinkCourier::Operator)
    }
}

/// What a link lets its holder do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkUse {
    /// Choose a password. All sessions end; `is_afresh` also removes the second factor. Memberships that were accepted before the
    /// address was proven are pending again.
    ChoosePassword { is_afresh: bool },
    /// Accept after signing in with the password that the user has.
    SignIn,
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
    pub name: String,
    pub accounts: Vec<Membership>,
    /// Argon2id; none until the user has accepted the invitation.
    pub password: Option<String>,
    /// Whether the person who knows the password has used a link that only the owner of the address could have: mailed to it, or
    /// passed on by the operator. Otherwise an owner of an account may have chosen the password.
    pub is_proven: bool,
    pub second_factor: Option<SecondFactor>,
    /// A disabled user cannot sign in.
    pub disabled: bool,
}

impl User {
    /// Returns the user's role in an account; none while the membership is pending.
    pub fn role_in(&self, account: AccountId) -> Option<Role> {
        self.memberships().find(|membership| membership.account == account).map(|membership| membership.role)
    }

    /// Returns the membership in an account, accepted or pending.
    pub fn membership(&self, account: AccountId) -> Option<&Membership> {
        self.accounts.iter().find(|membership| membership.account == account)
    }

    /// Returns the memberships that the user has accepted.
    pub fn memberships(&self) -> impl Iterator<Item = &Membership> {
        self.accounts.iter().filter(|membership| membership.pending.is_none())
    }

    /// Returns the invitations that the user can accept with the password alone. There are none for a user whose address is not
    /// proven: an owner of another account may have chosen the password.
    pub fn invitations(&self, now: Timestamp) -> impl Iterator<Item = (&Membership, &PendingInvitation)> {
        let pending = self.accounts.iter().filter(|_| self.is_proven);
        let pending = pending.filter_map(|membership| Some((membership, membership.pending.as_ref()?)));
        pending.filter(move |(_, invitation)| !invitation.has_expired(now))
    }

    /// Decides what a link of an account, or one for another password, lets its holder do.
    ///
    /// A link that an owner has seen never replaces a password: it would open the user's other accounts to that owner. It gives a
    /// disabled user none either, and looks the same. Any other
    /// link replaces a password that is not proven together with all that its holder may have set up, and so does an invitation
    /// of the operator to a further account.
    pub fn link_use(&self, account: Option<AccountId>, courier: LinkCourier) -> LinkUse {
        let is_further = account.is_some_and(|account| self.role_in(account).is_none());
        match courier {
            LinkCourier::Owner if self.password.is_some() || self.disabled => LinkUse::SignIn,
            LinkCourier::Owner | LinkCourier::Mail => LinkUse::ChoosePassword { is_afresh: !self.is_proven },
            LinkCourier::Operator => LinkUse::ChoosePassword { is_afresh: !self.is_proven || is_further },
        }
    }

    /// Accepts the membership in an account. Returns whether there was one that was pending.
    pub fn accept(&mut self, account: AccountId) -> bool {
        let mut own = self.accounts.iter_mut().filter(|membership| membership.account == account);
        own.next().is_some_and(|membership| membership.pending.take().is_some())
    }

    /// Accepts the membership in the account of a link for a user who signed in with the password. If the link proves the address,
    /// the user is proven too, and keeps the password, the second factor and all memberships.
    pub fn accept_with_link(&mut self, account: AccountId, courier: LinkCourier) {
        self.accept(account);
        self.is_proven |= courier.proves_address();
    }

    /// Sets the password that was chosen with a link, and accepts the membership in the account of the link. Returns false, and
    /// changes nothing, if the link does not let its holder choose one.
    pub fn choose_password(
        &mut self,
        hash: String,
        account: Option<AccountId>,
        courier: LinkCourier,
    ) -> bool {
        let LinkUse::ChoosePassword { is_afresh } = self.link_use(account, courier) else { return false };
        if is_afresh {
            self.second_factor = None;
        }
        if !self.is_proven {
            // Whoever accepted these did not prove the address.
            for membership in &mut self.accounts {
                membership.pending.get_or_insert_default();
            }
        }
        self.password = Some(hash);
        self.is_proven = courier.proves_address();
        if let Some(account) = account {
            self.accept(account);
        }
        true
    }

    /// Whether the user has chosen a password and may sign in.
    pub fn can_sign_in(&self) -> bool {
        self.password.is_some() && !self.disabled
    }

    /// Returns the accounts of the user, those with a pending membership too.
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
    pub role: OperatorRole,
    /// The token is invalid from then on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
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

    /// Returns the users who have accepted a role in an account, in the order of their e-mail addresses.
    pub fn of_account(&self, account: AccountId) -> Vec<AccountUser<'_>> {
        let members = self.with_membership(account).into_iter();
        members.filter_map(|(member, pending)| pending.is_none().then_some(member)).collect()
    }

    /// Returns the users with a pending membership in an account, in the order of their e-mail addresses.
    pub fn invited_to(&self, account: AccountId) -> Vec<(AccountUser<'_>, &PendingInvitation)> {
        let members = self.with_membership(account).into_iter();
        members.filter_map(|(member, pending)| Some((member, pending?))).collect()
    }

    fn with_membership(&self, account: AccountId) -> Vec<(AccountUser<'_>, Option<&PendingInvitation>)> {
        let members = self.by_email.iter().filter_map(|(email, (id, user))| {
            let Membership { account: _, role, pending } = user.membership(account)?;
            Some((AccountUser { id: *id, email, user, role: *role }, pending.as_ref()))
        });
        let mut members: Vec<_> = members.collect();
        members.sort_by_key(|(member, _)| member.email);
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

#[cfg(test)]
#[path = "users_tests.rs"]
mod tests;
