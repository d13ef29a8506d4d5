//! The code of the second factor, after the password was right.

use super::extract::Form;
use super::member::From;
use super::reply::{Reply, page, page_with_status, redirect, sentence};
use super::sign_in::open_session;
use super::{State, cookie};
use crate::forms::Field;
use crate::pages::access::SecondFactorPage;
use axum::http::{HeaderMap, StatusCode};
use hermod_operator::user::{UserRefusal, code_sign_in};
use serde::Deserialize;

/// What is wrong with a code.
pub(super) const WRONG_CODE: &str =
    "The code is wrong or was used before. Each code works once: wait for the next one.";

/// `GET /sign-in/code`.
pub(super) async fn show(
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
pub(super) struct CodeForm {
    code: String,
}

/// `POST /sign-in/code`.
pub(super) async fn submit(
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
