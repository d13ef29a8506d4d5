//! The password again, before something sensitive is changed or shown.

use super::extract::{MemberForm, Query};
use super::member::Member;
use super::reply::{Reply, page, page_with_status, redirect};
use super::sign_in_code::WRONG_CODE;
use super::{Portal, State, next_page};
use crate::forms::Field;
use crate::layout::NavEntry;
use crate::pages::confirm::ReauthenticatePage;
use axum::http::StatusCode;
use hermod_gateway::secrets::Secret;
use hermod_operator::user::UserRefusal;
use hermod_operator::user::sign_in::confirm_password;
use serde::Deserialize;

#[derive(Deserialize)]
pub(super) struct ConfirmationQuery {
    #[serde(default)]
    next: String,
}

/// `GET /accounts/{account}/re-authenticate`.
pub(super) async fn show(
    axum::extract::State(portal): State,
    member: Member,
    Query(ConfirmationQuery { next }): Query<ConfirmationQuery>,
) -> Reply {
    Ok(page(&form(&portal, &member, &next)))
}

fn form(portal: &Portal, member: &Member, next: &str) -> ReauthenticatePage {
    let next = next_page::checked(next);
    let catalogue = portal.gateway.catalogue();
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

#[derive(Deserialize)]
pub(super) struct ConfirmationForm {
    password: String,
    #[serde(default)]
    code: String,
    next: String,
}

/// `POST /accounts/{account}/re-authenticate`.
pub(super) async fn submit(
    axum::extract::State(portal): State,
    MemberForm { member, form: ConfirmationForm { password, code, next } }: MemberForm<ConfirmationForm>,
) -> Reply {
    let (password, source) = (Secret::new(password), member.source.address);
    let again = form(&portal, &member, &next);
    match confirm_password(&portal.gateway, &member.session, &password, &code, source).await {
        Ok(()) => {
            let next = next_page::checked(&next);
            let sign = if next.contains('?') { '&' } else { '?' };
            Ok(redirect(&format!("{next}{sign}done=confirmed")))
        }
        Err(UserRefusal::WrongSignIn) => {
            let password = Field::invalid("", "The password is wrong. Type it again.");
            Ok(page_with_status(StatusCode::UNAUTHORIZED, &ReauthenticatePage { password, ..again }))
        }
        Err(UserRefusal::WrongCode) => {
            let code = Field::invalid("", WRONG_CODE);
            Ok(page_with_status(StatusCode::UNAUTHORIZED, &ReauthenticatePage { code, ..again }))
        }
        Err(refusal) => Err(refusal.into()),
    }
}
