//! A link for a forgotten password. The answer and its time are the same whether there is such a user or not: the link is made
//! beside the request.

use super::State;
use super::extract::Form;
use super::member::From;
use super::reply::{NoPage, Reply, page};
use crate::pages::access::ForgottenPage;
use axum::response::Response;
use hermod_gateway::gateway::SignInKey;
use hermod_operator::user::mails;
use serde::Deserialize;

/// `GET /sign-in/forgotten`.
pub(super) async fn show(axum::extract::State(portal): State) -> Response {
    page(&ForgottenPage { sends_mail: portal.gateway.mail.is_open(), ..ForgottenPage::default() })
}

#[derive(Deserialize)]
pub(super) struct ForgottenForm {
    email: String,
}

/// `POST /sign-in/forgotten`. Requests count like failed sign-ins of the address.
pub(super) async fn submit(
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
