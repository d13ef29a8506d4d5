//! Users of the portal: their entries, signing in, sessions, one-time links, teams.

pub mod changes;
pub mod code_sign_in;
pub mod entry;
mod hashing;
pub mod invitations;
pub mod links;
pub mod mails;
pub mod second_factor;
pub mod sessions;
pub mod sign_in;
pub mod team;
pub mod use_cases;

use crate::http::routes::{Routes, doc};
use crate::refusal::{OperatorRefusal, ProvisionError, ProvisionRefusal};
use crate::user::use_cases::{invite_user, reset_second_factor};
use hermod_domain::operator_role::OperatorPermission;
use hermod_domain::password::WeakPassword;
use hermod_gateway::gateway::LoadCatalogueError;
use hermod_gateway::live_status::MailQueueFull;
use hermod_gateway::secrets::{Pepper, Secret, random_token};
use hermod_store::{StoreError, TokenDigest};
use std::time::Duration;

/// What a use case about users returns.
pub type Result<T, E = UserRefusal> = std::result::Result<T, E>;

/// Characters of a token, five bits each: 260 bits.
const TOKEN_CHARS: usize = 52;

/// Why something about a user was refused. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UserRefusal {
    #[error("e-mail address or password is wrong")]
    WrongSignIn,
    #[error("too many failed attempts from your address; wait {wait_s} seconds and retry")]
    TooManyAttempts { wait_s: u32 },
    #[error("too many people are signing in at the moment; retry in a few seconds")]
    Busy,
    #[error("{0}")]
    WeakPassword(WeakPassword),
    #[error("too many invitations; wait {wait_s} seconds and retry")]
    TooManyInvitations { wait_s: u32 },
    #[error("this link was used before or has expired; request a new one")]
    LinkSpent,
    #[error("your password or second factor was changed meanwhile; sign in again")]
    SignInChanged,
    #[error("the code is wrong or was used before")]
    WrongCode,
    #[error("an account needs an owner; make another user owner first")]
    LastOwner,
    #[error("this person is in the account already, or invited to it")]
    AlreadyMember,
    #[error("this link cannot replace a password; sign in with yours to accept the invitation")]
    HasPassword,
    #[error("this gateway sends no mail; ask the operator for a link")]
    NoMail,
    #[error("{0}")]
    MailQueueFull(#[from] MailQueueFull),
    #[error("{0}")]
    Refused(#[from] OperatorRefusal),
}

impl From<StoreError> for UserRefusal {
    fn from(error: StoreError) -> UserRefusal {
        match error {
            StoreError::LinkSpent => UserRefusal::LinkSpent,
            error => UserRefusal::Refused(error.into()),
        }
    }
}

impl From<ProvisionError> for UserRefusal {
    fn from(error: ProvisionError) -> UserRefusal {
        match error {
            ProvisionError::Store(error) => error.into(),
            ProvisionError::Refused(refusal) => refusal.into(),
        }
    }
}

impl From<LoadCatalogueError> for UserRefusal {
    fn from(error: LoadCatalogueError) -> UserRefusal {
        ProvisionError::from(error).into()
    }
}

impl From<ProvisionRefusal> for UserRefusal {
    fn from(refusal: ProvisionRefusal) -> UserRefusal {
        match refusal {
            ProvisionRefusal::SignInChanged(_) => UserRefusal::SignInChanged,
            refusal => UserRefusal::Refused(refusal.into()),
        }
    }
}

impl From<UserRefusal> for OperatorRefusal {
    fn from(refusal: UserRefusal) -> OperatorRefusal {
        match refusal {
            UserRefusal::Refused(refusal) => refusal,
            other => OperatorRefusal::InvalidField { field: "email", rule: other.to_string() },
        }
    }
}

/// Makes a token.
fn make_token() -> Result<Secret> {
    random_token(TOKEN_CHARS).map(Secret::new).map_err(|error| {
        tracing::error!(%error, "No randomness for a token");
        UserRefusal::Refused(OperatorRefusal::Failed)
    })
}

/// Returns what is stored of a token.
fn digest_of(pepper: &Pepper, token: &str) -> TokenDigest {
    digest_of_parts(pepper, &[b"user token", token.as_bytes()])
}

/// Returns the digest of something that is stored like a token.
fn digest_of_parts(pepper: &Pepper, parts: &[&[u8]]) -> TokenDigest {
    TokenDigest(pepper.derived(parts))
}

/// Returns the refusal that names the seconds to wait.
fn too_many(wait: Duration) -> UserRefusal {
    UserRefusal::TooManyAttempts { wait_s: seconds(wait) }
}

fn seconds(wait: Duration) -> u32 {
    u32::try_from(wait.as_millis().div_ceil(1_000)).unwrap_or(u32::MAX).max(1)
}

pub(crate) fn routes(routes: &mut Routes) {
    routes.section("Invitations", "Links by which users of the portal choose a password.");
    routes.post(
        "/users/{name}/invite",
        invite_user,
        doc("inviteUser", "Invite a user", "The link, which is returned only here.")
            .details(
                "Invites the person to the account, creates the user if there is none with this address, and makes a link that \
                 works once. The membership is pending until the person accepts it: with the link, or, as a user who has a \
                 password, signed in under Invitations. An invitation works for a week; without an account the link is for \
                 another password and works for an hour. If the user is in other accounts already, `starts_afresh` is true: \
                 using the link ends all sessions, replaces the password and removes the second factor.",
            )
            .errors(&["INVALID_FIELD", "NOT_FOUND", "REFUSED"])
            .least(OperatorPermission::Operations),
    );
    routes.post(
        "/users/{name}/reset-second-factor",
        reset_second_factor,
        doc("resetSecondFactor", "Remove a lost second factor", "Whether the user had one.")
            .details(
                "For a user who has lost phone and recovery codes: afterwards the password is enough. Make sure that it is the \
                 user who asks. Sessions stay open.",
            )
            .errors(&["NOT_FOUND", "REFUSED"])
            .least(OperatorPermission::Operations),
    );
}
