//! The attempts to post the DLR of a message, with the responses as far as they were kept.

use super::member::Member;
use super::shown::time;
use crate::elements::{Chip, PageLink, Tone};
use crate::layout::{NavEntry, Shell};
use crate::numbers::duration;
use crate::pages::message::WebhookAttemptRow;
use crate::time::Time;
use hermod_domain::permission::Permission;
use hermod_gateway::gateway::Gateway;
use hermod_operator::message::views::StepView;
use hermod_operator::webhook::use_cases::show_webhook_event;
use hermod_operator::webhook::views::AttemptView;

/// Events of one message whose attempts are read: a message has one for each status that is reported.
const EVENTS_MAX: usize = 5;
/// Characters of a response that are shown.
const RESPONSE_CHARS: usize = 1_000;

/// Returns the attempts of the events in a timeline. Those that the store has no longer are shown as the timeline has them.
pub(super) async fn attempts_of(
    gateway: &Gateway,
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
        match show_webhook_event(gateway, &member.account_name, event).await {
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
        at: time(&attempt.at).unwrap_or(Time(0)),
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
