//! Commands about webhooks: successful and failed attempts, replays, and deletion of events.

use super::commands::{account, perhaps_later};
use super::webhook_model::Key;
use super::world::World;
use crate::memory::EventStanding;
use hermod_domain::webhook::WebhookKind;
use hermod_engine::commands::{
    AnyCommand, ForgetWebhooks, LimitWebhookWaits, ReplayFailedWebhooks, ReplayWebhook, RetryWaitingWebhooks,
};
use hermod_engine::ops::{
    AfterAttempt, AttemptOutcome, Endpoint, EventId, GiveUpReason, SettledAttempt, WebhookAttempt,
};
use hermod_engine::tables::EventKey;
use hermod_engine::webhooks::WebhookResults;
use std::time::Duration;

/// The waits after failed attempts. After the last one the event fails.
const WAITS: [Duration; 3] = [Duration::from_secs(50), Duration::from_secs(300), Duration::from_secs(1_800)];
/// The most concurrent attempts.
const POSTS_MAX: usize = 10;
/// Events that one command reads.
const REPLAYED_MAX: u64 = 8;
const FORGOTTEN_MAX: usize = 20;

/// An event that is being posted, as it was when it was taken.
pub(super) struct Post {
    key: Key,
    failures: u32,
}

/// Takes events that are due, and settles some of those that are being posted.
pub(super) fn settle(world: &mut World) -> Option<AnyCommand> {
    take_due(world);
    let mut settled = Vec::new();
    while !world.posts.is_empty() && !world.random.once_in(6) {
        let place = world.random.index(world.posts.len());
        let post = world.posts.swap_remove(place);
        settled.push(outcome_of(world, &post));
    }
    (!settled.is_empty()).then(|| WebhookResults { settled, now: world.now }.into())
}

fn take_due(world: &mut World) {
    let is_due = |standing: EventStanding| match standing {
        EventStanding::Waiting { due_at, .. } => due_at <= world.now,
        EventStanding::Ended { .. } => false,
    };
    let due = world.model.webhooks.events.iter().filter(|(_, event)| is_due(event.row.standing));
    let due = due.filter(|(key, _)| !world.posts.iter().any(|post| post.key == **key));
    let room = POSTS_MAX.saturating_sub(world.posts.len());
    let taken: Vec<Post> = due
        .take(room)
        .map(|(key, event)| Post { key: *key, failures: event.failures().unwrap_or(0) })
        .collect();
    world.posts.extend(taken);
}

fn outcome_of(world: &mut World, post: &Post) -> SettledAttempt {
    let (endpoint, event) = post.key;
    let settled = |attempt, next| SettledAttempt { endpoint, event, failures: post.failures, attempt, next };
    if !world.model.setup().has_webhook(endpoint.account, endpoint.kind) {
        return settled(None, AfterAttempt::GiveUp(GiveUpReason::NoAddress));
    }
    let is_taken = world.random.once_in(2);
    let outcome = if is_taken { AttemptOutcome::Status(200) } else { AttemptOutcome::Status(503) };
    let attempt = WebhookAttempt {
        at: world.now,
        took: Duration::from_millis(5),
        outcome,
        response: b"answer".to_vec(),
    };
    let wait = WAITS.get(usize::try_from(post.failures).expect("a few"));
    let next = match (is_taken, wait) {
        (true, _) => AfterAttempt::Delivered,
        (false, Some(wait)) => AfterAttempt::RetryAt(world.now.plus(*wait)),
        (false, None) => AfterAttempt::GiveUp(GiveUpReason::AttemptsUsedUp),
    };
    settled(Some(attempt), next)
}

/// Replays an event, or one that the account does not have.
pub(super) fn replay(world: &mut World) -> Option<AnyCommand> {
    let count = world.model.webhooks.events.len();
    if count == 0 {
        return None;
    }
    let place = world.random.index(count);
    let (endpoint, event) = *world.model.webhooks.events.keys().nth(place)?;
    let account = if world.random.once_in(10) { account(world) } else { endpoint.account };
    Some(ReplayWebhook { account, event, now: world.now }.into())
}

pub(super) fn replay_failed(world: &mut World) -> Option<AnyCommand> {
    let endpoint = Endpoint { account: account(world), kind: world.random.one_of(&WebhookKind::ALL) };
    let since = world.now.minus(Duration::from_secs(world.random.below(3 * 86_400)));
    let failed = world.model.webhooks.events.iter().filter(|(_, event)| event.has_failed());
    let after = failed.map(|((_, event), _)| *event).next().filter(|_| world.random.once_in(3));
    let limit = u32::try_from(world.random.below(REPLAYED_MAX) + 1).expect("a few");
    Some(ReplayFailedWebhooks { endpoint, since, after, limit, now: world.now }.into())
}

/// Retries events of an endpoint at once. Some of them have ended, or never were.
pub(super) fn retry_waiting(world: &mut World) -> Option<AnyCommand> {
    let endpoint = Endpoint { account: account(world), kind: world.random.one_of(&WebhookKind::ALL) };
    let known = world.model.webhooks.events.keys().filter(|(of, _)| *of == endpoint).map(|(_, event)| *event);
    let skipped = world.random.index(3);
    let events: Vec<EventId> = known.skip(skipped).step_by(skipped + 1).take(FORGOTTEN_MAX).collect();
    Some(RetryWaitingWebhooks { endpoint, events, now: world.now }.into())
}

/// Deletes events that ended some time ago. Some of them may be replayed meanwhile.
pub(super) fn forget(world: &mut World) -> Option<AnyCommand> {
    let before = world.now.minus(Duration::from_secs(world.random.below(86_400)));
    let ended = world.model.webhooks.events.iter();
    let ended = ended.filter(|(_, event)| event.ended_at().is_some_and(|at| at <= before));
    let skipped = world.random.index(3);
    let keys = ended.skip(skipped).step_by(skipped + 1).take(FORGOTTEN_MAX);
    let events: Vec<EventKey> =
        keys.map(|((endpoint, event), _)| EventKey { endpoint: *endpoint, event: *event }).collect();
    if events.is_empty() {
        return None;
    }
    perhaps_later(world, ForgetWebhooks { events, before, now: world.now }.into())
}

/// Limits waits to a shorter schedule.
pub(super) fn limit_waits(world: &mut World) -> Option<AnyCommand> {
    let wait = Duration::from_secs(world.random.below(100) + 1);
    let waits = vec![wait; usize::try_from(world.random.below(4)).expect("a few")];
    Some(LimitWebhookWaits { waits, now: world.now }.into())
}
