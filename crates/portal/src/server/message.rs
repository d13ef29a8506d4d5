//! Shows one message: its state in words, its text, its cost and every step.

use super::State;
use super::member::Member;
use super::reply::{NoPage, Reply, page};
use super::shown::{country_name, freshness, time};
use crate::elements::{Chip, Fact, Link, Tone};
use crate::layout::Entry;
use crate::numbers::{amount, duration};
use crate::pages::message::{Attempt, Cost, Message, Segment, Step, Text, step_words};
use crate::time::Time;
use axum::extract::Path;
use hermod_domain::ids::MessageId;
use hermod_domain::money::Money;
use hermod_domain::permission::Permission;
use hermod_gateway::app::operator;
use hermod_gateway::views::record::{HistoryView, MessageDetailView, MessageView, StepView};

/// `GET /accounts/{account}/messages/{id}`.
pub(super) async fn show(
    axum::extract::State(portal): State,
    member: Member,
    Path((_, id)): Path<(String, String)>,
) -> Reply {
    member.require(Permission::ReadMessages)?;
    let account = Some(member.account_name.as_str());
    let detail = operator::show_message(&portal.world, account, &id).await?;
    let MessageDetailView { message, history } = detail;
    let stored = MessageId::parse(&message.id).ok_or(NoPage::NotFound)?;
    let text = match member.may(Permission::ReadTexts) {
        true => text_of(portal.world.store.message_text(member.account, stored).await.ok().flatten()),
        false => Text::HiddenForRole,
    };
    let accepted_at = time(&message.accepted_at).unwrap_or(Time(0));
    let may_see = member.may(Permission::ReadTexts);
    let (attempts, steps): (Vec<&StepView>, Vec<&StepView>) =
        history.timeline.iter().partition(|step| step.step == "webhook");
    Ok(page(&Message {
        shell: member.shell(Entry::Messages),
        state: Chip::of_state(&message.state),
        state_words: state_words(&message),
        remedy: None,
        accepted_at,
        from: message.from.clone(),
        to: member.shown_number(message.to.clone()),
        facts: facts(&message, &history),
        text,
        cost: cost(&message, &history),
        timeline: steps.into_iter().map(|step| step_of(step, may_see)).collect(),
        attempts: attempts.into_iter().map(|step| attempt(step, accepted_at)).collect(),
        send_again: None,
        freshness: freshness(&portal.world.clock, history.record),
        id: message.id,
    }))
}

fn text_of(text: Option<String>) -> Text {
    text.map_or(Text::Purged { days: 30 }, |text| {
        let used = format!("{} characters", text.chars().count());
        Text::Shown(vec![Segment { text, used }])
    })
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

fn facts(message: &MessageView, history: &HistoryView) -> Vec<Fact> {
    let mut facts = vec![
        Fact::new("Country", country_name(&message.country)),
        Fact::new("Network", or_unknown(&message.network)),
        Fact::new("Encoding", message.encoding.to_uppercase()),
        Fact::new("Parts", message.parts.to_string()),
        Fact::new("Connection", message.connection.clone()),
    ];
    if let Some(code) = &message.code {
        facts.push(Fact::code("Receipt status", code.clone()));
    }
    if message.err != 0 {
        facts.push(Fact::code("Error code", format!("{:03}", message.err)));
    }
    if let Some(request) = &history.request {
        facts.push(Fact::code("Request id", request.clone()));
    }
    facts
}

fn or_unknown(text: &str) -> String {
    if text.is_empty() { "Unknown".to_owned() } else { text.to_owned() }
}

fn cost(message: &MessageView, history: &HistoryView) -> Cost {
    let with_currency =
        |money: &dyn std::fmt::Display| format!("{} {}", amount(&money.to_string()), message.currency);
    let parts = i64::from(history.charged_parts.max(1));
    let price = Money::from_micros(message.cost.0.as_micros() / parts);
    Cost {
        parts: history.charged_parts,
        price: Some(price.to_string()),
        charged: with_currency(&message.cost),
        refunded: message.refund.as_ref().map(|refund| with_currency(refund)),
        balance_after: history.balance.as_ref().map(|balance| with_currency(balance)),
    }
}

fn step_of(step: &StepView, may_see_words: bool) -> Step {
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
    details.extend(step.err.filter(|err| *err != 0).map(|err| Fact::code("Error code", format!("{err:03}"))));
    Step {
        at_ms: step.at_ms,
        tone,
        title: title.to_owned(),
        part: step.part,
        note: step.note.clone(),
        details,
    }
}

fn attempt(step: &StepView, accepted_at: Time) -> Attempt {
    let status = step.status.clone().unwrap_or_else(|| "no response".to_owned());
    let is_good = status.starts_with('2');
    let event = step.event.clone().unwrap_or_default();
    Attempt {
        at: Time(accepted_at.0.saturating_add(i64::try_from(step.at_ms).unwrap_or(0))),
        event: Link::new(event, ""),
        number: step.attempt.unwrap_or(1),
        result: Chip::new(if is_good { Tone::Good } else { Tone::Bad }, status),
        took: step.took_ms.map(|ms| duration(u64::from(ms))).unwrap_or_default(),
    }
}
