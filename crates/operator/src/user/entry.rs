//! User entries: people who use the portal. A file or a request names them without a password; each user chooses one by a
//! one-time link, and accepts each account.

use crate::entry::checks;
use crate::entry::documents::EntryNames;
use crate::entry::draft::{Draft, FileEntry};
use crate::entry::names::{NameForm, ReadName, canonical_email};
use crate::kind::Kind;
use crate::refusal::{ProvisionRefusal, ProvisionResult};
use hermod_domain::catalogue::{Membership, PendingInvitation, Role, User};
use hermod_domain::ids::AccountId;
use hermod_domain::operator_role::OperatorPermission;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The most accounts of one user.
const ACCOUNTS_MAX: usize = 100;

/// A person who uses the portal.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = User)]
pub struct WantedUser {
    /// The address that the user signs in with, in lower case.
    #[serde(deserialize_with = "checks::email")]
    #[schema(max_length = 254, examples("ann@example.com"))]
    pub email: String,
    /// The name that other users see.
    #[serde(default, deserialize_with = "checks::person", skip_serializing_if = "String::is_empty")]
    #[schema(max_length = 100, examples("Ann Example"))]
    pub name: String,
    /// The accounts of the user, each with a role.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accounts: Vec<WantedMembership>,
    /// The accounts that the user has not accepted yet. Only shown: a user accepts, and no file or request does it instead.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(read_only)]
    pub pending: Vec<String>,
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

impl FileEntry for WantedUser {
    const KIND: Kind = Kind::User;
    const ABOUT: &'static str = "People who use the portal, and their roles in accounts.";
    const NAME_FORM: NameForm = NameForm {
        form: "The e-mail address of the user.",
        example: "ann@example.com",
        expected: "expected an e-mail address",
    };
    const IN_NAME: &'static [&'static str] = &["email"];
    const CHANGED_WITH: OperatorPermission = OperatorPermission::Operations;
    type Document = User;

    fn name(&self) -> String {
        self.email.clone()
    }

    fn read_name(name: &str) -> Option<ReadName> {
        canonical_email(name).map(|email| (email.clone(), vec![("email", email)]))
    }

    fn document(&self, draft: &mut Draft<'_>, before: Option<&User>) -> ProvisionResult<User> {
        let WantedUser { email, name, accounts: wanted, pending: _, disabled } = self;
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
            let known = before.and_then(|before| before.membership(account));
            let pending = match known {
                Some(known) => known.pending.clone(),
                None => Some(PendingInvitation::default()),
            };
            accounts.push(Membership { account, role: *role, pending });
        }
        Ok(User {
            name: name.clone(),
            accounts,
            password: before.and_then(|before| before.password.clone()),
            is_proven: before.is_some_and(|before| before.is_proven),
            second_factor: before.and_then(|before| before.second_factor.clone()),
            disabled: *disabled,
        })
    }

    fn shown(name: &str, document: User, names: &EntryNames) -> WantedUser {
        let User { name: person, accounts, password: _, is_proven: _, second_factor: _, disabled } = document;
        let name_of = |account: AccountId| names.of(Kind::Account, account.get());
        let pending = accounts.iter().filter(|membership| membership.pending.is_some());
        WantedUser {
            email: name.to_owned(),
            name: person,
            pending: pending.map(|membership| name_of(membership.account)).collect(),
            accounts: accounts
                .iter()
                .map(|Membership { account, role, pending: _ }| WantedMembership {
                    account: name_of(*account),
                    role: *role,
                })
                .collect(),
            disabled,
        }
    }

    fn secret_changed(before: &User, after: &User) -> Option<&'static str> {
        if before.password != after.password {
            return Some("password");
        }
        (before.second_factor != after.second_factor).then_some("second_factor")
    }
}
