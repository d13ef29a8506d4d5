//! Posts test events: the same request as for a real event, with the signatures and address rules of every post, of an
//! invented message. Nothing is stored, and a failure is not retried.

use super::Shared;
use super::client::{Pool, PostResult};
use super::post::signed_draft;
use super::target::{NoTarget, Target};
use crate::live_status::{TestEvent, TestReport, TestRequest};
use crate::workers::Workers;
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::lifecycle::MessageState;
use hermod_domain::numbers::Numbers;
use hermod_domain::phone::Msisdn;
use hermod_domain::receipt::{DlrCode, ErrCode, ReportStatus};
use hermod_domain::sender::Sender;
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::payload::{self, DlrPayload, InboundPayload};
use hermod_store::Endpoint;
use std::sync::Arc;
use std::time::Duration;

/// The invented message: numbers that Ofcom keeps free for films.
const RECIPIENT: &str = "+447700900123";
const SENDER: &str = "Test";
const TEXT: &str = "A test event of Hermod";
/// The message was accepted this long before its receipt.
const DELIVERED_AFTER: Duration = Duration::from_secs(2);

/// Posts the events requested at [`crate::gateway::Gateway::webhook_tests`] until the workers stop.
pub(super) fn serve(shared: &Arc<Shared>, workers: &Workers) {
    let Some(mut requests) = shared.gateway.webhook_tests.requests.receiver() else { return };
    let (shared, stopping, posts) = (shared.clone(), workers.stopping(), workers.clone());
    workers.spawn_named("webhook tests", async move {
        loop {
            let TestRequest { account, event, mut answer } = tokio::select! {
                request = requests.recv() => match request {
                    Some(request) => request,
                    None => return,
                },
                () = stopping.cancelled() => return,
            };
            let (shared, stopping) = (shared.clone(), stopping.clone());
            posts.spawn_named(format!("webhook test/{account}"), async move {
                tokio::select! {
                    report = run(&shared, account, event) => drop(answer.send(report)),
                    () = answer.closed() => {}
                    () = stopping.cancelled() => {}
                }
            });
        }
    });
}

async fn run(shared: &Shared, account: AccountId, event: TestEvent) -> TestReport {
    let endpoint = Endpoint { account, kind: event.kind() };
    let target = match Target::of(&shared.gateway, &shared.settings.rules, endpoint) {
        Ok(target) => target,
        Err(NoTarget::NoAddress) => return unsent("the account has no URL for it".to_owned()),
        Err(NoTarget::Unusable(sentence)) => return unsent(sentence),
    };
    let clock = &shared.gateway.clock;
    // Among the posts of failing endpoints, so that a test takes no place from an endpoint that responds.
    let _permit = shared.post_limiter.acquire(true).await;
    let (now, begun) = (clock.now(), clock.moment());
    let body = body_of(event, now);
    let name = format!("test_{}", now.as_millis());
    let draft = signed_draft(&target, &name, body.clone(), 1, now, clock.machine_time());
    let PostResult { outcome, kept } = shared.client.post(&target.url, &Pool::default(), &draft, true).await;
    let took = Duration::from_millis(clock.moment().0.saturating_sub(begun.0));
    TestReport { took, outcome, response: kept, body }
}

fn unsent(sentence: String) -> TestReport {
    let PostResult { outcome, kept } = PostResult::failed(sentence);
    TestReport { took: Duration::ZERO, outcome, response: kept, body: String::new() }
}

fn body_of(event: TestEvent, now: Timestamp) -> String {
    match event {
        TestEvent::Dlr(form) => {
            let to = Msisdn::parse(RECIPIENT).expect("a number");
            let report = DlrPayload {
                message: MessageId::first_at(now),
                from: &Sender::parse(SENDER).expect("a sender"),
                to,
                status: ReportStatus::Final(DlrCode::Delivrd),
                state: MessageState::Delivered,
                err: ErrCode::NONE,
                submitted_at: now.minus(DELIVERED_AFTER),
                at: now,
            };
            payload::dlr(&report, form, &Numbers::embedded().find(to))
        }
        TestEvent::Inbound => {
            payload::inbound(&InboundPayload { from: RECIPIENT, to: SENDER, text: TEXT, received_at: now })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermod_domain::webhook::DlrForm;
    use serde_json::Value;

    #[test]
    fn test_events_have_the_fields_of_real_ones() {
        let now = Timestamp::parse("2026-11-15T09:30:02Z").unwrap();
        let read = |event| serde_json::from_str::<Value>(&body_of(event, now)).unwrap();
        let full = read(TestEvent::Dlr(DlrForm::Full));
        assert_eq!((&full["status"], &full["to"]), (&"DELIVRD".into(), &RECIPIENT.into()));
        assert_eq!(full["submitted_at"], "2026-11-15T09:30:00Z");
        assert_eq!(read(TestEvent::Dlr(DlrForm::Short))["status"], "delivered");
        assert_eq!(read(TestEvent::Inbound)["text"], TEXT);
    }
}
