//! Confirmation of a change that cannot be undone, and the password again before something sensitive is changed or shown.

use crate::forms::Field;
use crate::layout::{NavEntry, Shell};
use crate::pages::access::WRONG_CODE;
use crate::request::extract::{MemberForm, Query};
use crate::request::member::Member;
use crate::request::next_page;
use crate::request::reply::{NoPage, Reply, page, page_with_status, redirect};
use askama::Template;
use axum::http::StatusCode;
use hermod_gateway::secrets::Secret;
use hermod_operator::user::UserRefusal;
use hermod_operator::user::sign_in::confirm_password;
use serde::Deserialize;

/// A page that names the consequences of a change before it is made. Works for every destructive action.
#[derive(Clone, Debug, Default, Template)]
#[template(path = "confirm.html")]
pub struct ConfirmPage {
    pub shell: Shell,
    /// The question: `Revoke key lk_live_1?`
    pub title: String,
    /// What happens, in one sentence.
    pub text: String,
    /// Further consequences: `It was used 2 minutes ago from 203.0.113.9.`
    pub consequences: Vec<String>,
    /// Where the form posts.
    pub action: String,
    /// The words of the button: `Revoke the key`.
    pub button: String,
    /// Whether the change destroys something.
    pub is_danger: bool,
    /// Where "Cancel" leads.
    pub cancel: String,
}

/// `GET /accounts/{account}/re-authenticate?next=…`: the password again. Posts `password` and `next` to the same address.
#[derive(Clone, Debug, Default, Template)]
#[template(path = "reauthenticate.html")]
pub struct ReauthenticatePage {
    pub shell: Shell,
    /// Why the person is asked: a sentence.
    pub purpose: String,
    /// Where to go on: a path of ours.
    pub next: String,
    /// Only the error is shown.
    pub password: Field,
    /// Whether the code of the second factor is asked for too.
    pub needs_code: bool,
    pub code: Field,
    pub cancel: String,
}

#[derive(Deserialize)]
pub(crate) struct ConfirmationQuery {
    #[serde(default)]
    next: String,
}

/// `GET /accounts/{account}/re-authenticate`.
pub(crate) async fn show(
    member: Member,
    Query(ConfirmationQuery { next }): Query<ConfirmationQuery>,
) -> Reply {
    Ok(page(&form(&member, &next)))
}

fn form(member: &Member, next: &str) -> ReauthenticatePage {
    let next = next_page::checked(next);
    let catalogue = member.gateway().catalogue();
    let user = catalogue.users().by_id(member.session.user);
    ReauthenticatePage {
        shell: member.shell(NavEntry::Home),
        purpose: "Secrets, addresses and users are changed only by the user who typed the password in the last ten minutes. Enter your password, then make the change again."
            .to_owned(),
        cancel: next.clone(),
        next,
        password: Field::default(),
        needs_code: user.is_some_and(|(_, user)| user.second_factor.is_some()),
        code: Field::default(),
    }
}

/// Returns the fields of a password and of a code, with what is wrong with one of them. Anything else has its own page.
pub(crate) fn proof_fields(refusal: UserRefusal) -> Result<(Field, Field), NoPage> {
    match refusal {
        UserRefusal::WrongSignIn => {
            Ok((Field::invalid("", "The password is wrong. Type it again."), Field::default()))
        }
        UserRefusal::WrongCode => Ok((Field::default(), Field::invalid("", WRONG_CODE))),
        refusal => Err(refusal.into()),
    }
}

#[derive(Deserialize)]
pub(crate) struct ConfirmationForm {
    password: String,
    #[serde(default)]
    code: String,
    next: String,
}

/// `POST /accounts/{account}/re-authenticate`.
pub(crate) async fn submit(
    MemberForm { member, form: ConfirmationForm { password, code, next } }: MemberForm<ConfirmationForm>,
) -> Reply {
    let (password, source) = (Secret::new(password), member.source.address);
    let again = form(&member, &next);
    match confirm_password(member.gateway(), &member.session, &password, &code, source).await {
        Ok(()) => {
            let next = next_page::checked(&next);
            let sign = if next.contains('?') { '&' } else { '?' };
            Ok(redirect(&format!("{next}{sign}done=confirmed")))
        }
        Err(refusal) => {
            let (password, code) = proof_fields(refusal)?;
            Ok(page_with_status(StatusCode::UNAUTHORIZED, &ReauthenticatePage { password, code, ..again }))
        }
    }
}
