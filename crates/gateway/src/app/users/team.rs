//! The users of one account, managed by its owners. An owner sees and changes roles in the own account only; what a user is in
//! other accounts stays and is not shown.
//!
//! A link lets its holder choose the password of a user, and with it enter all accounts of that user. So it is shown to an owner
//! only if the user is in no other account; otherwise it is mailed, or the operator makes it.

use super::invitation::Invitation;
use super::links::{self, Body};
use super::sessions::list_sessions;
use super::{UserRefusal, mails};
use crate::app::operator::OperatorRefusal;
use crate::author::Acting;
use crate::provision::{self, Kind, canonical_name};
use crate::world::World;
use hermod_domain::catalogue::{Catalogue, Role, User};
use hermod_domain::ids::AccountId;
use hermod_domain::time::Timestamp;

/// The people of an account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Team {
    pub members: Vec<TeamMember>,
    pub invitations: Vec<OpenInvitation>,
}

/// A user who has accepted the invitation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TeamMember {
    pub user: u32,
    pub email: String,
    pub role: Role,
    pub has_second_factor: bool,
    /// The last request of an open session, about.
    pub last_seen: Option<Timestamp>,
    /// The only owner can neither be removed nor get another role.
    pub is_last_owner: bool,
    /// Whether an owner of this account may get a link for this user: shown, or mailed.
    pub can_get_link: bool,
}

/// A user who has not accepted the invitation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenInvitation {
    pub user: u32,
    pub email: String,
    pub role: Role,
    /// Empty if the operator did.
    pub invited_by: String,
    /// None if the link has expired.
    pub expires_at: Option<Timestamp>,
    pub can_get_link: bool,
}

/// What became of an invitation or a request for a link.
#[derive(Clone, Debug)]
pub enum Invited {
    /// For the inviter to pass on.
    Link(Invitation),
    Mailed,
    /// The user has a password already, and got a mail.
    Added,
}

/// Returns the people of an account.
pub async fn show_team(world: &World, account: AccountId) -> Result<Team, UserRefusal> {
    let catalogue = world.catalogue();
    let mut team = Team::default();
    for member in catalogue.users().of_account(account) {
        let (user, email, role) = (member.id, member.email.to_owned(), member.role);
        let can_get_link = world.mail.is_open() || !is_elsewhere(member.user, account);
        if member.user.password.is_none() {
            let tokens = world.store.user_tokens(user, world.clock.now()).await?;
            let link = tokens.iter().find(|token| links::is_link(token));
            let invited_by = link.and_then(|link| Body::of(link).invited_by).unwrap_or_default();
            let expires_at = link.map(|link| link.expires_at);
            team.invitations.push(OpenInvitation { user, email, role, invited_by, expires_at, can_get_link });
            continue;
        }
        let sessions = list_sessions(world, user).await?;
        team.members.push(TeamMember {
            user,
            email,
            role,
            has_second_factor: member.user.second_factor.is_some(),
            last_seen: sessions.iter().map(|session| session.seen_at).max(),
            is_last_owner: is_last_owner(&catalogue, account, user),
            can_get_link,
        });
    }
    Ok(team)
}

/// Invites a person to an account.
pub async fn invite_to_team(
    acting: &Acting,
    account: AccountId,
    email: &str,
    role: Role,
) -> Result<Invited, UserRefusal> {
    let email = canonical_name(Kind::User, email).map_err(OperatorRefusal::from)?;
    let catalogue = acting.catalogue();
    let name = account_name(&catalogue, account)?;
    let Some((id, user)) = catalogue.users().find(&email) else {
        let link = links::invite(acting, &email, Some((&name, role))).await?;
        return pass_on(acting, link, &name);
    };
    if user.role_in(account).is_some() {
        return Err(UserRefusal::AlreadyMember);
    }
    if !acting.mail.is_open() && is_elsewhere(user, account) {
        return Err(UserRefusal::OtherAccount);
    }
    // A link that was shown to an owner of another account must not open this one.
    links::end_links(acting, id).await?;
    set_role(acting, account, &email, Some(role)).await?;
    if user.password.is_some() {
        acting.mail.send(mails::of_role(acting, &email, &name, role))?;
        return Ok(Invited::Added);
    }
    let link = links::make_link(acting, &email, Some(account)).await?;
    pass_on(acting, link, &name)
}

/// Mails a link, or returns it where no mail is sent.
fn pass_on(acting: &Acting, link: Invitation, account: &str) -> Result<Invited, UserRefusal> {
    if !acting.mail.is_open() {
        return Ok(Invited::Link(link));
    }
    acting.mail.send(mails::of_link(acting, &link, Some(account)))?;
    Ok(Invited::Mailed)
}

/// Makes another link for a user of an account.
pub async fn make_member_link(
    acting: &Acting,
    account: AccountId,
    user: u32,
) -> Result<Invited, UserRefusal> {
    let catalogue = acting.catalogue();
    let (email, found) = find_member(&catalogue, account, user)?;
    if !acting.mail.is_open() && is_elsewhere(found, account) {
        return Err(UserRefusal::OtherAccount);
    }
    let link = links::make_link(acting, email, Some(account)).await?;
    pass_on(acting, link, &account_name(&catalogue, account)?)
}

/// Changes the role of a user in an account. The last owner keeps the role.
pub async fn change_role(
    acting: &Acting,
    account: AccountId,
    user: u32,
    role: Role,
) -> Result<(), UserRefusal> {
    let catalogue = acting.catalogue();
    let (email, _) = find_member(&catalogue, account, user)?;
    set_role(acting, account, email, Some(role)).await
}

/// Takes the role in an account from a user, or withdraws the invitation. The last owner stays. A user without another account
/// is removed and signed out.
pub async fn remove_member(acting: &Acting, account: AccountId, user: u32) -> Result<(), UserRefusal> {
    let catalogue = acting.catalogue();
    let (email, found) = find_member(&catalogue, account, user)?;
    if found.password.is_none() {
        links::end_links(acting, user).await?;
    }
    set_role(acting, account, email, None).await
}

/// Writes the role of a user in one account. Owners are counted under the lock: two owners that remove each other at the same time
/// would leave none.
async fn set_role(
    acting: &Acting,
    account: AccountId,
    email: &str,
    role: Option<Role>,
) -> Result<(), UserRefusal> {
    let _alone = acting.change_alone().await?;
    let catalogue = acting.catalogue();
    let id = catalogue.users().find(email).map(|(id, _)| id);
    if role != Some(Role::Owner) && id.is_some_and(|id| is_last_owner(&catalogue, account, id)) {
        return Err(UserRefusal::LastOwner);
    }
    let rows = acting.store.catalogue().await?;
    let now = acting.clock.now();
    let plan = provision::change_membership(rows, &acting.pepper, email, (account, role), now)
        .map_err(OperatorRefusal::from)?;
    provision::carry_out(&acting.store, &plan, &acting.author, now).await?;
    acting.set_catalogue(plan.catalogue);
    Ok(())
}

/// Returns a user of an account. A user of other accounts looks like one that does not exist.
fn find_member(catalogue: &Catalogue, account: AccountId, user: u32) -> Result<(&str, &User), UserRefusal> {
    let found = catalogue.users().by_id(user).filter(|(_, user)| user.role_in(account).is_some());
    found.ok_or_else(|| OperatorRefusal::no_such("user", &user.to_string()).into())
}

/// Whether this is the only owner who can sign in.
fn is_last_owner(catalogue: &Catalogue, account: AccountId, user: u32) -> bool {
    let members = catalogue.users().of_account(account);
    let is_owner =
        |id: u32| members.iter().any(|one| one.id == id && one.role == Role::Owner && one.user.can_sign_in());
    is_owner(user) && members.iter().filter(|one| one.id != user).all(|one| !is_owner(one.id))
}

fn is_elsewhere(user: &User, account: AccountId) -> bool {
    user.owners().any(|other| other != account)
}

fn account_name(catalogue: &Catalogue, account: AccountId) -> Result<String, UserRefusal> {
    let found = catalogue.account(account).map(|view| view.name.clone());
    found.ok_or_else(|| OperatorRefusal::no_such("account", &account.to_string()).into())
}
