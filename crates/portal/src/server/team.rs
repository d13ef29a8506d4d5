//! The people of an account.

use super::extract::{MemberForm, NoFields, Path};
use super::member::Member;
use super::reply::{NoPage, Reply, page, page_with_status, sentence};
use super::{Portal, State};
use crate::forms::{Field, Select};
use crate::layout::NavEntry;
use crate::pages::confirm::ConfirmPage;
use crate::pages::team::{InvitationRow, Invite, MemberRow, NewLink, TeamPage};
use crate::time::Time;
use axum::http::StatusCode;
use hermod_domain::catalogue::Role;
use hermod_domain::permission::Permission;
use hermod_operator::refusal::OperatorRefusal;
use hermod_operator::user::team::{Invited, OpenInvitation, TeamMember};
use hermod_operator::user::{UserRefusal, team};
use serde::Deserialize;
use std::collections::HashMap;

/// `GET /accounts/{account}/team`.
pub(super) async fn show(axum::extract::State(portal): State, member: Member) -> Reply {
    member.require(Permission::ReadTeam)?;
    Ok(page(&team(&portal, &member).await?))
}

async fn team(portal: &Portal, member: &Member) -> Result<TeamPage, NoPage> {
    let may_change = member.may(Permission::ChangeTeam);
    let found = team::show_team(&portal.gateway, member.account).await?;
    let row = |one: TeamMember| MemberRow {
        id: one.id,
        role: one.role.to_string(),
        roles: (may_change && !one.is_last_owner).then(|| roles(one.role)),
        has_second_factor: one.has_second_factor,
        last_seen: one.last_seen.map(|at| Time(at.as_millis())),
        is_you: one.user == member.session.user,
        can_remove: may_change && !one.is_last_owner,
        can_get_link: may_change && one.can_get_link && one.user != member.session.user,
        email: one.email,
    };
    let invitation = |one: OpenInvitation| InvitationRow {
        id: one.id,
        email: one.email,
        role: one.role.to_string(),
        invited_by: one.invited_by,
        expires: one.expires_at.map(|at| Time(at.as_millis())),
        has_expired: one.has_expired,
    };
    Ok(TeamPage {
        shell: member.shell(NavEntry::Team),
        members: found.members.into_iter().map(row).collect(),
        invitations: found.invitations.into_iter().map(invitation).collect(),
        invite: may_change.then(|| Invite {
            email: Field::default(),
            role: roles(Role::Viewer),
            sends_mail: portal.gateway.mail.is_open(),
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
pub(super) struct InviteForm {
    email: String,
    role: String,
}

/// `POST /accounts/{account}/team`: invites.
pub(super) async fn invite(
    axum::extract::State(portal): State,
    MemberForm { member, form: InviteForm { email, role } }: MemberForm<InviteForm>,
) -> Reply {
    member.require(Permission::ChangeTeam)?;
    member.require_confirmed("team")?;
    let role = Role::parse(&role).ok_or(NoPage::StaleForm)?;
    let acting = member.acting(&portal);
    match team::invite_to_team(&acting, member.account, email.trim(), role).await {
        Ok(invited) => pass_on(&portal, &member, invited, "invited").await,
        Err(refusal) => {
            let error = fault(refusal)?;
            let mut page = team(&portal, &member).await?;
            if let Some(invite) = &mut page.invite {
                (invite.email, invite.role) = (Field::invalid(email, error), roles(role));
            }
            Ok(page_with_status(StatusCode::BAD_REQUEST, &page))
        }
    }
}

/// Returns what is wrong with an invitation, as a sentence for its field.
fn fault(refusal: UserRefusal) -> Result<String, NoPage> {
    match refusal {
        UserRefusal::Refused(refusal @ OperatorRefusal::NotFound(_)) => Err(refusal.into()),
        UserRefusal::Refused(refusal) => super::reply::fault(refusal),
        UserRefusal::AlreadyMember
        | UserRefusal::MailQueueFull(_)
        | UserRefusal::TooManyInvitations { .. } => Ok(sentence(&refusal.to_string())),
        other => Err(other.into()),
    }
}

/// Shows a link once, or says that it is on its way.
async fn pass_on(portal: &Portal, member: &Member, invited: Invited, mailed: &'static str) -> Reply {
    let link = match invited {
        Invited::Link(link) => link,
        Invited::Mailed => return Ok(member.done("team", mailed)),
    };
    let url = format!("{}/links/{}", portal.gateway.portal_url, link.token.reveal());
    let link = NewLink { email: link.email, url, expires: Time(link.expires_at.as_millis()) };
    Ok(page(&TeamPage { link: Some(link), ..team(portal, member).await? }))
}

/// Returns the id of the person that a path names.
fn row_of(names: &HashMap<String, String>) -> Result<&str, NoPage> {
    names.get("user").map(String::as_str).ok_or(NoPage::NotFound)
}

#[derive(Deserialize)]
pub(super) struct RoleForm {
    role: String,
}

/// `POST /accounts/{account}/team/{user}/role`.
pub(super) async fn change_role(
    axum::extract::State(portal): State,
    Path(names): Path<HashMap<String, String>>,
    MemberForm { member, form: RoleForm { role } }: MemberForm<RoleForm>,
) -> Reply {
    member.require(Permission::ChangeTeam)?;
    member.require_confirmed("team")?;
    let role = Role::parse(&role).ok_or(NoPage::StaleForm)?;
    let acting = member.acting(&portal);
    match team::change_role(&acting, member.account, row_of(&names)?, role).await {
        Ok(()) => Ok(member.done("team", "role-changed")),
        Err(UserRefusal::LastOwner) => last_owner(&portal, &member).await,
        Err(refusal) => Err(refusal.into()),
    }
}

/// The page with the reason why the last owner stays one.
async fn last_owner(portal: &Portal, member: &Member) -> Reply {
    let mut page = team(portal, member).await?;
    page.shell.notices.push(crate::elements::Notice::new(
        crate::elements::Tone::Bad,
        sentence(&UserRefusal::LastOwner.to_string()),
    ));
    Ok(page_with_status(StatusCode::BAD_REQUEST, &page))
}

/// `GET /accounts/{account}/team/{user}/remove`.
pub(super) async fn ask_remove(
    axum::extract::State(portal): State,
    Path(names): Path<HashMap<String, String>>,
    member: Member,
) -> Reply {
    member.require(Permission::ChangeTeam)?;
    let row = row_of(&names)?;
    let found = team::show_team(&portal.gateway, member.account).await?;
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
        ..ConfirmPage::default()
    }))
}

/// `POST /accounts/{account}/team/{user}/remove`.
pub(super) async fn remove(
    axum::extract::State(portal): State,
    Path(names): Path<HashMap<String, String>>,
    MemberForm { member, form: NoFields {} }: MemberForm<NoFields>,
) -> Reply {
    member.require(Permission::ChangeTeam)?;
    member.require_confirmed("team")?;
    let row = row_of(&names)?;
    let is_you = row == team::team_row_id(&portal.gateway, member.account, &member.session.email);
    match team::remove_member(&member.acting(&portal), member.account, row).await {
        Ok(()) if is_you => Ok(super::reply::redirect("/")),
        Ok(()) => Ok(member.done("team", "member-removed")),
        Err(UserRefusal::LastOwner) => last_owner(&portal, &member).await,
        Err(refusal) => Err(refusal.into()),
    }
}

/// `POST /accounts/{account}/team/invitations/{user}/withdraw`.
pub(super) async fn withdraw(
    axum::extract::State(portal): State,
    Path(names): Path<HashMap<String, String>>,
    MemberForm { member, form: NoFields {} }: MemberForm<NoFields>,
) -> Reply {
    member.require(Permission::ChangeTeam)?;
    member.require_confirmed("team")?;
    let row = row_of(&names)?;
    let found = team::show_team(&portal.gateway, member.account).await?;
    if !found.invitations.iter().any(|invitation| invitation.id == row) {
        return Err(NoPage::NotFound);
    }
    team::remove_member(&member.acting(&portal), member.account, row).await?;
    Ok(member.done("team", "invitation-withdrawn"))
}

/// `POST /accounts/{account}/team/{user}/link`: another link, for a member who forgot the password or an invitation that expired.
pub(super) async fn make_link(
    axum::extract::State(portal): State,
    Path(names): Path<HashMap<String, String>>,
    MemberForm { member, form: NoFields {} }: MemberForm<NoFields>,
) -> Reply {
    member.require(Permission::ChangeTeam)?;
    member.require_confirmed("team")?;
    let row = row_of(&names)?;
    match team::make_member_link(&member.acting(&portal), member.account, row).await {
        Ok(invited) => pass_on(&portal, &member, invited, "link-mailed").await,
        Err(UserRefusal::NoMail | UserRefusal::MailQueueFull(_)) => Err(NoPage::NotFound),
        Err(refusal) => Err(refusal.into()),
    }
}
