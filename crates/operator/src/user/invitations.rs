//! The accounts of a signed-in user: invitations, which the user accepts or declines, and leaving an account.

use crate::author::Acting;
use crate::user::changes::MembershipChange;
use crate::user::links::{Link, find_link, write_membership};
use crate::user::sessions::Session;
use crate::user::team::{is_last_owner, refuse_last_owner};
use crate::user::{Result, UserRefusal, digest_of};
use hermod_domain::catalogue::{Catalogue, Role, User};
use hermod_domain::ids::AccountId;
use hermod_domain::time::Timestamp;
use hermod_gateway::gateway::{Gateway, load_catalogue};
use hermod_store::TokenChange;

/// An invitation that the user can accept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnInvitation {
    pub account: AccountId,
    pub account_name: String,
    pub role: Role,
    /// None if the operator invited.
    pub invited_by: Option<String>,
    pub expires_at: Option<Timestamp>,
}

/// An account of the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnMembership {
    pub account: AccountId,
    pub account_name: String,
    pub role: Role,
    /// The only owner cannot leave.
    pub is_last_owner: bool,
}

/// Returns the invitations that a user can accept with the password.
pub fn list_invitations(gateway: &Gateway, user: u32) -> Vec<OwnInvitation> {
    let catalogue = gateway.catalogue();
    let Some((_, user)) = catalogue.users().by_id(user) else { return Vec::new() };
    let own = user.invitations(gateway.clock.now()).filter_map(|(membership, invitation)| {
        Some(OwnInvitation {
            account: membership.account,
            account_name: name_of(&catalogue, membership.account)?,
            role: membership.role,
            invited_by: invitation.invited_by.clone(),
            expires_at: invitation.expires_at,
        })
    });
    own.collect()
}

/// Returns the accounts that a user has accepted, in the order of their names.
pub fn list_memberships(gateway: &Gateway, user: u32) -> Vec<OwnMembership> {
    let catalogue = gateway.catalogue();
    let Some((_, found)) = catalogue.users().by_id(user) else { return Vec::new() };
    let own = found.memberships().filter_map(|membership| {
        Some(OwnMembership {
            account: membership.account,
            account_name: name_of(&catalogue, membership.account)?,
            role: membership.role,
            is_last_owner: is_last_owner(&catalogue, membership.account, user),
        })
    });
    let mut own: Vec<OwnMembership> = own.collect();
    own.sort_by(|one, other| one.account_name.cmp(&other.account_name));
    own
}

fn name_of(catalogue: &Catalogue, account: AccountId) -> Option<String> {
    catalogue.account(account).map(|view| view.name.clone())
}

/// Accepts an invitation. The caller has checked the password of the user.
pub async fn accept_invitation(acting: &Acting, session: &Session, account: AccountId) -> Result<()> {
    let _alone = acting.change_alone().await?;
    let now = acting.clock.now();
    let is_open = |user: &User| user.invitations(now).any(|(membership, _)| membership.account == account);
    let catalogue = load_catalogue(&acting.store).await?;
    let email = find_own(acting, &catalogue, session, is_open)?;
    write_membership(acting, email, account, MembershipChange::Accept, TokenChange::default()).await
}

/// Accepts the invitation of a link for its signed-in user, whose password the caller has checked. The link is used up.
pub async fn accept_with_link(acting: &Acting, session: &Session, token: &str) -> Result<()> {
    let link = find_link(acting, token).await?.filter(|link| link.user == session.user);
    let Link { account, courier, .. } = link.ok_or(UserRefusal::LinkSpent)?;
    let account = account.ok_or(UserRefusal::LinkSpent)?;
    let _alone = acting.change_alone().await?;
    let catalogue = load_catalogue(&acting.store).await?;
    let email = find_own(acting, &catalogue, session, |user| user.membership(account).is_some())?;
    let tokens = TokenChange { spend: Some(digest_of(&acting.pepper, token)), ..TokenChange::default() };
    write_membership(acting, email, account, MembershipChange::AcceptWithLink(courier), tokens).await
}

/// Declines an invitation, which ends.
pub async fn decline_invitation(acting: &Acting, session: &Session, account: AccountId) -> Result<()> {
    let is_pending =
        |user: &User| user.membership(account).is_some_and(|membership| membership.pending.is_some());
    remove_own(acting, session, account, is_pending).await
}

/// Takes the user out of an account. The last owner stays. A user without another account is removed and signed out.
pub async fn leave_account(acting: &Acting, session: &Session, account: AccountId) -> Result<()> {
    remove_own(acting, session, account, |user| user.role_in(account).is_some()).await
}

async fn remove_own(
    acting: &Acting,
    session: &Session,
    account: AccountId,
    is_right: impl Fn(&User) -> bool,
) -> Result<()> {
    let _alone = acting.change_alone().await?;
    let catalogue = load_catalogue(&acting.store).await?;
    let email = find_own(acting, &catalogue, session, is_right)?;
    refuse_last_owner(&catalogue, account, session.user)?;
    write_membership(acting, email, account, MembershipChange::Remove, TokenChange::default()).await
}

/// Returns the address of the user of a session that has not ended meanwhile, if the user fits.
fn find_own<'a>(
    acting: &Acting,
    catalogue: &'a Catalogue,
    session: &Session,
    fits: impl Fn(&User) -> bool,
) -> Result<&'a str> {
    let (email, user) = catalogue.users().by_id(session.user).ok_or(UserRefusal::LinkSpent)?;
    if !session.proof.holds_for(&acting.pepper, user) {
        return Err(UserRefusal::SignInChanged);
    }
    if fits(user) { Ok(email) } else { Err(UserRefusal::LinkSpent) }
}
