//! The invitations of a signed-in user: accepted with the password, or declined. The page belongs to no account.

use super::extract::{Form, Query, check_csrf};
use super::member::{From, MaybeSession, Signed};
use super::reply::{NoPage, Reply, page, page_with_status, redirect};
use super::sign_in_code::WRONG_CODE;
use super::{Portal, State};
use crate::forms::Field;
use crate::layout::encode_segment;
use crate::pages::team::{InvitationCard, InvitationsPage};
use crate::time::Time;
use axum::http::StatusCode;
use hermod_domain::ids::AccountId;
use hermod_gateway::secrets::Secret;
use hermod_operator::author::{Acting, Author};
use hermod_operator::user::invitations::OwnInvitation;
use hermod_operator::user::sessions::Session;
use hermod_operator::user::{UserRefusal, invitations, links, sign_in};
use serde::Deserialize;

#[derive(Deserialize)]
pub(super) struct InvitationsQuery {
    #[serde(default)]
    link: String,
}

/// `GET /invitations`.
pub(super) async fn show(
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
    let row = |one: &OwnInvitation| InvitationCard {
        account: one.account_name.clone(),
        role: one.role.to_string(),
        invited_by: one.invited_by.clone(),
        expires: one.expires_at.map(|at| Time(at.as_millis())),
    };
    InvitationsPage {
        csrf: session.csrf.clone(),
        email: session.email.clone(),
        invitations: open.iter().map(row).collect(),
        link: link.to_owned(),
        needs_code: user.is_some_and(|user| user.second_factor.is_some()),
        has_account: user.is_some_and(|user| user.memberships().next().is_some()),
        ..InvitationsPage::default()
    }
}

#[derive(Deserialize)]
pub(super) struct InvitationsForm {
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
pub(super) async fn answer(
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
    match confirmed {
        Ok(()) => {}
        Err(UserRefusal::WrongSignIn) => {
            let password = Field::invalid("", "The password is wrong. Type it again.");
            return Ok(page_with_status(StatusCode::UNAUTHORIZED, &InvitationsPage { password, ..again }));
        }
        Err(UserRefusal::WrongCode) => {
            let code = Field::invalid("", WRONG_CODE);
            return Ok(page_with_status(StatusCode::UNAUTHORIZED, &InvitationsPage { code, ..again }));
        }
        Err(refusal) => return Err(refusal.into()),
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
