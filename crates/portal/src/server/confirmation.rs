//! The password again, before something sensitive is changed or shown.

use super::form::Change;
use super::member::Member;
use super::reply::{Reply, page, page_with_status, redirect};
use super::{State, next_page};
use crate::forms::Field;
use crate::layout::Entry;
use crate::pages::confirm::Reauthenticate;
use axum::extract::Query;
use axum::http::StatusCode;
use hermod_gateway::app::users::{UserRefusal, confirm_password};
use hermod_gateway::secrets::Secret;
use serde::Deserialize;

#[derive(Deserialize)]
pub(super) struct ConfirmationQuery {
    #[serde(default)]
    next: String,
}

/// `GET /accounts/{account}/re-authenticate`.
pub(super) async fn show(
    member: Member,
    Query(ConfirmationQuery { next }): Query<ConfirmationQuery>,
) -> Reply {
    Ok(page(&form(&member, &next, Field::default())))
}

fn form(member: &Member, next: &str, password: Field) -> Reauthenticate {
    let next = next_page::checked(next);
    Reauthenticate {
        shell: member.shell(Entry::Home),
        purpose: "Secrets, addresses and users are changed only by the user who typed the password in the last ten minutes. Enter your password, then make the change again."
            .to_owned(),
        cancel: next.clone(),
        next,
        password,
        needs_code: false,
        code: Field::default(),
    }
}

#[derive(Deserialize)]
pub(super) struct ConfirmationForm {
    password: String,
    next: String,
}

/// `POST /accounts/{account}/re-authenticate`.
pub(super) async fn submit(
    axum::extract::State(portal): State,
    Change { member, form: ConfirmationForm { password, next } }: Change<ConfirmationForm>,
) -> Reply {
    let password = Secret::new(password);
    match confirm_password(&portal.world, &member.session, &password, member.source.address).await {
        Ok(()) => Ok(redirect(&format!("{}?done=confirmed", next_page::checked(&next)))),
        Err(UserRefusal::WrongSignIn) => {
            let wrong = Field::invalid("", "The password is wrong. Type it again.");
            Ok(page_with_status(StatusCode::UNAUTHORIZED, &form(&member, &next, wrong)))
        }
        Err(refusal) => Err(refusal.into()),
    }
}
