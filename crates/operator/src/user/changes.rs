//! Changes of a user that no entry expresses: how the user signs in, and membership in one account.

use crate::entry::draft::Draft;
use crate::entry::plan::Plan;
use crate::kind::Kind;
use crate::refusal::{ProvisionRefusal, ProvisionResult};
use crate::user::entry::WantedUser;
use hermod_domain::catalogue::{LinkCourier, Membership, PendingInvitation, Role, SecondFactor, User};
use hermod_domain::ids::AccountId;
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::url::AddressRules;
use hermod_gateway::secrets::Pepper;
use hermod_store::CatalogueRow;
use serde::{Deserialize, Serialize};

/// A change of how a user signs in.
#[derive(Clone, Debug)]
pub enum SignInChange {
    /// The hash of another password. Refused if the proof does not hold any more.
    Password { proof: SignInProof, hash: String },
    /// The hash of a password that was chosen with a link; see [`User::choose_password`].
    Link { hash: String, account: Option<AccountId>, courier: LinkCourier },
    /// Another second factor, or none. Refused if the proof does not hold any more; the operator has none.
    SecondFactor { proof: Option<SignInProof>, factor: Option<SecondFactor> },
    /// The digests of other recovery codes. Refused if the proof does not hold any more.
    RecoveryCodes { proof: SignInProof, digests: Vec<String> },
    /// The digest of a recovery code that is used up. Refused if it is not one of those that are left.
    SpentRecoveryCode(String),
}

impl SignInChange {
    /// Returns what the user proved before the change.
    fn proof(&self) -> Option<&SignInProof> {
        match self {
            SignInChange::Password { proof, .. } | SignInChange::RecoveryCodes { proof, .. } => Some(proof),
            SignInChange::SecondFactor { proof, .. } => proof.as_ref(),
            // The link and the recovery code are proofs of their own, and are used up.
            SignInChange::Link { .. } | SignInChange::SpentRecoveryCode(_) => None,
        }
    }
}

/// Plans a change of how a user signs in.
pub fn change_sign_in(
    rows: Vec<CatalogueRow>,
    pepper: &Pepper,
    user: &str,
    change: SignInChange,
    now: Timestamp,
) -> ProvisionResult<Plan> {
    let rules = AddressRules::default();
    let mut draft = Draft::over(rows, pepper, &rules, now)?;
    draft.rewrite::<WantedUser>(user, |document| {
        if change.proof().is_some_and(|proof| !proof.holds_for(pepper, document)) {
            return Err(ProvisionRefusal::SignInChanged(user.to_owned()));
        }
        match change {
            SignInChange::Password { hash, .. } => document.password = Some(hash),
            SignInChange::Link { hash, account, courier } => {
                if !document.choose_password(hash, account, courier) {
                    return Err(ProvisionRefusal::about(
                        &what(user),
                        "has a password that this link cannot replace",
                    ));
                }
            }
            SignInChange::SecondFactor { factor, .. } => document.second_factor = factor,
            SignInChange::RecoveryCodes { digests, .. } => factor_of(document, user)?.recovery = digests,
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

fn factor_of<'a>(document: &'a mut User, user: &str) -> ProvisionResult<&'a mut SecondFactor> {
    let none = || ProvisionRefusal::about(&what(user), "has no second factor");
    document.second_factor.as_mut().ok_or_else(none)
}

fn what(user: &str) -> String {
    format!("user \"{user}\"")
}

/// A change of a user's membership in one account.
#[derive(Clone, Debug)]
pub enum MembershipChange {
    /// A role, pending until the user accepts. A membership that was accepted stays so.
    Invite(Role, PendingInvitation),
    /// Another role.
    Role(Role),
    Accept,
    /// By a user who signed in and holds a link; see [`User::accept_with_link`].
    AcceptWithLink(LinkCourier),
    Remove,
}

/// Plans a change of a user's membership in one account. Memberships in other accounts stay. An invited person becomes a user;
/// a user without a membership is removed.
pub fn change_membership(
    rows: Vec<CatalogueRow>,
    pepper: &Pepper,
    email: &str,
    (account, change): (AccountId, MembershipChange),
    now: Timestamp,
) -> ProvisionResult<Plan> {
    let rules = AddressRules::default();
    let mut draft = Draft::over(rows, pepper, &rules, now)?;
    let stored = draft.stored::<User>(Kind::User, email)?;
    let is_elsewhere = stored.as_ref().is_some_and(|user| user.owners().any(|other| other != account));
    match change {
        MembershipChange::Remove if !is_elsewhere => draft.remove(Kind::User, email)?,
        MembershipChange::Invite(role, invitation) if stored.is_none() => {
            let membership = Membership { account, role, pending: Some(invitation) };
            let user = User {
                name: String::new(),
                accounts: vec![membership],
                password: None,
                is_proven: false,
                second_factor: None,
                disabled: false,
            };
            let number = draft.number(Kind::User, email);
            draft.write::<WantedUser>(email.to_owned(), number, None, &user, Vec::new());
        }
        change => draft.rewrite::<WantedUser>(email, |user| {
            change_one(user, account, change);
            Ok(())
        })?,
    }
    draft.finish()
}

fn change_one(user: &mut User, account: AccountId, change: MembershipChange) {
    let found = user.accounts.iter_mut().find(|membership| membership.account == account);
    match (change, found) {
        (MembershipChange::Invite(role, invitation), Some(membership)) => {
            membership.role = role;
            membership.pending = membership.pending.take().map(|_| invitation);
        }
        (MembershipChange::Invite(role, invitation), None) => {
            user.accounts.push(Membership { account, role, pending: Some(invitation) });
        }
        (MembershipChange::Role(role), Some(membership)) => membership.role = role,
        (MembershipChange::Accept, Some(membership)) => membership.pending = None,
        (MembershipChange::AcceptWithLink(courier), Some(_)) => user.accept_with_link(account, courier),
        (
            MembershipChange::Role(_) | MembershipChange::Accept | MembershipChange::AcceptWithLink(_),
            None,
        ) => {}
        (MembershipChange::Remove, _) => user.accounts.retain(|membership| membership.account != account),
    }
}

/// Fingerprints of the password hash and the second factor that a user had when signing in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignInProof {
    password: String,
    second_factor: Option<String>,
}

impl SignInProof {
    /// Returns the proof of a user who signs in now; none for a user without a password.
    pub fn of(pepper: &Pepper, user: &User) -> Option<SignInProof> {
        let fingerprint = |what: &str, of: &str| {
            let derived = pepper.derived(&[b"sign-in proof", what.as_bytes(), of.as_bytes()]);
            derived.iter().map(|octet| format!("{octet:02x}")).collect::<String>()
        };
        Some(SignInProof {
            password: fingerprint("password", user.password.as_deref()?),
            second_factor: user.second_factor.as_ref().map(|factor| fingerprint("factor", &factor.secret)),
        })
    }

    /// Whether the code of a second factor belongs to the proof.
    pub fn needs_code(&self) -> bool {
        self.second_factor.is_some()
    }

    /// Whether the user may still sign in, with this password, and has no second factor but the one of the proof.
    pub fn holds_for(&self, pepper: &Pepper, user: &User) -> bool {
        let is_same = |now: SignInProof| {
            now.password == self.password
                && (now.second_factor.is_none() || now.second_factor == self.second_factor)
        };
        !user.disabled && SignInProof::of(pepper, user).is_some_and(is_same)
    }
}
