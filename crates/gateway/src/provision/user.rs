//! User entries: people who use the portal. A file or a request names them without a password; each user chooses one by a
//! one-time link.

use crate::provision::ProvisionRefusal;
use crate::provision::documents::Names;
use crate::provision::draft::{Draft, Entry};
use crate::provision::email_address::canonical_email;
use crate::provision::kind::Kind;
use crate::provision::plan::Plan;
use crate::secrets::Pepper;
use hermod_domain::catalogue::{Membership, Role, SecondFactor, User};
use hermod_domain::ids::AccountId;
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::url::AddressRules;
use hermod_store::CatalogueRow;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

const PERSON_CHARS_MAX: usize = 100;
/// The most accounts of one user.
const ACCOUNTS_MAX: usize = 100;

/// A person who uses the portal.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = User)]
pub struct WantedUser {
    /// The address that the user signs in with, in lower case.
    #[serde(deserialize_with = "email")]
    #[schema(max_length = 254, examples("ann@example.com"))]
    pub email: String,
    /// The name that other users see.
    #[serde(default, deserialize_with = "person", skip_serializing_if = "String::is_empty")]
    #[schema(max_length = 100, examples("Ann Example"))]
    pub name: String,
    /// The accounts of the user, each with a role.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accounts: Vec<WantedMembership>,
    /// A disabled user cannot sign in, and sessions end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub disabled: bool,
}

/// A role in an account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WantedMembership {
    #[schema(examples("shop"))]
    pub account: String,
    /// `owner`, `developer`, `billing` or `viewer`.
    #[schema(value_type = String, pattern = "^(owner|developer|billing|viewer)$", examples("owner"))]
    pub role: Role,
}

impl Entry for WantedUser {
    const KIND: Kind = Kind::User;
    type Document = User;

    fn name(&self) -> String {
        self.email.clone()
    }

    fn document(&self, draft: &mut Draft<'_>, before: Option<&User>) -> Result<User, ProvisionRefusal> {
        let WantedUser { email, name, accounts: wanted, disabled } = self;
        let what = format!("user \"{email}\"");
        if wanted.len() > ACCOUNTS_MAX {
            return Err(ProvisionRefusal::about(&what, format!("has more than {ACCOUNTS_MAX} accounts")));
        }
        let mut accounts: Vec<Membership> = Vec::new();
        for WantedMembership { account: name, role } in wanted {
            let account = AccountId::new(draft.find(Kind::Account, name, &what)?);
            if accounts.iter().any(|other| other.account == account) {
                return Err(ProvisionRefusal::about(&what, format!("has two roles in account \"{name}\"")));
            }
            accounts.push(Membership { account, role: *role });
        }
        Ok(User {
            name: name.clone(),
            accounts,
            password: before.and_then(|before| before.password.clone()),
            second_factor: before.and_then(|before| before.second_factor.clone()),
            disabled: *disabled,
        })
    }

    fn shown(name: &str, document: User, names: &Names) -> WantedUser {
        let User { name: person, accounts, password: _, second_factor: _, disabled } = document;
        let accounts = accounts.iter().map(|Membership { account, role }| WantedMembership {
            account: names.of(Kind::Account, account.get()),
            role: *role,
        });
        WantedUser { email: name.to_owned(), name: person, accounts: accounts.collect(), disabled }
    }

    fn secret_changed(before: &User, after: &User) -> Option<&'static str> {
        if before.password != after.password {
            return Some("password");
        }
        (before.second_factor != after.second_factor).then_some("second_factor")
    }
}

fn email<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    let wrong = || D::Error::custom(format!("\"{text}\" is not an e-mail address such as ann@example.com"));
    canonical_email(&text).ok_or_else(wrong)
}

fn person<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.chars().count() <= PERSON_CHARS_MAX && !text.chars().any(char::is_control) {
        return Ok(text);
    }
    Err(D::Error::custom(format!(
        "a name has at most {PERSON_CHARS_MAX} characters and no control characters"
    )))
}

/// A change of how a user signs in.
#[derive(Clone, Debug)]
pub enum SignInChange {
    /// The hash of another password.
    Password(String),
    /// Another second factor, or none.
    SecondFactor(Option<SecondFactor>),
    /// The digests of other recovery codes.
    RecoveryCodes(Vec<String>),
    /// The digest of a recovery code that is used up. Refused if it is not one of those that are left.
    SpentRecoveryCode(String),
}

/// Plans a change of how a user signs in.
pub fn change_sign_in(
    rows: Vec<CatalogueRow>,
    pepper: &Pepper,
    user: &str,
    change: SignInChange,
    now: Timestamp,
) -> Result<Plan, ProvisionRefusal> {
    let rules = AddressRules::default();
    let mut draft = Draft::over(rows, pepper, &rules, now)?;
    draft.rewrite::<WantedUser>(user, |document| {
        match change {
            SignInChange::Password(hash) => document.password = Some(hash),
            SignInChange::SecondFactor(factor) => document.second_factor = factor,
            SignInChange::RecoveryCodes(digests) => factor_of(document, user)?.recovery = digests,
            SignInChange::SpentRecoveryCode(digest) => {
                let left = &mut factor_of(document, user)?.recovery;
                let place = left.iter().position(|other| *other == digest);
                let unknown = || ProvisionRefusal::about(&what(user), "has no such recovery code");
                left.remove(place.ok_or_else(unknown)?);
            }
        }
        Ok(())
    })?;
    draft.finish()
}

fn factor_of<'a>(document: &'a mut User, user: &str) -> Result<&'a mut SecondFactor, ProvisionRefusal> {
    let none = || ProvisionRefusal::about(&what(user), "has no second factor");
    document.second_factor.as_mut().ok_or_else(none)
}

fn what(user: &str) -> String {
    format!("user \"{user}\"")
}

/// Plans a change of a user's role in one account: another role, or none. The roles in other accounts stay. A user without a role
/// in any account is removed.
pub fn change_membership(
    rows: Vec<CatalogueRow>,
    pepper: &Pepper,
    user: &str,
    (account, role): (AccountId, Option<Role>),
    now: Timestamp,
) -> Result<Plan, ProvisionRefusal> {
    let rules = AddressRules::default();
    let mut draft = Draft::over(rows, pepper, &rules, now)?;
    let stored = draft.stored::<User>(Kind::User, user)?;
    let is_elsewhere = stored.is_some_and(|user| user.owners().any(|other| other != account));
    if role.is_none() && !is_elsewhere {
        draft.remove(Kind::User, user)?;
        return draft.finish();
    }
    draft.rewrite::<WantedUser>(user, |document| {
        let found = document.accounts.iter_mut().find(|membership| membership.account == account);
        match (found, role) {
            (Some(membership), Some(role)) => membership.role = role,
            (None, Some(role)) => document.accounts.push(Membership { account, role }),
            (_, None) => document.accounts.retain(|membership| membership.account != account),
        }
        Ok(())
    })?;
    draft.finish()
}
