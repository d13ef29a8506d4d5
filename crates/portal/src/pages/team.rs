//! The team of an account: members, roles, invitations. The invitations of a signed-in user, who may be in no account yet: accepted with
//! the password, or declined; their page belongs to no account.

use crate::forms::{Field, Select};
use crate::layout::{NavEntry, Shell, encode_segment};
use crate::pages::confirm::{ConfirmPage, proof_fields};
use crate::request::extract::{Form, MemberForm, NoFields, Path, Query, check_csrf};
use crate::request::member::{From, MaybeSession, Member, Signed};
use crate::request::reply::{NoPage, Reply, page, page_again, page_with_status, redirect, sentence};
use crate::request::{Portal, State};
use crate::time::Time;
use askama::Template;
use axum::http::StatusCode;
use hermod_domain::catalogue::Role;
use hermod_domain::ids::AccountId;
use hermod_domain::permission::Permission;
use hermod_gateway::secrets::Secret;
use hermod_operator::author::{Acting, Author};
use hermod_operator::refusal::OperatorRefusal;
use hermod_operator::user::invitations::OwnInvitation;
use hermod_operator::user::sessions::Session;
use hermod_operator::user::team::{Invited, OpenInvitation, TeamMember};
use hermod_operator::user::{UserRefusal, invitations, links, sign_in, team};
use serde::Deserialize;
use std::collections::HashMap;

/// `GET /accounts/{account}/team`. Inviting posts `email` and `role` to the same address; a role is changed by posting
/// `role` to `team/{user}/role`; removing is the page `team/{user}/remove`; `team/{user}/link` and `team/invitations/{user}/withdraw`
/// are posts.
#[derive(Clone, Debug, Template)]
#[template(path = "team.html")]
pub struct TeamPage {
    pub shell: Shell,
    pub members: Vec<MemberRow>,
    pub invitations: Vec<OpenInvitation>,
    /// `None` if the role may not invite.
    pub invite: Option<Invite>,
    /// The link that was just made, where no mail is sent: shown once.
    pub link: Option<NewLink>,
}

/// A member of the account.
#[derive(Clone, Debug)]
pub struct MemberRow {
    /// The id in URLs.
    pub id: String,
    pub email: String,
    /// The role in words, if it cannot be changed here.
    pub role: String,
    /// The roles to choose from; `None` if this person's role cannot be changed.
    pub roles: Option<Select>,
    pub has_second_factor: bool,
    pub last_seen: Option<Time>,
    pub is_you: bool,
    pub can_remove: bool,
    /// Whether the reader can make a link by which this person chooses another password.
    pub can_get_link: bool,
}

/// The form that invites.
#[derive(Clone, Debug, Default)]
pub struct Invite {
    pub email: Field,
    pub role: Select,
    /// Whether the gateway sends mails; otherwise the link is shown.
    pub sends_mail: bool,
}

/// A one-time link for the inviter to pass on.
#[derive(Clone, Debug)]
pub struct NewLink {
    pub email: String,
    pub url: String,
    pub expires: Time,
}

/// `GET /invitations`. The form posts `password`, `code`, `link` and `csrf` to the same address, with `accept` or `decline` naming
/// the account.
#[derive(Clone, Debug, Default, Template)]
#[template(path = "invitations.html")]
pub struct InvitationsPage {
    pub csrf: String,
    /// The address of the user.
    pub email: String,
    pub invitations: Vec<OwnInvitation>,
    /// The token of the link that led here; empty if none did.
    pub link: String,
    /// Only the error is shown.
    pub password: Field,
    /// Whether the user has a second factor.
    pub needs_code: bool,
    /// Only the error is shown.
    pub code: Field,
    /// Whether the user has an account to go to.
    pub has_account: bool,
}

/// `GET /accounts/{account}/team`.
pub(crate) async fn show(member: Member) -> Reply {
    member.require(Permission::ReadTeam)?;
    Ok(page(&team(&member).await?))
}

async fn team(member: &Member) -> Result<TeamPage, NoPage> {
    let may_change = member.may(Permission::ChangeTeam);
    let found = team::show_team(member.gateway(), member.account).await?;
    let row = |one: TeamMember| MemberRow {
        id: one.id,
        role: one.role.to_string(),
        roles: (may_change && !one.is_last_owner).then(|| roles(one.role)),
        has_second_factor: one.has_second_factor,
        last_seen: one.last_seen.map(Time::from),
        is_you: one.user == member.session.user,
        can_remove: may_change && !one.is_last_owner,
        can_get_link: may_change && one.can_get_link && one.user != member.session.user,
        email: one.email,
    };
    Ok(TeamPage {
        shell: member.shell(NavEntry::Team),
        members: found.members.into_iter().map(row).collect(),
        invitations: found.invitations,
        invite: may_change.then(|| Invite {
            email: Field::default(),
            role: roles(Role::Viewer),
            sends_mail: member.gateway().mail.is_open(),
        }),
        link: None,
    })
}

fn roles(selected: Role) -> Select {
    let labels = [
        (Role::Owner, "Owner"),
        (Role::Developer, "Developer"),
        (Role::Billing, "Billing"),
        (Role::Viewer, "Viewer"),
    ];
    Select::new(labels.map(|(role, label)| (role.as_str(), label)), selected.as_str())
}

#[derive(Deserialize)]
pub(crate) struct InviteForm {
    email: String,
    role: String,
}

/// `POST /accounts/{account}/team`: invites.
pub(crate) async fn invite(
    MemberForm { member, form: InviteForm { email, role } }: MemberForm<InviteForm>,
) -> Reply {
    member.require(Permission::ChangeTeam)?;
    member.require_confirmed("team")?;
    let role = Role::parse(&role).ok_or(NoPage::StaleForm)?;
    let acting = member.acting();
    match team::invite_to_team(&acting, member.account, email.trim(), role).await {
        Ok(invited) => pass_on(&member, invited, "invited").await,
        Err(refusal) => {
            let error = fault(refusal)?;
            let mut page = team(&member).await?;
            if let Some(invite) = &mut page.invite {
                (invite.email, invite.role) = (Field::invalid(email, error), roles(role));
            }
            Ok(page_again(&page))
        }
    }
}

/// Returns what is wrong with an invitation, as a sentence for its field.
fn fault(refusal: UserRefusal) -> Result<String, NoPage> {
    match refusal {
        UserRefusal::Refused(refusal @ OperatorRefusal::NotFound(_)) => Err(refusal.into()),
        UserRefusal::Refused(refusal) => crate::request::reply::fault(refusal),
        UserRefusal::AlreadyMember
        | UserRefusal::MailQueueFull(_)
        | UserRefusal::TooManyInvitations { .. } => Ok(sentence(&refusal.to_string())),
        other => Err(other.into()),
    }
}

/// Shows a link once, or says that it is on its way.
async fn pass_on(member: &Member, invited: Invited, mailed: &'static str) -> Reply {
    let link = match invited {
        Invited::Link(link) => link,
        Invited::Mailed => return Ok(member.done("team", mailed)),
    };
    let url = format!("{}/links/{}", member.gateway().portal_url, link.token.reveal());
    let link = NewLink { email: link.email, url, expires: Time::from(link.expires_at) };
    Ok(page(&TeamPage { link: Some(link), ..team(member).await? }))
}

/// Returns the id of the person that a path names.
fn row_of(names: &HashMap<String, String>) -> Result<&str, NoPage> {
    names.get("user").map(String::as_str).ok_or(NoPage::NotFound)
}

#[derive(Deserialize)]
pub(crate) struct RoleForm {
    role: String,
}

/// `POST /accounts/{account}/team/{user}/role`.
pub(crate) async fn change_role(
    Path(names): Path<HashMap<String, String>>,
    MemberForm { member, form: RoleForm { role } }: MemberForm<RoleForm>,
) -> Reply {
    member.require(Permission::ChangeTeam)?;
    member.require_confirmed("team")?;
    let role = Role::parse(&role).ok_or(NoPage::StaleForm)?;
    let acting = member.acting();
    match team::change_role(&acting, member.account, row_of(&names)?, role).await {
        Ok(()) => Ok(member.done("team", "role-changed")),
        Err(UserRefusal::LastOwner) => last_owner(&member).await,
        Err(refusal) => Err(refusal.into()),
    }
}

/// The page with the reason why the last owner stays one.
async fn last_owner(member: &Member) -> Reply {
    let mut page = team(member).await?;
    page.shell.notices.push(crate::elements::Notice::new(
        crate::elements::Tone::Bad,
        sentence(&UserRefusal::LastOwner.to_string()),
    ));
    Ok(page_again(&page))
}

/// `GET /accounts/{account}/team/{user}/remove`.
pub(crate) async fn ask_remove(Path(names): Path<HashMap<String, String>>, member: Member) -> Reply {
    member.require(Permission::ChangeTeam)?;
    let row = row_of(&names)?;
    let found = team::show_team(member.gateway(), member.account).await?;
    let one = found.members.into_iter().find(|one| one.id == row).ok_or(NoPage::NotFound)?;
    let is_you = one.user == member.session.user;
    let own = is_you.then(|| "This is you: you cannot open this account afterwards.".to_owned());
    Ok(page(&ConfirmPage {
        shell: member.shell(NavEntry::Team),
        title: format!("Remove {}?", one.email),
        text: format!("This person can no longer open {}.", member.account_name),
        consequences: own.into_iter().collect(),
        action: member.path(&format!("team/{row}/remove")),
        button: "Remove from the account".to_owned(),
        is_danger: true,
        cancel: member.path("team"),
    }))
}

/// `POST /accounts/{account}/team/{user}/remove`.
pub(crate) async fn remove(
    Path(names): Path<HashMap<String, String>>,
    MemberForm { member, form: NoFields {} }: MemberForm<NoFields>,
) -> Reply {
    member.require(Permission::ChangeTeam)?;
    member.require_confirmed("team")?;
    let row = row_of(&names)?;
    let is_you = row == team::team_row_id(member.gateway(), member.account, &member.session.email);
    match team::remove_member(&member.acting(), member.account, row).await {
        Ok(()) if is_you => Ok(crate::request::reply::redirect("/")),
        Ok(()) => Ok(member.done("team", "member-removed")),
        Err(UserRefusal::LastOwner) => last_owner(&member).await,
        Err(refusal) => Err(refusal.into()),
    }
}

/// `POST /accounts/{account}/team/invitations/{user}/withdraw`.
pub(crate) async fn withdraw(
    Path(names): Path<HashMap<String, String>>,
    MemberForm { member, form: NoFields {} }: MemberForm<NoFields>,
) -> Reply {
    member.require(Permission::ChangeTeam)?;
    member.require_confirmed("team")?;
    let row = row_of(&names)?;
    let found = team::show_team(member.gateway(), member.account).await?;
    if !found.invitations.iter().any(|invitation| invitation.id == row) {
        return Err(NoPage::NotFound);
    }
    team::remove_member(&member.acting(), member.account, row).await?;
    Ok(member.done("team", "invitation-withdrawn"))
}

/// `POST /accounts/{account}/team/{user}/link`: another link, for a member who forgot the password or an invitation that expired.
pub(crate) async fn make_link(
    Path(names): Path<HashMap<String, String>>,
    MemberForm { member, form: NoFields {} }: MemberForm<NoFields>,
) -> Reply {
    member.require(Permission::ChangeTeam)?;
    member.require_confirmed("team")?;
    let row = row_of(&names)?;
    match team::make_member_link(&member.acting(), member.account, row).await {
        Ok(invited) => pass_on(&member, invited, "link-mailed").await,
        Err(UserRefusal::NoMail | UserRefusal::MailQueueFull(_)) => Err(NoPage::NotFound),
        Err(refusal) => Err(refusal.into()),
    }
}

#[derive(Deserialize)]
pub(crate) struct InvitationsQuery {
    #[serde(default)]
    link: String,
}

/// `GET /invitations`.
pub(crate) async fn show_invitations(
    axum::extract::State(portal): State,
    Signed(session): Signed,
    Query(InvitationsQuery { link }): Query<InvitationsQuery>,
) -> Reply {
    let open = open_invitations(&portal, &session, &link).await?;
    Ok(page(&invitations(&portal, &session, &link, &open)))
}

/// Returns the invitations that the user can accept: with the password, and with the link.
async fn open_invitations(
    portal: &Portal,
    session: &Session,
    link: &str,
) -> Result<Vec<OwnInvitation>, NoPage> {
    let mut open = invitations::list_invitations(&portal.gateway, session.user);
    if let Some(of_link) = of_link(portal, session, link).await?
        && open.iter().all(|other| other.account != of_link.account)
    {
        open.push(of_link);
    }
    Ok(open)
}

/// Returns the invitation of a link, if it is one for this user.
async fn of_link(portal: &Portal, session: &Session, token: &str) -> Result<Option<OwnInvitation>, NoPage> {
    let link = links::find_link(&portal.gateway, token).await?.filter(|link| link.user == session.user);
    let Some(link) = link else { return Ok(None) };
    let Some(account) = link.account else { return Ok(None) };
    let catalogue = portal.gateway.catalogue();
    let user = catalogue.users().by_id(session.user).map(|(_, user)| user);
    let membership = user.and_then(|user| user.membership(account)).filter(|one| one.pending.is_some());
    let view = catalogue.account(account);
    Ok(membership.zip(view).map(|(membership, view)| OwnInvitation {
        account,
        account_name: view.name.clone(),
        role: membership.role,
        invited_by: link.invited_by,
        expires_at: Some(link.expires_at),
    }))
}

fn invitations(portal: &Portal, session: &Session, link: &str, open: &[OwnInvitation]) -> InvitationsPage {
    let catalogue = portal.gateway.catalogue();
    let user = catalogue.users().by_id(session.user).map(|(_, user)| user);
    InvitationsPage {
        csrf: session.csrf.clone(),
        email: session.email.clone(),
        invitations: open.to_vec(),
        link: link.to_owned(),
        needs_code: user.is_some_and(|user| user.second_factor.is_some()),
        has_account: user.is_some_and(|user| user.memberships().next().is_some()),
        ..InvitationsPage::default()
    }
}

#[derive(Deserialize)]
pub(crate) struct InvitationsForm {
    csrf: String,
    #[serde(default)]
    password: String,
    #[serde(default)]
    code: String,
    #[serde(default)]
    link: String,
    accept: Option<String>,
    decline: Option<String>,
}

/// `POST /invitations`: accepts or declines one.
pub(crate) async fn answer_invitation(
    axum::extract::State(portal): State,
    From(source): From,
    MaybeSession(session): MaybeSession,
    Form(form): Form<InvitationsForm>,
) -> Reply {
    let session = session.ok_or_else(|| NoPage::SignIn { next: "/invitations".to_owned() })?;
    check_csrf(&session, &form.csrf)?;
    let open = open_invitations(&portal, &session, &form.link).await?;
    let find = |name: &str| open.iter().find(|one| one.account_name == name).ok_or(NoPage::NotFound);
    let acting =
        Acting { gateway: portal.gateway.clone(), author: Author::user(&session.email, source.address) };
    if let Some(name) = &form.decline {
        invitations::decline_invitation(&acting, &session, find(name)?.account).await?;
        return Ok(redirect("/"));
    }
    let invitation = find(form.accept.as_deref().unwrap_or_default())?;
    let password = Secret::new(form.password.as_str());
    let confirmed =
        sign_in::confirm_password(&portal.gateway, &session, &password, &form.code, source.address).await;
    let again = invitations(&portal, &session, &form.link, &open);
    if let Err(refusal) = confirmed {
        let (password, code) = proof_fields(refusal)?;
        return Ok(page_with_status(StatusCode::UNAUTHORIZED, &InvitationsPage { password, code, ..again }));
    }
    accept(&portal, &acting, &session, &form.link, invitation.account).await?;
    Ok(redirect(&format!("/accounts/{}?done=joined", encode_segment(&invitation.account_name))))
}

async fn accept(
    portal: &Portal,
    acting: &Acting,
    session: &Session,
    link: &str,
    account: AccountId,
) -> Result<(), NoPage> {
    let with_link = of_link(portal, session, link).await?.is_some_and(|one| one.account == account);
    match with_link {
        true => invitations::accept_with_link(acting, session, link).await?,
        false => invitations::accept_invitation(acting, session, account).await?,
    }
    Ok(())
}
