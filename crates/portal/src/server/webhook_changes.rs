//! Changes of an account's webhooks: URLs, form, secret, test events, replays.

use super::extract::{MemberForm, NoFields};
use super::member::Member;
use super::reply::{NoPage, Reply, fault, page, page_with_status, sentence};
use super::webhooks::{EventsFilter, FORMS, WebhooksFormResult, page_of};
use super::{Portal, State};
use crate::elements::{Chip, Tone};
use crate::forms::Field;
use crate::numbers::duration;
use crate::pages::webhooks::TestResult;
use axum::http::StatusCode;
use hermod_domain::permission::Permission;
use hermod_domain::webhook::{DlrForm, WebhookKind};
use hermod_gateway::live_status::TestEvent;
use hermod_operator::entry::views::{Fields, SaveQuery};
use hermod_operator::kind::Kind;
use hermod_operator::refusal::OperatorRefusal;
use hermod_operator::setup::use_cases::patch_entry;
use hermod_operator::webhook::use_cases::{
    drop_webhook_secret, replay_webhooks, reveal_webhook_secret, stage_webhook_secret, switch_webhook_secret,
    test_webhook,
};
use hermod_operator::webhook::views::{ReplayRequest, WebhookTestView};
use serde::Deserialize;
use serde_json::Value;

const PAGE: &str = "webhooks";

#[derive(Deserialize)]
pub(super) struct UrlsForm {
    dlr_webhook: String,
    inbound_webhook: String,
}

/// `POST /accounts/{account}/webhooks/urls`.
pub(super) async fn save_urls(
    axum::extract::State(portal): State,
    MemberForm { member, form }: MemberForm<UrlsForm>,
) -> Reply {
    member.require(Permission::ChangeSetup)?;
    member.require_confirmed(PAGE)?;
    let dlr = checked(&portal, &member, WebhookKind::Dlr, form.dlr_webhook.trim());
    let inbound = checked(&portal, &member, WebhookKind::Inbound, form.inbound_webhook.trim());
    if dlr.error.is_some() || inbound.error.is_some() {
        return invalid_urls(&portal, &member, dlr, inbound).await;
    }
    let url = |field: &Field| match field.value.is_empty() {
        true => Value::Null,
        false => Value::from(field.value.clone()),
    };
    let patch = Fields::from_iter([
        ("dlr_webhook".to_owned(), url(&dlr)),
        ("inbound_webhook".to_owned(), url(&inbound)),
    ]);
    let acting = member.acting(&portal);
    let name = &member.account_name;
    match patch_entry(&acting, Kind::Account, name, &SaveQuery::default(), patch).await {
        Ok(_) => Ok(member.done(PAGE, "webhooks-saved")),
        Err(refusal) => {
            let dlr = Field { error: Some(fault(refusal)?), ..dlr };
            invalid_urls(&portal, &member, dlr, inbound).await
        }
    }
}

async fn invalid_urls(portal: &Portal, member: &Member, dlr: Field, inbound: Field) -> Reply {
    let additions = WebhooksFormResult {
        dlr_webhook: Some(dlr),
        inbound_webhook: Some(inbound),
        ..WebhooksFormResult::default()
    };
    invalid(portal, member, additions).await
}

async fn invalid(portal: &Portal, member: &Member, additions: WebhooksFormResult) -> Reply {
    let shown = page_of(portal, member, EventsFilter::default(), additions).await?;
    Ok(page_with_status(StatusCode::BAD_REQUEST, &shown))
}

/// Checks a URL by the rules of every post, unless it is the saved one: that was checked before.
fn checked(portal: &Portal, member: &Member, kind: WebhookKind, url: &str) -> Field {
    let catalogue = portal.gateway.catalogue();
    let webhooks = catalogue.account(member.account).and_then(|view| view.account.webhooks.as_ref());
    if url.is_empty() || webhooks.and_then(|webhooks| webhooks.url(kind)) == Some(url) {
        return Field::new(url);
    }
    match portal.gateway.webhook_rules.check(url) {
        Ok(_) => Field::new(url),
        Err(refusal) => Field::invalid(url, sentence(&refusal.to_string())),
    }
}

#[derive(Deserialize)]
pub(super) struct FormForm {
    connection: String,
    dlr_form: String,
}

/// `POST /accounts/{account}/webhooks/form`.
pub(super) async fn save_form(
    axum::extract::State(portal): State,
    MemberForm { member, form: FormForm { connection, dlr_form } }: MemberForm<FormForm>,
) -> Reply {
    member.require(Permission::ChangeSetup)?;
    if !FORMS.iter().any(|(form, _)| *form == dlr_form) {
        return Err(NoPage::StaleForm);
    }
    member.require_connection(&portal, &connection)?;
    let patch = Fields::from_iter([("dlr_form".to_owned(), Value::from(dlr_form))]);
    let acting = member.acting(&portal);
    patch_entry(&acting, Kind::Connection, &connection, &SaveQuery::default(), patch).await?;
    Ok(member.done(PAGE, "dlr-form-saved"))
}

/// `POST /accounts/{account}/webhooks/secret/reveal`.
pub(super) async fn reveal(
    axum::extract::State(portal): State,
    MemberForm { member, .. }: MemberForm<NoFields>,
) -> Reply {
    member.require(Permission::ChangeSetup)?;
    member.require_confirmed(PAGE)?;
    let secret = reveal_webhook_secret(&member.acting(&portal), &member.account_name).await?;
    let additions =
        WebhooksFormResult { revealed: Some(secret.reveal().to_owned()), ..WebhooksFormResult::default() };
    Ok(page(&page_of(&portal, &member, EventsFilter::default(), additions).await?))
}

/// `POST /accounts/{account}/webhooks/secret/stage`.
pub(super) async fn stage(
    axum::extract::State(portal): State,
    MemberForm { member, .. }: MemberForm<NoFields>,
) -> Reply {
    member.require(Permission::ChangeSetup)?;
    member.require_confirmed(PAGE)?;
    let made = stage_webhook_secret(&member.acting(&portal), &member.account_name, None).await;
    let additions =
        WebhooksFormResult { staged: made.map_err(stale)?.secret, ..WebhooksFormResult::default() };
    Ok(page(&page_of(&portal, &member, EventsFilter::default(), additions).await?))
}

/// `POST /accounts/{account}/webhooks/secret/switch`.
pub(super) async fn switch(
    axum::extract::State(portal): State,
    MemberForm { member, .. }: MemberForm<NoFields>,
) -> Reply {
    member.require(Permission::ChangeSetup)?;
    member.require_confirmed(PAGE)?;
    switch_webhook_secret(&member.acting(&portal), &member.account_name).await.map_err(stale)?;
    Ok(member.done(PAGE, "secret-switched"))
}

/// `POST /accounts/{account}/webhooks/secret/drop`.
pub(super) async fn drop_secret(
    axum::extract::State(portal): State,
    MemberForm { member, .. }: MemberForm<NoFields>,
) -> Reply {
    member.require(Permission::ChangeSetup)?;
    member.require_confirmed(PAGE)?;
    drop_webhook_secret(&member.acting(&portal), &member.account_name).await.map_err(stale)?;
    Ok(member.done(PAGE, "secret-dropped"))
}

/// The step does not fit the secrets any more: another person made it before.
fn stale(refusal: OperatorRefusal) -> NoPage {
    match refusal {
        OperatorRefusal::Unfit(_) => NoPage::StaleForm,
        other => other.into(),
    }
}

#[derive(Deserialize)]
pub(super) struct TestForm {
    event: String,
}

/// `POST /accounts/{account}/webhooks/test`.
pub(super) async fn test(
    axum::extract::State(portal): State,
    MemberForm { member, form: TestForm { event } }: MemberForm<TestForm>,
) -> Reply {
    member.require(Permission::ChangeSetup)?;
    let wanted = match event.as_str() {
        "dlr-full" => TestEvent::Dlr(DlrForm::Full),
        "dlr-short" => TestEvent::Dlr(DlrForm::Short),
        "inbound" => TestEvent::Inbound,
        _ => return Err(NoPage::StaleForm),
    };
    let url = {
        let catalogue = portal.gateway.catalogue();
        let webhooks = catalogue.account(member.account).and_then(|view| view.account.webhooks.as_ref());
        webhooks.and_then(|webhooks| webhooks.url(wanted.kind())).map(str::to_owned)
    };
    let tested = test_webhook(&member.acting(&portal), &member.account_name, wanted).await;
    let result = match tested {
        Ok(view) => test_result(&url.unwrap_or_default(), view),
        Err(OperatorRefusal::Unavailable { cause, .. }) => TestResult {
            state: Chip::new(Tone::Warning, "Not sent"),
            text: sentence(cause),
            answer: String::new(),
            body: String::new(),
        },
        Err(refusal) => return Err(refusal.into()),
    };
    let additions =
        WebhooksFormResult { test: Some(result), test_event: event, ..WebhooksFormResult::default() };
    Ok(page(&page_of(&portal, &member, EventsFilter::default(), additions).await?))
}

fn test_result(url: &str, view: WebhookTestView) -> TestResult {
    let WebhookTestView { took_ms, status, failure, answer, body } = view;
    let took = duration(took_ms);
    let (state, text) = match status {
        Some(status) => {
            let tone = if (200..300).contains(&status) { Tone::Good } else { Tone::Bad };
            let words = status_words(status);
            (Chip::new(tone, status.to_string()), format!("{url} answered {words} in {took}."))
        }
        None => {
            let failure = failure.unwrap_or_default();
            (Chip::new(Tone::Bad, "No response"), format!("{url}: {failure}"))
        }
    };
    TestResult { state, text, answer: answer.into(), body }
}

/// Returns a status with its usual words, such as `503 Service Unavailable`.
pub(super) fn status_words(status: u16) -> String {
    let words = StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
    words.map_or_else(|| status.to_string(), |words| format!("{status} {words}"))
}

#[derive(Deserialize)]
pub(super) struct ReplayForm {
    since: String,
}

/// `POST /accounts/{account}/webhooks/retry`.
pub(super) async fn retry(
    axum::extract::State(portal): State,
    MemberForm { member, form: NoFields {} }: MemberForm<NoFields>,
) -> Reply {
    member.require(Permission::ChangeSetup)?;
    let acting = member.acting(&portal);
    let done = replay_webhooks(&acting, &member.account_name, ReplayRequest::default()).await?;
    Ok(member.done(PAGE, if done.retried == 0 { "nothing-retried" } else { "events-retried" }))
}

/// `POST /accounts/{account}/webhooks/replay`.
pub(super) async fn replay(
    axum::extract::State(portal): State,
    MemberForm { member, form: ReplayForm { since } }: MemberForm<ReplayForm>,
) -> Reply {
    member.require(Permission::ChangeSetup)?;
    let request = ReplayRequest { since: Some(since.trim().to_owned()), kind: None };
    let acting = member.acting(&portal);
    match replay_webhooks(&acting, &member.account_name, request).await {
        Ok(done) if done.replayed + done.retried == 0 => Ok(member.done(PAGE, "nothing-replayed")),
        Ok(_) => Ok(member.done(PAGE, "events-replayed")),
        Err(refusal) => {
            let since = Field::invalid(since, fault(refusal)?);
            let additions = WebhooksFormResult { replay_since: Some(since), ..WebhooksFormResult::default() };
            invalid(&portal, &member, additions).await
        }
    }
}
