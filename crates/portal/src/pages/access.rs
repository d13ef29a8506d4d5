//! Pages for people who are not signed in, and for requests that fail: signing in and out with the code of the second factor, one-time
//! links, and a link for a forgotten password. The answer to a forgotten password and its time are the same whether there is such a
//! user or not: the link is made beside the request.

use crate::forms::Field;
use crate::layout::encode_segment;
use crate::plain_message::PlainMessagePage;
use crate::request::extract::{Form, Path, Query, check_csrf};
use crate::request::member::{From, MaybeSession};
use crate::request::reply::{NoPage, Reply, page, page_again, page_with_status, redirect, sentence};
use crate::request::{State, cookie, next_page};
use crate::time::Time;
use askama::Template;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use hermod_domain::catalogue::{LinkCourier, LinkUse};
use hermod_gateway::gateway::SignInKey;
use hermod_gateway::http::pages::PageSource;
use hermod_gateway::secrets::Secret;
use hermod_operator::user::links::Link;
use hermod_operator::user::sessions::{Client, SignedIn};
use hermod_operator::user::sign_in::Device;
use hermod_operator::user::{UserRefusal, code_sign_in, links, mails, sessions, sign_in};
use serde::Deserialize;
use std::sync::Arc;

/// `GET /sign-in`. The form posts `email`, `password`, `next` and `csrf` to the same address.
#[derive(Clone, Debug, Default, Template)]
#[template(path = "sign_in.html")]
pub struct SignInPage {
    /// The token of the form.
    pub csrf: String,
    /// Where to go after signing in: a path of ours.
    pub next: String,
    pub email: Field,
    /// Why the last attempt failed: one sentence, the same for an unknown address and a wrong password.
    pub error: Option<String>,
}

/// `GET /sign-in/code`. The form posts `code` and `csrf` to the same address.
#[derive(Clone, Debug, Default, Template)]
#[template(path = "second_factor.html")]
pub struct SecondFactorPage {
    pub csrf: String,
    /// The error belongs to the code; its value is never shown again.
    pub code: Field,
}

/// `GET /sign-in/forgotten`. The form posts `email` to the same address.
#[derive(Clone, Debug, Default, Template)]
#[template(path = "forgotten.html")]
pub struct ForgottenPage {
    /// Whether the gateway sends mails; otherwise the page says whom to ask.
    pub sends_mail: bool,
    /// Whether a link was requested. The same for every address.
    pub is_requested: bool,
    pub email: Field,
}

/// `GET /links/{token}`: accepts an invitation or resets a password. Posts `password`, `password_again` and `csrf`.
#[derive(Clone, Debug, Template)]
#[template(path = "link.html")]
pub struct OneTimeLinkPage {
    pub csrf: String,
    /// The address of this page, to which the form posts.
    pub action: String,
    /// Whether the link is an invitation; otherwise it resets the password.
    pub is_invitation: bool,
    /// The person whom the link is for.
    pub email: String,
    /// The account of the invitation.
    pub account: String,
    /// The role of the invitation.
    pub role: String,
    /// The person who invited; `None` if the operator did.
    pub invited_by: Option<String>,
    /// Only the error is shown.
    pub password: Field,
    /// Only the error is shown.
    pub password_again: Field,
    pub expires_at: Time,
    /// Whether choosing a password removes the second factor of a user, and leaves unproven memberships pending.
    pub starts_afresh: bool,
    /// Where a person with a password accepts the invitation; `None` if there is none to accept.
    pub sign_in: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct SignInQuery {
    #[serde(default)]
    next: String,
}

/// `GET /sign-in`.
pub(crate) async fn show(
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
pub(crate) struct SignInForm {
    email: String,
    password: String,
    #[serde(default)]
    next: String,
}

/// `POST /sign-in`.
pub(crate) async fn submit(
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
    portal: &Arc<crate::request::Portal>,
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
pub(crate) async fn open_session(
    portal: &Arc<crate::request::Portal>,
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
pub(crate) struct SignOutForm {
    csrf: String,
}

/// `POST /sign-out`.
pub(crate) async fn sign_out(
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
pub(crate) async fn show_link(axum::extract::State(portal): State, Path(token): Path<String>) -> Reply {
    match links::find_link(&portal.gateway, &token).await? {
        Some(link) => Ok(page(&link_page(&portal, &token, &link, Field::default()))),
        None => Ok(page_with_status(StatusCode::NOT_FOUND, &PlainMessagePage::dead_link())),
    }
}

fn link_page(portal: &crate::request::Portal, token: &str, link: &Link, password: Field) -> OneTimeLinkPage {
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
        expires_at: Time::from(link.expires_at),
        starts_afresh,
        sign_in: can_sign_in
            .then(|| format!("/sign-in?next={}", encode_segment(&format!("/invitations?link={token}")))),
    }
}

#[derive(Deserialize)]
pub(crate) struct LinkForm {
    password: String,
    password_again: String,
}

/// `POST /links/{token}`: sets the password and signs in.
pub(crate) async fn use_link(
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
        page_again(&page)
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

/// What is wrong with a code.
pub(crate) const WRONG_CODE: &str =
    "The code is wrong or was used before. Each code works once: wait for the next one.";

/// `GET /sign-in/code`.
pub(crate) async fn show_code(
    axum::extract::State(portal): State,
    From(source): From,
    headers: HeaderMap,
) -> Reply {
    let Some(token) = cookie::token(&portal, &source, &headers) else { return Ok(redirect("/sign-in")) };
    match code_sign_in::find_waiting(&portal.gateway, token.reveal()).await? {
        Some(_) => Ok(page(&SecondFactorPage::default())),
        None => Ok(redirect("/sign-in")),
    }
}

#[derive(Deserialize)]
pub(crate) struct CodeForm {
    code: String,
}

/// `POST /sign-in/code`.
pub(crate) async fn submit_code(
    axum::extract::State(portal): State,
    From(source): From,
    headers: HeaderMap,
    Form(CodeForm { code }): Form<CodeForm>,
) -> Reply {
    let Some(token) = cookie::token(&portal, &source, &headers) else { return Ok(redirect("/sign-in")) };
    let again = |status, error: String| {
        let form = SecondFactorPage { code: Field::invalid("", error), ..SecondFactorPage::default() };
        Ok(page_with_status(status, &form))
    };
    match code_sign_in::enter_code(&portal.gateway, token.reveal(), &code, source.address).await {
        Ok(waiting) => open_session(&portal, &source, &headers, waiting.signed_in, &waiting.next).await,
        Err(UserRefusal::WrongCode) => again(StatusCode::UNAUTHORIZED, WRONG_CODE.to_owned()),
        Err(refusal @ UserRefusal::TooManyAttempts { .. }) => {
            let error = format!("{} A recovery code works at any time.", sentence(&refusal.to_string()));
            again(StatusCode::TOO_MANY_REQUESTS, error)
        }
        // Too old, or too many wrong codes: the password is needed again.
        Err(UserRefusal::LinkSpent) => Ok(redirect("/sign-in")),
        Err(refusal) => Err(refusal.into()),
    }
}

/// `GET /sign-in/forgotten`.
pub(crate) async fn show_forgotten(axum::extract::State(portal): State) -> Response {
    page(&ForgottenPage { sends_mail: portal.gateway.mail.is_open(), ..ForgottenPage::default() })
}

#[derive(Deserialize)]
pub(crate) struct ForgottenForm {
    email: String,
}

/// `POST /sign-in/forgotten`. Requests count like failed sign-ins of the address.
pub(crate) async fn submit_forgotten(
    axum::extract::State(portal): State,
    From(source): From,
    Form(ForgottenForm { email }): Form<ForgottenForm>,
) -> Reply {
    let (gateway, sends_mail) = (portal.gateway.clone(), portal.gateway.mail.is_open());
    if let Some(address) = source.address {
        let limited = gateway.fail_sign_in(address, SignInKey::Reset);
        let wait_s = |wait: std::time::Duration| u32::try_from(wait.as_secs()).unwrap_or(u32::MAX).max(1);
        limited.map_err(|wait| NoPage::TooMany { wait_s: wait_s(wait) })?;
    }
    if sends_mail {
        portal.workers.spawn_named("portal/reset", async move {
            if let Err(refusal) = mails::send_reset(&gateway, &email, source.address).await {
                tracing::warn!(%refusal, "A link for a forgotten password was not sent");
            }
        });
    }
    Ok(page(&ForgottenPage { sends_mail, is_requested: true, ..ForgottenPage::default() }))
}
