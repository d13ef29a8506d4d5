//! One webhook event with every attempt to post it.

use super::State;
use super::extract::{MemberForm, NoFields, Path};
use super::member::Member;
use super::reply::{Reply, page, sentence};
use super::shown::time;
use super::webhook_changes::status_words;
use super::webhooks::row;
use crate::elements::{Chip, Fact, Tone};
use crate::layout::NavEntry;
use crate::numbers::duration;
use crate::pages::webhooks::{EventAttempt, WebhookEventPage};
use crate::time::Time;
use hermod_domain::permission::Permission;
use hermod_operator::webhook::use_cases::{replay_webhook, show_webhook_event, webhook_event_body};
use hermod_operator::webhook::views::{AttemptView, EventAttemptsView};

/// `GET /accounts/{account}/webhooks/events/{event}`.
pub(super) async fn show(
    axum::extract::State(portal): State,
    member: Member,
    Path((_, event)): Path<(String, String)>,
) -> Reply {
    member.require(Permission::ReadSetup)?;
    // The body has whole numbers, and the texts of MO messages.
    member.require(Permission::ReadTexts)?;
    let found = show_webhook_event(&portal.gateway, &member.account_name, &event).await?;
    let EventAttemptsView { event, attempts } = found;
    let body = webhook_event_body(&portal.gateway, &member.account_name, &event.event).await?;
    let shell = member.shell(NavEntry::Webhooks);
    let next_attempt = event.due_at.as_deref().and_then(time).filter(|_| event.state == "waiting");
    let ended_at = event.ended_at.as_deref().and_then(time);
    let row = row(event, portal.gateway.clock.now());
    let message = Fact::code("Message", row.message.clone());
    let message = match row.is_inbound() {
        true => message,
        false => message.linked(shell.path_to("messages", &row.message)),
    };
    let mut facts = vec![message, Fact::new("Kind", row.kind.clone())];
    facts.extend(row.status.clone().map(|status| Fact::code("Status", status)));
    facts.push(Fact::new("Made", row.at.iso()));
    facts.extend(ended_at.map(|ended| Fact::new("Ended", ended.iso())));
    Ok(page(&WebhookEventPage {
        facts,
        attempts: attempts.into_iter().map(attempt).collect(),
        next_attempt,
        body,
        can_replay: member.may(Permission::ChangeSetup),
        row,
        shell,
    }))
}

fn attempt(view: AttemptView) -> EventAttempt {
    let AttemptView { at, took_ms, status, failure, answer } = view;
    let result = match status {
        Some(status @ 200..=299) => Chip::new(Tone::Good, status_words(status)),
        Some(status) => Chip::new(Tone::Bad, status_words(status)),
        None => Chip::new(Tone::Bad, "No response"),
    };
    EventAttempt {
        at: time(&at).unwrap_or(Time(0)),
        took: duration(took_ms),
        result,
        failure: failure.map(|failure| sentence(&failure)),
        answer: answer.into(),
    }
}

/// `POST /accounts/{account}/webhooks/events/{event}/replay`.
pub(super) async fn replay(
    axum::extract::State(portal): State,
    Path((_, event)): Path<(String, String)>,
    MemberForm { member, .. }: MemberForm<NoFields>,
) -> Reply {
    member.require(Permission::ChangeSetup)?;
    replay_webhook(&member.acting(&portal), &member.account_name, &event).await?;
    let shell = member.shell(NavEntry::Webhooks);
    let page = shell.path_to("webhooks/events", &event);
    Ok(super::reply::redirect(&format!("{page}?done=event-replayed")))
}
