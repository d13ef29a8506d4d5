//! Composing a message: the form, a preview made by the code that splits, prices and checks real messages, and the one real message.

use crate::elements::{Fact, Notice, Tone};
use crate::forms::{Field, Select};
use crate::layout::{NavEntry, Shell};
use crate::request::extract::{MemberForm, Query};
use crate::request::member::Member;
use crate::request::reply::{NoPage, Reply, page, page_again, redirect};
use askama::Template;
use axum::Json;
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
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;

/// `GET /accounts/{account}/compose`, and the same page after `POST` with its preview.
///
/// The form has `connection`, `from`, `to`, `text`, `once`, `confirmed_price` and `csrf`. "Check" posts it to `compose`; "Send" posts it
/// to `compose/send`. The script posts it to `compose/preview` while the person types and expects a [`Preview`] as JSON.
#[derive(Clone, Debug, Template)]
#[template(path = "compose.html")]
pub struct ComposePage {
    pub shell: Shell,
    /// The open connections; `None` if there is only one.
    pub connection: Option<Select>,
    /// The approved senders.
    pub from: Select,
    pub to: Field,
    pub text: Field,
    /// The idempotency key of this form: submitting it twice sends one message.
    pub once: String,
    /// `None` until the form was checked.
    pub preview: Option<Preview>,
    /// Why the message was not sent.
    pub notice: Option<Notice>,
}

/// What would happen to the message. Serialises to what the script expects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Preview {
    /// The message in one sentence, for screen readers: `2 parts, UCS-2, 0.150 EUR to Germany`.
    pub summary: String,
    pub parts: Vec<PreviewPart>,
    /// Encoding, characters, country, network, price per part, cost.
    pub facts: Vec<Fact>,
    /// Why the text needs UCS-2 and what replacing saves: `3 characters force UCS-2. Without them: 1 part instead of 2.`
    pub forced_words: String,
    pub forced: Vec<ForcedCharacter>,
    /// The errors that sending would return, in the order of checks.
    pub rejections: Vec<SendRejection>,
    /// The price that the person confirms, such as `0.150`; empty if there is none.
    pub price: String,
    /// The words of the button: `Send for 0.150 EUR`.
    pub send_label: String,
    pub can_send: bool,
}

/// One part of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PreviewPart {
    /// The text in order, split where marking changes.
    pub runs: Vec<TextRun>,
    /// How much of the part it uses, such as `67 of 70 characters`.
    pub used: String,
}

/// A stretch of text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TextRun {
    pub text: String,
    /// Whether these characters are not in the GSM 03.38 alphabet.
    pub is_marked: bool,
}

/// A character that is not in the GSM 03.38 alphabet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ForcedCharacter {
    pub character: String,
    /// Such as `left double quotation mark`.
    pub name: String,
    pub count: usize,
    /// What to write instead; empty to leave it out; `None` if there is nothing like it.
    pub replacement: Option<String>,
}

/// An error that sending would return.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SendRejection {
    /// Such as `SENDER_NOT_APPROVED`.
    pub code: String,
    /// What is wrong and what to do.
    pub text: String,
    /// Where to do it.
    pub href: Option<String>,
}

mod characters;
mod draft;
mod preview;

/// Characters of the idempotency key of a form, five bits each.
const ONCE_CHARS: usize = 26;
/// Idempotency keys of forms begin with this, so that they are not those of the customer's programs.
const ONCE_PREFIX: &str = "portal:";
/// How long the browser waits for the record to have a new message.
const RECORD_WAIT_MAX: Duration = Duration::from_secs(2);

/// The form as it was sent.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ComposeForm {
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
pub(crate) struct ComposeQuery {
    /// The id of a message to send again.
    again: String,
    /// The number of an MO message to reply to.
    reply: String,
    /// The number of a review case whose message is sent again.
    held: String,
}

/// `GET /accounts/{account}/compose`.
pub(crate) async fn show(member: Member, Query(query): Query<ComposeQuery>) -> Reply {
    member.require(Permission::SendMessages)?;
    let form = filled(&member, &query).await?;
    let preview = match form.text.is_empty() {
        true => None,
        false => Some(preview_of(&member, &form).await?),
    };
    Ok(page(&compose_page(&member, &form, preview, None)?))
}

/// Fills the form from a message to send again, also one that was held, or from one to reply to.
async fn filled(member: &Member, query: &ComposeQuery) -> Result<ComposeForm, NoPage> {
    let gateway = member.gateway();
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
pub(crate) async fn check(MemberForm { member, form }: MemberForm<ComposeForm>) -> Reply {
    member.require(Permission::SendMessages)?;
    let preview = preview_of(&member, &form).await?;
    Ok(page(&compose_page(&member, &form, Some(preview), None)?))
}

/// `POST /accounts/{account}/compose/preview`: the preview alone, for the script.
pub(crate) async fn preview(MemberForm { member, form }: MemberForm<ComposeForm>) -> Reply {
    member.require(Permission::SendMessages)?;
    Ok(Json(preview_of(&member, &form).await?).into_response())
}

async fn preview_of(member: &Member, form: &ComposeForm) -> Result<Preview, NoPage> {
    let shell = member.shell(NavEntry::Compose);
    let Some(caller) = caller_for(member, &form.connection) else {
        return Ok(preview::without_connection(&shell));
    };
    match MessageDraft::of(&form.from, &form.to, &form.text) {
        MessageDraft::Whole(submission) => {
            let found = preview_message(member.gateway(), &caller, &submission).await.map_err(unavailable)?;
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
pub(crate) async fn send(MemberForm { member, form }: MemberForm<ComposeForm>) -> Reply {
    member.require(Permission::SendMessages)?;
    let gateway = member.gateway();
    let key = IdempotencyKey::parse(&format!("{ONCE_PREFIX}{}", form.once)).ok();
    let caller = caller_for(&member, &form.connection);
    let draft = MessageDraft::of(&form.from, &form.to, &form.text);
    let (Some(caller), MessageDraft::Whole(submission), Some(key), false) =
        (caller, draft, key, form.once.is_empty())
    else {
        return again(&member, &form, None).await;
    };
    let replay = find_replay(gateway, &caller, &key, submission.fingerprint()).await.map_err(unavailable)?;
    if replay.as_ref().is_some_and(|replay| !replay.is_same_request) {
        return other_contents(&member, &form).await;
    }
    if let Some(replay) = replay {
        return Ok(redirect(&member.path(&format!("messages/{}", replay.message))));
    }
    let found = preview_message(gateway, &caller, &submission).await.map_err(unavailable)?;
    let price = found.cost().map(|cost| cost.to_string()).unwrap_or_default();
    if found.refusals.is_empty() && price != form.confirmed_price {
        let text = "The price is another one than you saw. Look at it, then send.";
        return again(&member, &form, Some(Notice::new(Tone::Warning, text))).await;
    }
    let request = member.source.request_id.to_str().ok().map(Into::into);
    let submission = Submission { key: Some(key), request, ..*submission };
    submit(&member, &form, &caller, &submission).await
}

async fn submit(member: &Member, form: &ComposeForm, caller: &Caller, submission: &Submission) -> Reply {
    let gateway = member.gateway();
    let outcome = submit_message(gateway, caller, submission).await;
    let who = (member.session.email.as_str(), member.source.address);
    note_page_send(gateway, caller, who, submission, &outcome);
    match outcome {
        Ok(Submitted::Accepted(accepted)) => {
            wait_for_record(gateway).await;
            Ok(redirect(&member.path(&format!("messages/{}", accepted.message))))
        }
        Ok(Submitted::Replayed(replay)) if !replay.is_same_request => other_contents(member, form).await,
        Ok(Submitted::Replayed(replay)) => {
            Ok(redirect(&member.path(&format!("messages/{}", replay.message))))
        }
        Ok(Submitted::Unknown) => {
            let text = "It is not known whether the message was sent. Send it again: it is sent and charged at most once.";
            again(member, form, Some(Notice::new(Tone::Warning, text))).await
        }
        Err(refusal) => {
            let tone = if refusal == Refusal::HeldForReview { Tone::Waiting } else { Tone::Bad };
            let text = format!("Not sent and not charged. {}", refusal.sentence());
            again(member, form, Some(Notice::new(tone, text))).await
        }
    }
}

/// Shows the form again with a new token: its token has sent another message, and this one was not sent.
async fn other_contents(member: &Member, form: &ComposeForm) -> Reply {
    let text = "This form has sent another message already. This one was not sent and not charged. Look at it, then send.";
    let form = ComposeForm { once: String::new(), ..form.clone() };
    again(member, &form, Some(Notice::new(Tone::Warning, text))).await
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
async fn again(member: &Member, form: &ComposeForm, notice: Option<Notice>) -> Reply {
    let preview = preview_of(member, form).await?;
    let page = compose_page(member, form, Some(preview), notice)?;
    Ok(page_again(&page))
}

/// Returns the caller of a connection of the account, by its name; without a name, of the first open one.
fn caller_for(member: &Member, connection: &str) -> Option<Caller> {
    let catalogue = member.gateway().catalogue();
    let is_wanted = |name: &str| connection.is_empty() || name == connection;
    let own = catalogue.connections_of(member.account).into_iter().filter(|(_, name, _)| is_wanted(name));
    let ids: Vec<ConnectionId> = own.map(|(id, ..)| id).collect();
    ids.into_iter().find_map(|id| Caller::on_page(&catalogue, member.account, id))
}

fn compose_page(
    member: &Member,
    form: &ComposeForm,
    preview: Option<Preview>,
    notice: Option<Notice>,
) -> Result<ComposePage, NoPage> {
    let catalogue = member.gateway().catalogue();
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

#[cfg(test)]
#[path = "compose_tests.rs"]
mod tests;
