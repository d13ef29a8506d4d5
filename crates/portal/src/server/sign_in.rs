//! Signing in and out, and one-time links.

use super::extract::{Form, Path, Query, check_csrf};
use super::member::{From, MaybeSession};
use super::reply::{NoPage, Reply, page, page_with_status, redirect, sentence};
use super::{State, cookie, next_page};
use crate::forms::Field;
use crate::layout::encode_segment;
use crate::pages::access::{OneTimeLinkPage, PlainMessagePage, SignInPage};
use crate::time::Time;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use hermod_domain::catalogue::{LinkCourier, LinkUse};
use hermod_gateway::http::pages::PageSource;
use hermod_gateway::secrets::Secret;
use hermod_operator::user::links::Link;
use hermod_operator::user::sessions::{Client, SignedIn};
use hermod_operator::user::sign_in::Device;
use hermod_operator::user::{UserRefusal, code_sign_in, links, sessions, sign_in};
use serde::Deserialize;
use std::sync::Arc;

#[derive(Deserialize)]
pub(super) struct SignInQuery {
    #[serde(default)]
    next: String,
}

/// `GET /sign-in`.
pub(super) async fn show(
    MaybeSession(session): MaybeSession,
    Query(SignInQuery { next }): Query<SignInQuery>,
) -> Response {
    let next = next_page::checked(&next);
    if session.is_some() {
        return redirect(&next);
    }
    page(&SignInPage { next, ..SignInPage::default() })
}

#[derive(Deserialize)]
pub(super) struct SignInForm {
    email: String,
    password: String,
    #[serde(default)]
    next: String,
}

/// `POST /sign-in`.
pub(super) async fn submit(
    axum::extract::State(portal): State,
    From(source): From,
    headers: HeaderMap,
    Form(SignInForm { email, password, next }): Form<SignInForm>,
) -> Reply {
    let (next, password) = (next_page::checked(&next), Secret::new(password));
    let token = cookie::device(&portal, &source, &headers);
    let device = Device { address: source.address, token: token.as_ref() };
    match sign_in::sign_in(&portal.gateway, &email, &password, device).await {
        Ok(signed_in) => open(&portal, &source, &headers, signed_in, &next).await,
        Err(refusal) => {
            let (status, error) = match &refusal {
                UserRefusal::WrongSignIn => (StatusCode::UNAUTHORIZED, wrong()),
                UserRefusal::TooManyAttempts { .. } => (StatusCode::TOO_MANY_REQUESTS, refusal.to_string()),
                UserRefusal::Busy => (StatusCode::SERVICE_UNAVAILABLE, refusal.to_string()),
                _ => return Err(refusal.into()),
            };
            let form =
                SignInPage { next, email: Field::new(email), error: Some(error), ..SignInPage::default() };
            Ok(page_with_status(status, &form))
        }
    }
}

fn wrong() -> String {
    "The e-mail address or the password is wrong. Both are needed as they were given; passwords differ in upper and lower case."
        .to_owned()
}

/// Opens a session and leads to a page, or asks for the code of the second factor first.
async fn open(
    portal: &Arc<super::Portal>,
    source: &PageSource,
    headers: &HeaderMap,
    signed_in: SignedIn,
    next: &str,
) -> Reply {
    if !signed_in.proof.needs_code() {
        return open_session(portal, source, headers, signed_in, next).await;
    }
    let token = code_sign_in::wait_for_code(&portal.gateway, signed_in, next).await?;
    let cookie = [(header::SET_COOKIE, cookie::set(portal, source, &token))];
    Ok((cookie, redirect("/sign-in/code")).into_response())
}

/// Opens a session of a user who has proved everything, and leads to a page.
pub(super) async fn open_session(
    portal: &Arc<super::Portal>,
    source: &PageSource,
    headers: &HeaderMap,
    signed_in: SignedIn,
    next: &str,
) -> Reply {
    let user = signed_in.user;
    let agent = headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let client = Client { address: source.address, agent: agent.to_owned() };
    let token = sessions::open_session(&portal.gateway, signed_in, &client).await?;
    let mut response = redirect(next);
    cookie::remember_device(portal, source, user, &mut response);
    response.headers_mut().append(header::SET_COOKIE, cookie::set(portal, source, &token));
    Ok(response)
}

#[derive(Deserialize)]
pub(super) struct SignOutForm {
    csrf: String,
}

/// `POST /sign-out`.
pub(super) async fn sign_out(
    axum::extract::State(portal): State,
    From(source): From,
    MaybeSession(session): MaybeSession,
    Form(SignOutForm { csrf }): Form<SignOutForm>,
) -> Reply {
    if let Some(session) = session {
        check_csrf(&session, &csrf)?;
        sessions::end_session(&portal.gateway, session.user, session.digest).await?;
    }
    let cookie = [(header::SET_COOKIE, cookie::clear(&portal, &source))];
    Ok((cookie, page(&PlainMessagePage::signed_out())).into_response())
}

/// `GET /links/{token}`.
pub(super) async fn show_link(axum::extract::State(portal): State, Path(token): Path<String>) -> Reply {
    match links::find_link(&portal.gateway, &token).await? {
        Some(link) => Ok(page(&link_page(&portal, &token, &link, Field::default()))),
        None => Ok(page_with_status(StatusCode::NOT_FOUND, &PlainMessagePage::dead_link())),
    }
}

fn link_page(portal: &super::Portal, token: &str, link: &Link, password: Field) -> OneTimeLinkPage {
    let catalogue = portal.gateway.catalogue();
    let user = catalogue.users().by_id(link.user).map(|(_, user)| user);
    let membership = user.and_then(|user| match link.account {
        Some(account) => user.membership(account),
        None => user.accounts.last(),
    });
    let account = membership.and_then(|membership| catalogue.account(membership.account));
    let afresh = LinkUse::ChoosePassword { is_afresh: true };
    let starts_afresh = user
        .is_some_and(|user| user.password.is_some() && user.link_use(link.account, link.courier) == afresh);
    let can_sign_in = link.courier == LinkCourier::Owner || (starts_afresh && !link.is_reset);
    OneTimeLinkPage {
        csrf: String::new(),
        action: format!("/links/{token}"),
        is_invitation: !link.is_reset && membership.is_some(),
        email: link.email.clone(),
        account: account.map(|view| view.name.clone()).unwrap_or_default(),
        role: membership.map(|membership| membership.role.to_string()).unwrap_or_default(),
        invited_by: link.invited_by.clone(),
        password,
        password_again: Field::default(),
        expires_at: Time(link.expires_at.as_millis()),
        starts_afresh,
        sign_in: can_sign_in
            .then(|| format!("/sign-in?next={}", encode_segment(&format!("/invitations?link={token}")))),
    }
}

#[derive(Deserialize)]
pub(super) struct LinkForm {
    password: String,
    password_again: String,
}

/// `POST /links/{token}`: sets the password and signs in.
pub(super) async fn use_link(
    axum::extract::State(portal): State,
    From(source): From,
    Path(token): Path<String>,
    headers: HeaderMap,
    Form(LinkForm { password, password_again }): Form<LinkForm>,
) -> Reply {
    let dead = || page_with_status(StatusCode::NOT_FOUND, &PlainMessagePage::dead_link());
    let Some(link) = links::find_link(&portal.gateway, &token).await? else { return Ok(dead()) };
    let again = |error: String| {
        let page = link_page(&portal, &token, &link, Field::invalid("", error));
        page_with_status(StatusCode::BAD_REQUEST, &page)
    };
    if password != password_again {
        return Ok(again("The two passwords differ. Type the same one twice.".to_owned()));
    }
    match links::use_link(&portal.gateway, &token, &Secret::new(password), source.address).await {
        Ok(signed_in) => open(&portal, &source, &headers, signed_in, "/").await,
        Err(weak @ UserRefusal::WeakPassword(_)) => Ok(again(sentence(&weak.to_string()))),
        Err(UserRefusal::HasPassword) => {
            Ok(again("This link does not replace a password. Sign in with yours to accept.".to_owned()))
        }
        Err(UserRefusal::LinkSpent) => Ok(dead()),
        Err(refusal) => Err(NoPage::from(refusal)),
    }
}
