//! Composing a message: the form, its preview, and the one real message.

mod characters;
mod draft;
mod preview;

use super::State;
use super::extract::{MemberForm, Query};
use super::member::Member;
use super::reply::{NoPage, Reply, page, page_with_status, redirect};
use crate::elements::{Notice, Tone};
use crate::forms::Select;
use crate::layout::NavEntry;
use crate::pages::compose::{ComposePage, Preview};
use axum::Json;
use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use draft::MessageDraft;
use hermod_domain::catalogue::Catalogue;
use hermod_domain::ids::{ConnectionId, MessageId};
use hermod_domain::permission::Permission;
use hermod_domain::refusal::Refusal;
use hermod_domain::sender::Sender;
use hermod_domain::shown_number::NumberKind;
use hermod_domain::submission::{IdempotencyKey, Submission};
use hermod_gateway::app::{Caller, Submitted, find_replay, note_page_send, preview_message, submit_message};
use hermod_gateway::gateway::Gateway;
use hermod_gateway::secrets::random_token;
use hermod_operator::inbox::find_inbound;
use hermod_operator::message::history;
use hermod_operator::review::show_review;
use serde::Deserialize;
use std::sync::Arc;
use std::time::Duration;

/// Characters of the idempotency key of a form, five bits each.
const ONCE_CHARS: usize = 26;
/// Idempotency keys of forms begin with this, so that they are not those of the customer's programs.
const ONCE_PREFIX: &str = "portal:";
/// How long the browser waits for the record to have a new message.
const RECORD_WAIT_MAX: Duration = Duration::from_secs(2);

/// The form as it was sent.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ComposeForm {
    /// The name of a connection; empty for the first open one.
    connection: String,
    from: String,
    to: String,
    text: String,
    once: String,
    confirmed_price: String,
}

/// What the form is filled with.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ComposeQuery {
    /// The id of a message to send again.
    again: String,
    /// The number of an MO message to reply to.
    reply: String,
    /// The number of a review case whose message is sent again.
    held: String,
}

/// `GET /accounts/{account}/compose`.
pub(super) async fn show(
    axum::extract::State(portal): State,
    member: Member,
    Query(query): Query<ComposeQuery>,
) -> Reply {
    member.require(Permission::SendMessages)?;
    let form = filled(&portal.gateway, &member, &query).await?;
    let preview = match form.text.is_empty() {
        true => None,
        false => Some(preview_of(&portal.gateway, &member, &form).await?),
    };
    Ok(page(&compose_page(&portal.gateway, &member, &form, preview, None)?))
}

/// Fills the form from a message to send again, also one that was held, or from one to reply to.
async fn filled(gateway: &Gateway, member: &Member, query: &ComposeQuery) -> Result<ComposeForm, NoPage> {
    if let Ok(id) = query.reply.parse() {
        let mo = find_inbound(gateway, member.account, id).await?;
        return Ok(ComposeForm { from: mo.to, to: mo.from, ..ComposeForm::default() });
    }
    if let Ok(shown) = query.held.parse() {
        let case = show_review(gateway, gateway.numbers.read(NumberKind::Review, shown)).await?;
        if case.account != member.account_name {
            return Err(NoPage::NotFound);
        }
        let (to, text) = (case.to.into(), case.text.into());
        return Ok(ComposeForm { from: case.from, to, text, ..ComposeForm::default() });
    }
    if query.again.is_empty() {
        return Ok(ComposeForm::default());
    }
    let found = history::show_message_of(gateway, member.account, &query.again).await?.message;
    let stored = MessageId::parse(&found.id).ok_or(NoPage::NotFound)?;
    let text = gateway.store.messages().text(member.account, stored).await.ok().flatten();
    Ok(ComposeForm {
        connection: found.connection,
        from: found.from,
        to: found.to.map(String::from).unwrap_or_default(),
        // The octets of a binary message are no text.
        text: text.filter(|_| found.encoding != "binary").unwrap_or_default(),
        ..ComposeForm::default()
    })
}

/// `POST /accounts/{account}/compose`: the page with its preview.
pub(super) async fn check(
    axum::extract::State(portal): State,
    MemberForm { member, form }: MemberForm<ComposeForm>,
) -> Reply {
    member.require(Permission::SendMessages)?;
    let preview = preview_of(&portal.gateway, &member, &form).await?;
    Ok(page(&compose_page(&portal.gateway, &member, &form, Some(preview), None)?))
}

/// `POST /accounts/{account}/compose/preview`: the preview alone, for the script.
pub(super) async fn preview(
    axum::extract::State(portal): State,
    MemberForm { member, form }: MemberForm<ComposeForm>,
) -> Reply {
    member.require(Permission::SendMessages)?;
    Ok(Json(preview_of(&portal.gateway, &member, &form).await?).into_response())
}

async fn preview_of(gateway: &Gateway, member: &Member, form: &ComposeForm) -> Result<Preview, NoPage> {
    let shell = member.shell(NavEntry::Compose);
    let Some(caller) = caller_for(gateway, member, &form.connection) else {
        return Ok(preview::without_connection(&shell));
    };
    match MessageDraft::of(&form.from, &form.to, &form.text) {
        MessageDraft::Whole(submission) => {
            let found = preview_message(gateway, &caller, &submission).await.map_err(unavailable)?;
            Ok(preview::of_message(&shell, &caller, &submission, &found))
        }
        MessageDraft::Partial { text, refusals } => Ok(preview::of_draft(&shell, &caller, text, &refusals)),
    }
}

/// The store does not answer.
fn unavailable(refusal: Refusal) -> NoPage {
    tracing::warn!(code = refusal.code(), "A message could not be previewed");
    NoPage::Failed
}

/// `POST /accounts/{account}/compose/send`: sends the message at the price that the user saw.
pub(super) async fn send(
    axum::extract::State(portal): State,
    MemberForm { member, form }: MemberForm<ComposeForm>,
) -> Reply {
    member.require(Permission::SendMessages)?;
    let gateway = &portal.gateway;
    let key = IdempotencyKey::parse(&format!("{ONCE_PREFIX}{}", form.once)).ok();
    let caller = caller_for(gateway, &member, &form.connection);
    let draft = MessageDraft::of(&form.from, &form.to, &form.text);
    let (Some(caller), MessageDraft::Whole(submission), Some(key), false) =
        (caller, draft, key, form.once.is_empty())
    else {
        return again(gateway, &member, &form, None).await;
    };
    let replay = find_replay(gateway, &caller, &key, submission.fingerprint()).await.map_err(unavailable)?;
    if replay.as_ref().is_some_and(|replay| !replay.is_same_request) {
        return other_contents(gateway, &member, &form).await;
    }
    if let Some(replay) = replay {
        return Ok(redirect(&member.path(&format!("messages/{}", replay.message))));
    }
    let found = preview_message(gateway, &caller, &submission).await.map_err(unavailable)?;
    let price = found.cost().map(|cost| cost.to_string()).unwrap_or_default();
    if found.refusals.is_empty() && price != form.confirmed_price {
        let text = "The price is another one than you saw. Look at it, then send.";
        return again(gateway, &member, &form, Some(Notice::new(Tone::Warning, text))).await;
    }
    let request = member.source.request_id.to_str().ok().map(Into::into);
    let submission = Submission { key: Some(key), request, ..*submission };
    submit(gateway, &member, &form, &caller, &submission).await
}

async fn submit(
    gateway: &Gateway,
    member: &Member,
    form: &ComposeForm,
    caller: &Caller,
    submission: &Submission,
) -> Reply {
    let outcome = submit_message(gateway, caller, submission).await;
    let who = (member.session.email.as_str(), member.source.address);
    note_page_send(gateway, caller, who, submission, &outcome);
    match outcome {
        Ok(Submitted::Accepted(accepted)) => {
            wait_for_record(gateway).await;
            Ok(redirect(&member.path(&format!("messages/{}", accepted.message))))
        }
        Ok(Submitted::Replayed(replay)) if !replay.is_same_request => {
            other_contents(gateway, member, form).await
        }
        Ok(Submitted::Replayed(replay)) => {
            Ok(redirect(&member.path(&format!("messages/{}", replay.message))))
        }
        Ok(Submitted::Unknown) => {
            let text = "It is not known whether the message was sent. Send it again: it is sent and charged at most once.";
            again(gateway, member, form, Some(Notice::new(Tone::Warning, text))).await
        }
        Err(refusal) => {
            let tone = if refusal == Refusal::HeldForReview { Tone::Waiting } else { Tone::Bad };
            let text = format!("Not sent and not charged. {}", refusal.sentence());
            again(gateway, member, form, Some(Notice::new(tone, text))).await
        }
    }
}

/// Shows the form again with a new token: its token has sent another message, and this one was not sent.
async fn other_contents(gateway: &Gateway, member: &Member, form: &ComposeForm) -> Reply {
    let text = "This form has sent another message already. This one was not sent and not charged. Look at it, then send.";
    let form = ComposeForm { once: String::new(), ..form.clone() };
    again(gateway, member, &form, Some(Notice::new(Tone::Warning, text))).await
}

/// Waits until the record has the message, so that its page exists.
async fn wait_for_record(gateway: &Gateway) {
    tokio::select! {
        written = gateway.store.record().flush() => {
            if let Err(error) = written {
                tracing::debug!(%error, "The record does not have the new message yet");
            }
        }
        () = gateway.clock.sleep(RECORD_WAIT_MAX) => {}
    }
}

/// Shows the form again, with a new preview and what is wrong.
async fn again(gateway: &Gateway, member: &Member, form: &ComposeForm, notice: Option<Notice>) -> Reply {
    let preview = preview_of(gateway, member, form).await?;
    let page = compose_page(gateway, member, form, Some(preview), notice)?;
    Ok(page_with_status(StatusCode::BAD_REQUEST, &page))
}

/// Returns the caller of a connection of the account, by its name; without a name, of the first open one.
fn caller_for(gateway: &Gateway, member: &Member, connection: &str) -> Option<Caller> {
    let catalogue = gateway.catalogue();
    let is_wanted = |name: &str| connection.is_empty() || name == connection;
    let own = catalogue.connections_of(member.account).into_iter().filter(|(_, name, _)| is_wanted(name));
    let ids: Vec<ConnectionId> = own.map(|(id, ..)| id).collect();
    ids.into_iter().find_map(|id| Caller::on_page(&catalogue, member.account, id))
}

fn compose_page(
    gateway: &Gateway,
    member: &Member,
    form: &ComposeForm,
    preview: Option<Preview>,
    notice: Option<Notice>,
) -> Result<ComposePage, NoPage> {
    let catalogue = gateway.catalogue();
    let once = match form.once.is_empty() {
        true => random_token(ONCE_CHARS).map_err(|_| NoPage::Failed)?,
        false => form.once.clone(),
    };
    Ok(ComposePage {
        shell: member.shell(NavEntry::Compose),
        connection: connections(&catalogue, member, &form.connection),
        from: senders(&catalogue, member, &form.from),
        to: draft::to_field(&form.to),
        text: draft::text_field(&form.text),
        once,
        preview,
        notice,
    })
}

/// Returns the open connections; none if there is no choice.
fn connections(catalogue: &Arc<Catalogue>, member: &Member, chosen: &str) -> Option<Select> {
    let own = catalogue.connections_of(member.account).into_iter();
    let open = own.filter(|(_, _, connection)| !connection.closed);
    let names: Vec<String> = open.map(|(_, name, _)| name.to_owned()).collect();
    (names.len() > 1).then(|| Select::new(names.into_iter().map(|name| (name.clone(), name)), chosen))
}

/// Returns the approved senders, and the chosen one if it is another.
fn senders(catalogue: &Arc<Catalogue>, member: &Member, chosen: &str) -> Select {
    let approved = catalogue.account(member.account).map(|view| view.approved_senders()).unwrap_or_default();
    let shown = approved.iter().map(Sender::to_string);
    let mut pairs: Vec<(String, String)> = shown.map(|sender| (sender.clone(), sender)).collect();
    pairs.insert(0, (String::new(), "The connection's default sender".to_owned()));
    if !pairs.iter().any(|(value, _)| value == chosen) {
        pairs.push((chosen.to_owned(), format!("{chosen} (not approved)")));
    }
    Select::new(pairs, chosen)
}
