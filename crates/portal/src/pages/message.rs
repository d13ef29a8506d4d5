//! One message: its state in words, its text, its facts, its cost, every step, and the attempts to post its DLR with the responses as
//! far as they were kept.

use crate::elements::{Chip, Fact, Freshness, Notice, PageLink, Tone};
use crate::layout::{NavEntry, Shell, encode_segment};
use crate::numbers::{amount, duration};
use crate::request::extract::Path;
use crate::request::member::Member;
use crate::request::reply::{NoPage, Reply, page};
use crate::request::shown::{country_name, freshness, time, time_of};
use crate::time::Time;
use askama::Template;
use hermod_domain::ids::{MessageId, PartNo};
use hermod_domain::money::Money;
use hermod_domain::permission::Permission;
use hermod_domain::receipt::{DlrCode, ErrCode, ReportStatus};
use hermod_domain::text::{Encoding, MessageText};
use hermod_gateway::gateway::Gateway;
use hermod_operator::message::history;
use hermod_operator::message::views::{HistoryView, MessageDetailView, MessageView, StepView};
use hermod_operator::webhook::use_cases::show_webhook_event;
use hermod_operator::webhook::views::AttemptView;
use std::time::Duration;

/// `GET /accounts/{account}/messages/{id}`.
#[derive(Clone, Debug, Template)]
#[template(path = "message.html")]
pub struct MessageDetailPage {
    pub shell: Shell,
    pub id: String,
    pub state: Chip,
    /// The state in a sentence: `Delivered to the handset 2.31 s after we accepted it.`
    pub state_words: String,
    /// The error and what to do about it, with a link to the error's entry in the catalogue.
    pub remedy: Option<Notice>,
    pub accepted_at: Time,
    pub from: String,
    /// The number, masked for roles that may not see it; `None` if it was erased.
    pub to: Option<String>,
    /// Country, network, encoding, connection, request id and so on.
    pub facts: Vec<Fact>,
    pub text: Text,
    pub cost: MessageCost,
    /// The oldest first.
    pub timeline: Vec<TimelineStep>,
    /// The attempts to post its DLR; the oldest first.
    pub attempts: Vec<WebhookAttemptRow>,
    /// Compose with the same sender, recipient and text; `None` if the role may not send.
    pub send_again: Option<String>,
    /// How long the script waits before it reads the page again, in milliseconds; `None` once nothing more is expected.
    pub refresh_ms: Option<u32>,
    pub freshness: Freshness,
}

/// The text of a message, or why it is not shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Text {
    /// The text by segments.
    Shown(Vec<Segment>),
    /// The role may not read texts.
    HiddenForRole,
    /// The text was deleted after this many days.
    Purged { days: u64 },
    /// The message is binary; its octets in hexadecimal.
    Binary(String),
}

/// The text of one part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    pub text: String,
    /// How much of the part it uses, such as `153 of 153`.
    pub used: String,
}

/// The cost as a sum.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageCost {
    /// The number of parts that were charged.
    pub parts: u8,
    /// The price of one part, such as `0.075`; `None` if it is unknown now.
    pub price: Option<String>,
    /// What was charged, with the currency.
    pub charged: String,
    /// What was refunded, with the currency.
    pub refunded: Option<String>,
    /// The balance after the charge, with the currency.
    pub balance_after: Option<String>,
}

/// One step of the timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineStep {
    /// Milliseconds after the acceptance.
    pub at_ms: u64,
    pub tone: Tone,
    /// What happened, in words; see [`step_words`].
    pub title: String,
    /// The part that the step is about.
    pub part: Option<u8>,
    /// What the step means, in a sentence.
    pub note: Option<String>,
    /// Carrier's id, status, error code and so on.
    pub details: Vec<Fact>,
}

/// One POST of a webhook event about the message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookAttemptRow {
    pub at: Time,
    /// The event and the address of its page.
    pub event: PageLink,
    pub number: u32,
    /// The HTTP status or the failure.
    pub result: Chip,
    pub took: String,
    /// The beginning of the response, as far as it was kept; `None` if the role may not see it.
    pub response: Option<String>,
}

/// Returns the tone and the words of a step of the record, such as `carrier_accepted`. Receipts and ends have the tone of the
/// message state that they brought. Unknown steps are shown as they are written.
pub fn step_words<'s>(step: &'s str, state: Option<&str>) -> (Tone, &'s str) {
    let state_tone = state.map_or(Tone::Neutral, |state| Chip::of_state(state).tone);
    match step {
        "accepted" => (Tone::Good, "Accepted and charged"),
        "sent" => (Tone::Waiting, "Sent to the carrier"),
        "resent" => (Tone::Warning, "Sent again"),
        "not_sent" => (Tone::Warning, "Not sent"),
        "carrier_accepted" => (Tone::Good, "The carrier accepted it"),
        "no_carrier_id" => (Tone::Warning, "The carrier gave no id"),
        "carrier_id_reused" => (Tone::Warning, "The carrier used an id twice"),
        "throttled" => (Tone::Waiting, "Throttled by the carrier"),
        "temporary_error" => (Tone::Warning, "Temporary error of the carrier"),
        "rejected" => (Tone::Bad, "The carrier rejected it"),
        "refused" => (Tone::Stopped, "Rejected before it was sent"),
        "in_doubt" => (Tone::Warning, "No response from the carrier"),
        "late_response" => (Tone::Neutral, "Late response of the carrier"),
        "moved" => (Tone::Neutral, "Moved to another link"),
        "held" => (Tone::Stopped, "Held by your provider"),
        "released" => (Tone::Neutral, "Released by your provider"),
        "failed_over" => (Tone::Warning, "Moved to another carrier"),
        "receipt" => (state_tone, "Receipt from the carrier"),
        "late_receipt" => (Tone::Neutral, "Receipt after the end"),
        "unknown_receipt" => (Tone::Warning, "Receipt with an unknown status"),
        "unknown" => (Tone::Warning, "No receipt arrived"),
        "expired" => (Tone::Warning, "Validity period elapsed"),
        "cancelled" => (Tone::Stopped, "Cancelled"),
        "state" => (state_tone, "State changed"),
        "ended" => (state_tone, "Ended"),
        "reported" => (Tone::Waiting, "Report sent to your bind"),
        "report_answered" => (Tone::Good, "Your bind acknowledged the report"),
        "webhook" => (Tone::Neutral, "Webhook posted"),
        "gap" => (Tone::Neutral, "Steps are missing here"),
        "more" => (Tone::Neutral, "More steps than are shown"),
        other => (Tone::Neutral, other),
    }
}

/// Where the page of the API lists the values of `err_code`.
const DELIVERY_ERRORS: &str = "/docs#group-Delivery-errors";
/// While a message is so young, its page is read again so often; both in milliseconds.
const REFRESH: [(u64, u32); 3] = [(120_000, 1_000), (3_600_000, 5_000), (u64::MAX, 30_000)];
/// Webhooks are posted after the end of a message; so long the page is read again.
const AFTER_END_MS: u64 = 10_000;

/// `GET /accounts/{account}/messages/{id}`.
pub(crate) async fn show(member: Member, Path((_, id)): Path<(String, String)>) -> Reply {
    member.require(Permission::ReadMessages)?;
    let gateway = member.gateway();
    let MessageDetailView { message, history } =
        history::show_message_of(gateway, member.account, &id).await?;
    let stored = MessageId::parse(&message.id).ok_or(NoPage::NotFound)?;
    let text = match member.may(Permission::ReadTexts) {
        true => {
            let text = gateway.store.messages().text(member.account, stored).await.ok().flatten();
            text_of(text, &message, member.portal.texts_kept)
        }
        false => Text::HiddenForRole,
    };
    let accepted_at = time_of(&message.accepted_at);
    let may_see = member.may(Permission::ReadTexts);
    let shell = member.shell(NavEntry::Messages);
    let steps = history.timeline.iter().filter(|step| step.step != "webhook");
    let can_send = member.may(Permission::SendMessages) && shell.can_open(&NavEntry::Compose);
    let again = format!("{}?again={}", shell.path("compose"), encode_segment(&message.id));
    Ok(page(&MessageDetailPage {
        state: Chip::of_state(&message.state),
        state_words: state_words(&message),
        remedy: remedy(&message),
        accepted_at,
        from: message.from.clone(),
        to: member.shown_number(message.to.clone()),
        facts: facts(&shell, &message, &history),
        text,
        cost: cost(&message, &history),
        timeline: steps.map(|step| step_of(step, may_see)).collect(),
        attempts: attempts_of(&member, &shell, &history.timeline, accepted_at).await,
        send_again: can_send.then_some(again),
        refresh_ms: refresh_ms(gateway, &message, accepted_at),
        freshness: freshness(&gateway.clock, history.record),
        id: message.id,
        shell,
    }))
}

/// Returns when the page is worth reading again.
fn refresh_ms(gateway: &Gateway, message: &MessageView, accepted_at: Time) -> Option<u32> {
    let now = gateway.clock.now().as_millis();
    let since = |at: Time| u64::try_from(now.saturating_sub(at.0)).unwrap_or(0);
    match message.ended_at.as_deref().and_then(time) {
        Some(ended_at) => (since(ended_at) < AFTER_END_MS).then_some(REFRESH[0].1),
        None => REFRESH.into_iter().find(|(age, _)| since(accepted_at) < *age).map(|(_, every)| every),
    }
}

/// Returns the text by the parts in which it was sent.
fn text_of(text: Option<String>, message: &MessageView, kept: Duration) -> Text {
    let Some(text) = text else { return Text::Purged { days: kept.as_secs() / 86_400 } };
    if message.encoding == Encoding::Octets.as_str() {
        let octets: Vec<String> = text.chars().map(|octet| format!("{:02x}", u32::from(octet))).collect();
        return Text::Binary(octets.join(" "));
    }
    let ucs2 = message.encoding == Encoding::Ucs2.as_str();
    let Ok(parsed) = MessageText::parse(&text) else { return Text::Shown(Vec::new()) };
    // A carrier's alphabet may lack a character, so that a text of GSM-7 was sent in UCS-2.
    let encoding = if ucs2 { Encoding::Ucs2 } else { Encoding::choose(parsed.as_str()) };
    let segments = parsed.segments_in(encoding);
    let parts = segments.measure().parts;
    let capacity = if parts == 1 { encoding.units_alone() } else { encoding.units_joined() };
    let shown = PartNo::up_to(parts).filter_map(|part| segments.slice(part)).map(|slice| Segment {
        text: slice.to_owned(),
        used: format!("{} of {capacity} characters", encoding.units_of(slice)),
    });
    Text::Shown(shown.collect())
}

fn state_words(message: &MessageView) -> String {
    let after =
        message.took_ms.map(|ms| format!(" {} after it was accepted", duration(ms))).unwrap_or_default();
    match message.state.as_str() {
        "queued" => "Accepted and charged. It waits for a carrier.".to_owned(),
        "submitted" => "A carrier has accepted it. No delivery receipt has arrived yet.".to_owned(),
        "enroute" => "The carrier is trying to deliver it to the handset.".to_owned(),
        "delivered" => format!("Delivered to the handset{after}."),
        "expired" => format!("Not delivered within its validity period; it ended{after}."),
        "undeliverable" => format!("The network could not deliver it; it ended{after}."),
        "rejected" => format!("Rejected before it reached a carrier{after}. Its cost was refunded."),
        other => other.to_owned(),
    }
}

/// Says why a message failed and what to do, with a link to the list of errors.
fn remedy(message: &MessageView) -> Option<Notice> {
    let advice = match message.state.as_str() {
        "undeliverable" => "Check that the number is right and in service before you send again.",
        "expired" => "The handset may have been switched off. Send again later.",
        "rejected" => {
            "It was cancelled, or its sender, route or account was withdrawn while it waited. Check them, then send again."
        }
        _ => return None,
    };
    let reason = error_words(message)?;
    let tone = Chip::of_state(&message.state).tone;
    let notice = Notice::new(tone, format!("{reason}. {advice}"));
    Some(notice.with_link("All delivery errors", DELIVERY_ERRORS))
}

/// Returns the words of the published table for the status and the code of a message.
fn error_words(message: &MessageView) -> Option<String> {
    let code = message.code.as_deref()?;
    let status = DlrCode::ALL.into_iter().find(|known| known.as_str() == code)?;
    Some(ErrCode::new(message.err).description(ReportStatus::Final(status)).into_owned())
}

fn facts(shell: &Shell, message: &MessageView, history: &HistoryView) -> Vec<Fact> {
    let mut facts = vec![
        Fact::new("Country", country_name(&message.country)),
        Fact::new("Network", or_unknown(&message.network)),
        Fact::new("Direction", "MT, from you to the handset"),
        Fact::new("Encoding", message.encoding.to_uppercase()),
        Fact::new("Parts", message.parts.to_string()),
        Fact::new("Connection", message.connection.clone()),
    ];
    if let Some(code) = &message.code {
        facts.push(Fact::code("Receipt status", code.clone()));
    }
    if message.err != 0 {
        let words = error_words(message).unwrap_or_default();
        facts.push(Fact::new("Error code", format!("{} {words}", message.err)).linked(DELIVERY_ERRORS));
    }
    if let Some(request) = &history.request {
        let fact = Fact::code("Request id", request.clone());
        let log = format!("{}?request={}", shell.path("request-log"), encode_segment(request));
        facts.push(if shell.can_open(&NavEntry::RequestLog) { fact.linked(log) } else { fact });
    }
    facts
}

fn or_unknown(text: &str) -> String {
    if text.is_empty() { "Unknown".to_owned() } else { text.to_owned() }
}

fn cost(message: &MessageView, history: &HistoryView) -> MessageCost {
    let with_currency =
        |money: &dyn std::fmt::Display| format!("{} {}", amount(&money.to_string()), message.currency);
    let parts = i64::from(history.charged_parts.max(1));
    let price = Money::from_micros(message.cost.0.as_micros() / parts);
    MessageCost {
        parts: history.charged_parts,
        price: Some(amount(&price.to_string())),
        charged: with_currency(&message.cost),
        refunded: message.refund.as_ref().map(|refund| with_currency(refund)),
        balance_after: history.balance.as_ref().map(|balance| with_currency(balance)),
    }
}

fn step_of(step: &StepView, may_see_words: bool) -> TimelineStep {
    let (tone, title) = step_words(&step.step, step.state.as_deref());
    let mut details = Vec::new();
    let mut add = |name: &str, value: &Option<String>| {
        details.extend(value.as_ref().map(|value| Fact::code(name, value.clone())));
    };
    add("Carrier's id", &step.carrier_id);
    add("Status", &step.status);
    add("State", &step.state);
    add("Code", &step.code);
    add("Event", &step.event);
    if may_see_words {
        add("Receipt", &step.words);
    }
    let err = step.err.filter(|err| *err != 0);
    details.extend(err.map(|err| Fact::code("Error code", err.to_string()).linked(DELIVERY_ERRORS)));
    let is_bad = step.step == "ended" && err.is_some();
    TimelineStep {
        at_ms: step.at_ms,
        tone: if is_bad && tone == Tone::Neutral { Tone::Warning } else { tone },
        title: title.to_owned(),
        part: step.part,
        note: step.note.clone(),
        details,
    }
}

/// Events of one message whose attempts are read: a message has one for each status that is reported.
const EVENTS_MAX: usize = 5;
/// Characters of a response that are shown.
const RESPONSE_CHARS: usize = 1_000;

/// Returns the attempts of the events in a timeline. Those that the store has no longer are shown as the timeline has them.
pub(crate) async fn attempts_of(
    member: &Member,
    shell: &Shell,
    timeline: &[StepView],
    accepted_at: Time,
) -> Vec<WebhookAttemptRow> {
    let posts: Vec<&StepView> = timeline.iter().filter(|step| step.step == "webhook").collect();
    let mut events: Vec<&str> = posts.iter().filter_map(|step| step.event.as_deref()).collect();
    events.dedup();
    let mut attempts = Vec::new();
    for event in events.into_iter().take(EVENTS_MAX) {
        match show_webhook_event(member.gateway(), &member.account_name, event).await {
            Ok(found) if !found.attempts.is_empty() => {
                let kept = found.attempts.iter().enumerate();
                attempts.extend(kept.map(|(index, attempt)| of_store(member, shell, event, index, attempt)));
            }
            _ => {
                let own = posts.iter().filter(|step| step.event.as_deref() == Some(event));
                attempts.extend(own.map(|step| of_timeline(shell, step, accepted_at)));
            }
        }
    }
    attempts
}

/// Returns the link to the page of an event, if that page exists for the role.
fn link(shell: &Shell, event: &str) -> PageLink {
    let can_open = shell.can_open(&NavEntry::Webhooks);
    PageLink::new(event, if can_open { shell.path_to("webhooks/events", event) } else { String::new() })
}

fn of_store(
    member: &Member,
    shell: &Shell,
    event: &str,
    index: usize,
    attempt: &AttemptView,
) -> WebhookAttemptRow {
    let is_good = attempt.status.is_some_and(|status| (200..300).contains(&status));
    // Where a customer's own server is, and what it says, is for those who may see its setup.
    let may_see = member.may(Permission::ReadSetup);
    let failure = attempt.failure.clone().filter(|_| may_see).unwrap_or_else(|| "no response".to_owned());
    let result = attempt.status.map_or(failure, |status| status.to_string());
    let may_see = may_see && attempt.status.is_some();
    WebhookAttemptRow {
        at: time_of(&attempt.at),
        event: link(shell, event),
        number: u32::try_from(index + 1).unwrap_or(u32::MAX),
        result: Chip::new(if is_good { Tone::Good } else { Tone::Bad }, result),
        took: duration(attempt.took_ms),
        response: may_see.then(|| attempt.answer.chars().take(RESPONSE_CHARS).collect()),
    }
}

fn of_timeline(shell: &Shell, step: &StepView, accepted_at: Time) -> WebhookAttemptRow {
    let status = step.status.clone().unwrap_or_else(|| "no response".to_owned());
    let is_good = status.starts_with('2');
    WebhookAttemptRow {
        at: Time(accepted_at.0.saturating_add(i64::try_from(step.at_ms).unwrap_or(0))),
        event: link(shell, step.event.as_deref().unwrap_or_default()),
        number: step.attempt.unwrap_or(1),
        result: Chip::new(if is_good { Tone::Good } else { Tone::Bad }, status),
        took: step.took_ms.map(|ms| duration(u64::from(ms))).unwrap_or_default(),
        response: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receipt_has_the_tone_of_the_state_it_brought() {
        assert_eq!(step_words("receipt", Some("delivered")).0, Tone::Good);
        assert_eq!(step_words("receipt", Some("undeliverable")).0, Tone::Bad);
        assert_eq!(step_words("receipt", None).0, Tone::Neutral);
    }

    #[test]
    fn unknown_step_is_shown_as_written() {
        assert_eq!(step_words("new_step", None), (Tone::Neutral, "new_step"));
    }
}
