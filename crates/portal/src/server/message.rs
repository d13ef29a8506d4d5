//! Shows one message: its state in words, its text, its cost and every step.

use super::State;
use super::extract::Path;
use super::member::Member;
use super::message_attempts::attempts_of;
use super::reply::{NoPage, Reply, page};
use super::shown::{country_name, freshness, time};
use crate::elements::{Chip, Fact, Notice, Tone};
use crate::layout::{NavEntry, Shell, encode_segment};
use crate::numbers::{amount, duration};
use crate::pages::message::{MessageCost, MessageDetailPage, Segment, Text, TimelineStep, step_words};
use crate::time::Time;
use hermod_domain::ids::{MessageId, PartNo};
use hermod_domain::money::Money;
use hermod_domain::permission::Permission;
use hermod_domain::receipt::{DlrCode, ErrCode, ReportStatus};
use hermod_domain::text::{Encoding, MessageText};
use hermod_gateway::gateway::Gateway;
use hermod_operator::message::history;
use hermod_operator::message::views::{HistoryView, MessageDetailView, MessageView, StepView};
use std::time::Duration;

/// Where the page of the API lists the values of `err_code`.
const DELIVERY_ERRORS: &str = "/docs#group-Delivery-errors";
/// While a message is so young, its page is read again so often; both in milliseconds.
const REFRESH: [(u64, u32); 3] = [(120_000, 1_000), (3_600_000, 5_000), (u64::MAX, 30_000)];
/// Webhooks are posted after the end of a message; so long the page is read again.
const AFTER_END_MS: u64 = 10_000;

/// `GET /accounts/{account}/messages/{id}`.
pub(super) async fn show(
    axum::extract::State(portal): State,
    member: Member,
    Path((_, id)): Path<(String, String)>,
) -> Reply {
    member.require(Permission::ReadMessages)?;
    let gateway = &*portal.gateway;
    let MessageDetailView { message, history } =
        history::show_message_of(gateway, member.account, &id).await?;
    let stored = MessageId::parse(&message.id).ok_or(NoPage::NotFound)?;
    let text = match member.may(Permission::ReadTexts) {
        true => {
            let text = gateway.store.messages().text(member.account, stored).await.ok().flatten();
            text_of(text, &message, portal.texts_kept)
        }
        false => Text::HiddenForRole,
    };
    let accepted_at = time(&message.accepted_at).unwrap_or(Time(0));
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
        attempts: attempts_of(gateway, &member, &shell, &history.timeline, accepted_at).await,
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
