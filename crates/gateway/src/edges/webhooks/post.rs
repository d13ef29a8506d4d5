//! One attempt to post an event: makes the signed request, posts it, and decides the next step of the event.

use super::Shared;
use super::client::{Pool, PostDraft, PostResult};
use super::post_limiter::PostPermit;
use super::target::{NoTarget, Target};
use crate::app::webhook_body;
use bytes::Bytes;
use hermod_domain::retry::Schedule;
use hermod_domain::shown_number::ShownNumbers;
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::event_name;
use hermod_domain::webhook::post_concurrency::FAST_RESPONSE_MAX;
use hermod_domain::webhook::signature::{self, Signatures, Signers};
use hermod_store::{
    AfterAttempt, AttemptOutcome, GiveUpReason, SettledAttempt, WebhookAttempt, WebhookContent, WebhookEvent,
};
use hyper::header::{CONTENT_TYPE, HOST, HeaderName, HeaderValue, USER_AGENT};
use hyper::{HeaderMap, Uri};
use metrics::{counter, histogram};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

const AGENT: HeaderValue = HeaderValue::from_static(concat!("Hermod/", env!("CARGO_PKG_VERSION")));
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// The result of an attempt.
pub(super) struct Posted {
    pub(super) settled: SettledAttempt,
    pub(super) answered: bool,
    pub(super) took: Duration,
}

/// One attempt to post an event.
pub(super) struct PostAttempt {
    pub(super) shared: Arc<Shared>,
    pub(super) target: Arc<Target>,
    pub(super) pool: Arc<Pool>,
    pub(super) event: WebhookEvent,
    pub(super) permit: PostPermit,
    pub(super) doubtful: bool,
    /// The number of slow posts of this endpoint.
    pub(super) lingering: Arc<AtomicU32>,
}

impl PostAttempt {
    pub(super) async fn make(self) -> Posted {
        let PostAttempt { shared, target, pool, event, mut permit, doubtful, lingering } = self;
        let clock = &shared.gateway.clock;
        let (at, begun) = (clock.now(), clock.moment());
        record_lag(&event, at);
        // Receivers compare the timestamp with their own clock.
        let draft = draft_of(&shared.gateway.numbers, &target, &event, at, clock.machine_time());
        let post = shared.client.post(&target.url, &pool, &draft, doubtful);
        tokio::pin!(post);
        let answered = tokio::select! {
            answered = &mut post => answered,
            () = clock.sleep(FAST_RESPONSE_MAX) => {
                shared.post_limiter.move_slow(&mut permit);
                lingering.fetch_add(1, Ordering::Relaxed);
                let answered = post.await;
                lingering.fetch_sub(1, Ordering::Relaxed);
                answered
            }
        };
        let took = Duration::from_millis(clock.moment().0.saturating_sub(begun.0));
        histogram!("hermod_webhook_post_seconds").record(took.as_secs_f64());
        settled(&event, answered, at, took, &shared.settings.schedule, clock.now())
    }
}

/// Decides the next step of an event after an attempt.
fn settled(
    event: &WebhookEvent,
    answered: PostResult,
    at: Timestamp,
    took: Duration,
    schedule: &Schedule,
    now: Timestamp,
) -> Posted {
    let PostResult { outcome, kept } = answered;
    let good = outcome.is_success();
    counter!("hermod_webhook_posts_total", "outcome" => label(&outcome)).increment(1);
    let next = if good { AfterAttempt::Delivered } else { after_failure(event, schedule, now, random_u32()) };
    let attempt = WebhookAttempt { at, took, outcome, response: kept };
    let settled = SettledAttempt {
        endpoint: event.endpoint(),
        event: event.id,
        failures: event.failures,
        attempt: Some(attempt),
        next,
    };
    Posted { settled, answered: good, took }
}

/// Decides what follows a failed post: the next attempt of the retry schedule, or giving up after the last.
fn after_failure(event: &WebhookEvent, schedule: &Schedule, now: Timestamp, random: u32) -> AfterAttempt {
    match schedule.wait(event.failures.saturating_add(1), random) {
        Some(wait) => AfterAttempt::RetryAt(now.plus(wait)),
        None => AfterAttempt::GiveUp(GiveUpReason::AttemptsUsedUp),
    }
}

/// Decides the next step of an event without a target.
pub(super) fn not_posted(
    event: &WebhookEvent,
    why: &NoTarget,
    schedule: &Schedule,
    now: Timestamp,
) -> SettledAttempt {
    match why {
        NoTarget::NoAddress => SettledAttempt {
            endpoint: event.endpoint(),
            event: event.id,
            failures: event.failures,
            attempt: None,
            next: AfterAttempt::GiveUp(GiveUpReason::NoAddress),
        },
        NoTarget::Unusable(sentence) => {
            settled(event, PostResult::failed(sentence.clone()), now, Duration::ZERO, schedule, now).settled
        }
    }
}

fn label(outcome: &AttemptOutcome) -> &'static str {
    match outcome {
        AttemptOutcome::Status(200..=299) => "taken",
        AttemptOutcome::Status(_) => "refused",
        AttemptOutcome::Failed(_) => "failed",
    }
}

/// Records how long after its cause an event is posted for the first time.
fn record_lag(event: &WebhookEvent, at: Timestamp) {
    if event.attempts == 0 {
        let happened = match &event.content {
            WebhookContent::Dlr(report) => report.at,
            WebhookContent::Inbound(record) => record.received_at,
        };
        histogram!("hermod_webhook_lag_seconds").record(at.since(happened).as_secs_f64());
    }
}

fn draft_of(
    numbers: &ShownNumbers,
    target: &Target,
    event: &WebhookEvent,
    at: Timestamp,
    signed_at: Timestamp,
) -> PostDraft {
    let (name, body) = (event_name(numbers, event.id.0), webhook_body(&event.content));
    signed_draft(target, &name, body, event.attempts.saturating_add(1), at, signed_at)
}

/// Makes a request with the signatures of all secrets that are valid at `at`.
pub(super) fn signed_draft(
    target: &Target,
    name: &str,
    body: String,
    attempt: u32,
    at: Timestamp,
    signed_at: Timestamp,
) -> PostDraft {
    let signers = target.signers_at(at);
    let post = SignedPost { host: &target.host, target: &target.target, signers: &signers };
    post.draft(name, body, attempt, signed_at)
}

/// Where a signed request goes, and who signs it.
pub(super) struct SignedPost<'a> {
    pub(super) host: &'a HeaderValue,
    /// Path and query.
    pub(super) target: &'a Uri,
    pub(super) signers: &'a Signers,
}

impl SignedPost<'_> {
    /// Makes the request of one attempt.
    pub(super) fn draft(self, name: &str, body: String, attempt: u32, signed_at: Timestamp) -> PostDraft {
        let SignedPost { host, target, signers } = self;
        let seconds = signed_at.as_millis().div_euclid(1_000);
        let Signatures { current, next, previous, standard } = signers.sign(name, seconds, body.as_bytes());
        let mut headers = HeaderMap::with_capacity(12);
        headers.insert(HOST, host.clone());
        headers.insert(USER_AGENT, AGENT);
        headers.insert(CONTENT_TYPE, JSON);
        let written = [
            (signature::SIGNATURE, Some(current)),
            (signature::SIGNATURE_NEXT, next),
            (signature::SIGNATURE_PREVIOUS, previous),
            (signature::WEBHOOK_ID, Some(name.to_owned())),
            (signature::WEBHOOK_TIMESTAMP, Some(seconds.to_string())),
            (signature::WEBHOOK_SIGNATURE, Some(standard)),
            (signature::ATTEMPT, Some(attempt.to_string())),
        ];
        for (name, value) in written {
            if let Some(value) = value {
                let value = HeaderValue::try_from(value).expect("digits, letters and signs of ASCII");
                headers.insert(HeaderName::from_static(name), value);
            }
        }
        PostDraft { target: target.clone(), headers, body: Bytes::from(body) }
    }
}

fn random_u32() -> u32 {
    getrandom::u32().unwrap_or(u32::MAX / 2)
}

#[cfg(test)]
#[path = "post_tests.rs"]
mod tests;
