//! The users of one account, managed by its owners. An owner sees and changes roles in the own account only; what a user is in
//! other accounts stays and is not shown. An invitation looks the same whether its address is a user or not.
//!
//! A link is mailed to the address. Where the gateway sends no mail, the owner sees the link of an invitation to pass it on; such
//! a link never replaces a password (see [`User::link_use`]).

use crate::author::Acting;
use crate::entry::names::canonical_name;
use crate::kind::Kind;
use crate::refusal::OperatorRefusal;
use crate::user::changes::MembershipChange;
use crate::user::links::{INVITATION_KEPT, Invitation, write_membership};
use crate::user::sessions::list_sessions;
use crate::user::{Result, UserRefusal, links, mails, seconds};
use hermod_domain::catalogue::{Catalogue, LinkCourier, Membership, PendingInvitation, Role, User};
use hermod_domain::ids::AccountId;
use hermod_domain::time::Timestamp;
use hermod_gateway::gateway::{Gateway, load_catalogue};
use hermod_store::TokenChange;
use serde_json::Value;

/// Enough to tell the people of one account apart.
const ROW_ID_OCTETS: usize = 8;

/// The people of an account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Team {
    pub members: Vec<TeamMember>,
    pub invitations: Vec<OpenInvitation>,
}

/// A user who has accepted the invitation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TeamMember {
    /// The id in addresses; see [`team_row_id`].
    pub id: String,
    pub user: u32,
    pub email: String,
    pub role: Role,
    pub has_second_factor: bool,
    /// The last request of an open session, about.
    pub last_seen: Option<Timestamp>,
    /// The only owner can neither be removed nor get another role.
    pub is_last_owner: bool,
    /// Whether an owner can have a link for another password mailed to this user.
    pub can_get_link: bool,
}

/// A person who has not accepted the invitation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenInvitation {
    /// The id in addresses; see [`team_row_id`].
    pub id: String,
    pub email: String,
    pub role: Role,
    /// Empty if the operator did.
    pub invited_by: String,
    /// None for an invitation of the operator, which does not expire.
    pub expires_at: Option<Timestamp>,
    pub has_expired: bool,
}

/// What became of an invitation or a request for a link.
#[derive(Clone, Debug)]
pub enum Invited {
    /// For the inviter to pass on.
    Link(Invitation),
    Mailed,
}

/// Returns the people of an account.
pub async fn show_team(gateway: &Gateway, account: AccountId) -> Result<Team> {
    let (catalogue, now) = (gateway.catalogue(), gateway.clock.now());
    let mut team = Team::default();
    for member in catalogue.users().of_account(account) {
        let sessions = list_sessions(gateway, member.id).await?;
        team.members.push(TeamMember {
            id: team_row_id(gateway, account, member.email),
            user: member.id,
            email: member.email.to_owned(),
            role: member.role,
            has_second_factor: member.user.second_factor.is_some(),
            last_seen: sessions.iter().map(|session| session.seen_at).max(),
            is_last_owner: is_last_owner(&catalogue, account, member.id),
            can_get_link: gateway.mail.is_open(),
        });
    }
    for (invited, invitation) in catalogue.users().invited_to(account) {
        team.invitations.push(OpenInvitation {
            id: team_row_id(gateway, account, invited.email),
            email: invited.email.to_owned(),
            role: invited.role,
            invited_by: invitation.invited_by.clone().unwrap_or_default(),
            expires_at: invitation.expires_at,
            has_expired: invitation.has_expired(now),
        });
    }
    Ok(team)
}

/// Returns the id of a person in the addresses of an account's team. It follows from account and address alone: the number of a
/// user would tell whether the person was a user before the invitation.
pub fn team_row_id(gateway: &Gateway, account: AccountId, email: &str) -> String {
    let derived = gateway.pepper.derived(&[b"team row", &account.get().to_be_bytes(), email.as_bytes()]);
    derived[..ROW_ID_OCTETS].iter().map(|octet| format!("{octet:02x}")).collect()
}

/// Invites a person to an account. The membership is pending until the person accepts.
pub async fn invite_to_team(acting: &Acting, account: AccountId, email: &str, role: Role) -> Result<Invited> {
    let email = canonical_name(Kind::User, email).map_err(OperatorRefusal::from)?;
    let catalogue = acting.catalogue();
    let found = catalogue.users().find(&email);
    if found.is_some_and(|(_, user)| user.membership(account).is_some()) {
        return Err(UserRefusal::AlreadyMember);
    }
    send_invitation(acting, account, &email, role).await
}

/// Makes another link for a user of an account: for an invitation, or for another password.
pub async fn make_member_link(acting: &Acting, account: AccountId, row: &str) -> Result<Invited> {
    let catalogue = acting.catalogue();
    let (email, membership) = find_member(acting, &catalogue, account, row)?;
    if membership.pending.is_some() {
        return send_invitation(acting, account, email, membership.role).await;
    }
    if !acting.mail.is_open() {
        return Err(UserRefusal::NoMail);
    }
    admit(acting, account, email)?;
    let link = links::make_link(acting, email, Some(account), LinkCourier::Mail).await?;
    acting.mail.send(mails::of_link(acting, &link, None))?;
    Ok(Invited::Mailed)
}

/// Limits invitations and links: they are mails to people who may not want them.
fn admit(acting: &Acting, account: AccountId, email: &str) -> Result<()> {
    let admitted = acting.admit_invitation(account, acting.author.name(), email);
    admitted.map_err(|wait| UserRefusal::TooManyInvitations { wait_s: seconds(wait) })
}

/// Writes an invitation, and mails it or returns its link. A user with a proven address gets no link: the password is enough.
async fn send_invitation(acting: &Acting, account: AccountId, email: &str, role: Role) -> Result<Invited> {
    admit(acting, account, email)?;
    let name = account_name(&acting.catalogue(), account)?;
    let expires_at = Some(acting.clock.now().plus(INVITATION_KEPT));
    let invitation = PendingInvitation { invited_by: acting.author.email().map(str::to_owned), expires_at };
    change(acting, account, email, MembershipChange::Invite(role, invitation)).await?;
    if !acting.mail.is_open() {
        return links::make_link(acting, email, Some(account), LinkCourier::Owner).await.map(Invited::Link);
    }
    let catalogue = acting.catalogue();
    let accepts_signed_in = |user: &User| user.is_proven && user.can_sign_in();
    if catalogue.users().find(email).is_some_and(|(_, user)| accepts_signed_in(user)) {
        acting.audited(Some(account), "user.invite", email, &Value::Null).note_in_audit_log().await?;
        acting.mail.send(mails::of_invitation(acting, email, &name, role))?;
        return Ok(Invited::Mailed);
    }
    let link = links::make_link(acting, email, Some(account), LinkCourier::Mail).await?;
    acting.mail.send(mails::of_link(acting, &link, Some(&name)))?;
    Ok(Invited::Mailed)
}

/// Changes the role of a user in an account. The last owner keeps the role.
pub async fn change_role(acting: &Acting, account: AccountId, row: &str, role: Role) -> Result<()> {
    let catalogue = acting.catalogue();
    let (email, _) = find_member(acting, &catalogue, account, row)?;
    change(acting, account, email, MembershipChange::Role(role)).await
}

/// Takes the role in an account from a user, or withdraws the invitation. The last owner stays. A user without another account
/// is removed and signed out.
pub async fn remove_member(acting: &Acting, account: AccountId, row: &str) -> Result<()> {
    let catalogue = acting.catalogue();
    let (email, _) = find_member(acting, &catalogue, account, row)?;
    change(acting, account, email, MembershipChange::Remove).await
}

/// Changes the membership of a user in one account. Owners are counted under the lock: two owners that remove each other at the
/// same time would leave none.
async fn change(acting: &Acting, account: AccountId, email: &str, change: MembershipChange) -> Result<()> {
    let _alone = acting.change_alone().await?;
    // Not the catalogue of this node, which may not have the last change of another one.
    let catalogue = load_catalogue(&acting.store).await?;
    let stays_owner = matches!(change, MembershipChange::Role(Role::Owner));
    if let Some((id, _)) = catalogue.users().find(email).filter(|_| !stays_owner) {
        refuse_last_owner(&catalogue, account, id)?;
    }
    write_membership(acting, email, account, change, TokenChange::default()).await
}

/// Fails if this is the only owner who can sign in.
pub(crate) fn refuse_last_owner(catalogue: &Catalogue, account: AccountId, user: u32) -> Result<()> {
    if is_last_owner(catalogue, account, user) { Err(UserRefusal::LastOwner) } else { Ok(()) }
}

/// Returns a user of an account. A user of other accounts looks like one that does not exist.
fn find_member<'a>(
    gateway: &Gateway,
    catalogue: &'a Catalogue,
    account: AccountId,
    row: &str,
) -> Result<(&'a str, &'a Membership)> {
    let members = catalogue.users().of_account(account).into_iter();
    let invited = catalogue.users().invited_to(account).into_iter().map(|(invited, _)| invited);
    let found = members.chain(invited).find(|one| team_row_id(gateway, account, one.email) == row);
    let found = found.and_then(|one| Some((one.email, one.user.membership(account)?)));
    found.ok_or_else(|| OperatorRefusal::no_such("user", row).into())
}

/// Whether this is the only owner who can sign in.
pub(crate) fn is_last_owner(catalogue: &Catalogue, account: AccountId, user: u32) -> bool {
    let members = catalogue.users().of_account(account);
    let is_owner =
        |id: u32| members.iter().any(|one| one.id == id && one.role == Role::Owner && one.user.can_sign_in());
    is_owner(user) && members.iter().filter(|one| one.id != user).all(|one| !is_owner(one.id))
}

fn account_name(catalogue: &Catalogue, account: AccountId) -> Result<String> {
    let found = catalogue.account(account).map(|view| view.name.clone());
    found.ok_or_else(|| OperatorRefusal::no_such("account", &account.to_string()).into())
}
