//! Users of the portal: signing in, sessions, one-time links. No protocol is known here.

pub mod changes;
mod code_sign_in;
pub mod entry;
mod hashing;
mod invitations;
mod links;
mod mails;
pub(crate) mod routes;
mod second_factor;
mod sessions;
mod sign_in;
pub mod sign_in_proof;
mod team;
pub mod views;

pub use code_sign_in::{WaitingSignIn, enter_code, find_waiting, wait_for_code};
pub use hermod_domain::catalogue::Role;
pub use invitations::{
    OwnInvitation, OwnMembership, accept_invitation, accept_with_link, decline_invitation, leave_account,
    list_invitations, list_memberships,
};
pub use links::Invitation;
pub use links::{Link, find_link, invite, use_link};
pub use mails::send_reset;
pub use second_factor::{
    Setup, begin_setup, finish_setup, pending_setup, remove_second_factor, renew_recovery_codes,
    switch_off_second_factor,
};
pub use sessions::{
    Client, Session, SessionView, SignedIn, end_other_sessions, end_session, find_session, is_session_open,
    list_sessions, open_session,
};
pub use sign_in::{Device, change_password, confirm_password, device_token, sign_in};
pub use team::{
    Invited, OpenInvitation, Team, TeamMember, change_role, invite_to_team, make_member_link, remove_member,
    show_team, team_row_id,
};

use crate::refusal::OperatorRefusal;
use crate::setup::{ProvisionError, ProvisionRefusal};
use hermod_domain::password::WeakPassword;
use hermod_gateway::gateway::LoadCatalogueError;
use hermod_gateway::live_status::MailQueueFull;
use hermod_gateway::secrets::{Pepper, Secret, random_token};
use hermod_store::{StoreError, TokenDigest};
use std::time::Duration;

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
    Refused(OperatorRefusal),
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

impl From<OperatorRefusal> for UserRefusal {
    fn from(refusal: OperatorRefusal) -> UserRefusal {
        UserRefusal::Refused(refusal)
    }
}

/// Makes a token.
fn make_token() -> Result<Secret, UserRefusal> {
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
