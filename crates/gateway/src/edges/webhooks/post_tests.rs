//! Unit tests of `post.rs`.

use super::*;
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::webhook::WebhookKind;
use hermod_store::{EventId, InboundRecord};

fn event(failures: u32) -> WebhookEvent {
    let record = InboundRecord {
        id: 1,
        message: MessageId::first_at(Timestamp::from_millis(1_763_200_000_000)),
        from: "+4915112345678".to_owned(),
        to: "12345".to_owned(),
        text: "yes".to_owned(),
        received_at: Timestamp::from_millis(1_763_200_000_000),
    };
    WebhookEvent {
        id: EventId(7),
        account: AccountId::new(1),
        content: WebhookContent::Inbound(record),
        failures,
        attempts: failures,
        due_at: Timestamp::EPOCH,
    }
}

#[test]
fn failed_post_is_retried_by_the_schedule_and_then_given_up() {
    let seconds = [50, 300, 1_800, 10_800, 64_800].map(Duration::from_secs);
    let schedule = Schedule::after_failed_post(&seconds);
    let now = Timestamp::from_millis(1_763_200_000_000);
    for (failures, wait) in (0..).zip(seconds) {
        let next = after_failure(&event(failures), &schedule, now, 1 << 31);
        assert_eq!(next, AfterAttempt::RetryAt(now.plus(wait)), "after {failures} failures");
    }
    let next = after_failure(&event(5), &schedule, now, 1 << 31);
    assert_eq!(next, AfterAttempt::GiveUp(GiveUpReason::AttemptsUsedUp));
}

#[test]
fn only_a_2xx_status_settles_the_event() {
    let schedule = Schedule::after_failed_post(&[Duration::from_secs(50)]);
    let now = Timestamp::from_millis(1_763_200_000_000);
    for (status, good) in [
        (199, false),
        (200, true),
        (204, true),
        (299, true),
        (300, false),
        (301, false),
        (404, false),
        (500, false),
    ] {
        let answered = PostResult { outcome: AttemptOutcome::Status(status), kept: b"ok".to_vec() };
        let posted = settled(&event(0), answered, now, Duration::ZERO, &schedule, now);
        assert_eq!(posted.answered, good, "{status}");
        assert_eq!(posted.settled.next == AfterAttempt::Delivered, good, "{status}");
    }
}

#[test]
fn event_without_a_url_is_given_up_without_an_attempt() {
    let schedule = Schedule::after_failed_post(&[Duration::from_secs(50)]);
    let now = Timestamp::from_millis(1_763_200_000_000);
    let settled = not_posted(&event(0), &NoTarget::NoAddress, &schedule, now);
    assert_eq!((settled.attempt, settled.next), (None, AfterAttempt::GiveUp(GiveUpReason::NoAddress)));
    let unusable = NoTarget::Unusable("no".to_owned());
    let settled = not_posted(&event(0), &unusable, &schedule, now);
    assert!(matches!(settled.next, AfterAttempt::RetryAt(_)));
    assert_eq!(settled.attempt.map(|attempt| attempt.outcome), Some(AttemptOutcome::Failed("no".to_owned())));
}

#[test]
fn endpoint_kind_follows_from_the_event() {
    assert_eq!(event(0).endpoint().kind, WebhookKind::Inbound);
}
