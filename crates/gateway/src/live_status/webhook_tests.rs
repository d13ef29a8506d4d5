//! Test events: one signed post to an account's webhook, requested in the portal and made by the webhook edge. A test event
//! is not charged, not stored and not retried.

use super::inbox::{Inbox, NoAnswer};
use hermod_domain::ids::AccountId;
use hermod_domain::webhook::{DlrForm, WebhookKind};
use hermod_store::AttemptOutcome;
use parking_lot::Mutex;
use std::collections::HashSet;
use std::time::Duration;
use tokio::sync::oneshot;

/// Tests of all accounts that may run at a time. Each may take as long as its receiver.
const RUNNING_MAX: usize = 16;

/// What a test event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestEvent {
    Dlr(DlrForm),
    Inbound,
}

impl TestEvent {
    /// Returns the webhook that it is posted to.
    pub const fn kind(self) -> WebhookKind {
        match self {
            TestEvent::Dlr(_) => WebhookKind::Dlr,
            TestEvent::Inbound => WebhookKind::Inbound,
        }
    }
}

/// The result of a test event. It has no `Debug`, because the response is the customer's.
pub struct TestReport {
    pub took: Duration,
    pub outcome: AttemptOutcome,
    /// The beginning of the response body.
    pub response: Vec<u8>,
    /// The body that was posted; empty if nothing was.
    pub body: String,
}

/// Why there is no report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoTest {
    #[error("another test event is being posted: try again when it has ended")]
    Busy,
    #[error("the gateway is stopping")]
    Stopping,
}

/// A requested test event.
pub struct TestRequest {
    pub account: AccountId,
    pub event: TestEvent,
    pub answer: oneshot::Sender<TestReport>,
}

/// The channel between the portal and the webhook edge.
pub struct WebhookTests {
    /// Accounts whose test runs: one at a time each.
    running: Mutex<HashSet<AccountId>>,
    pub requests: Inbox<TestRequest>,
}

impl Default for WebhookTests {
    fn default() -> WebhookTests {
        WebhookTests { running: Mutex::default(), requests: Inbox::of(RUNNING_MAX) }
    }
}

impl WebhookTests {
    /// Posts a test event and waits for its report. Fails if a test of this account is running, or too many of all.
    pub async fn run(&self, account: AccountId, event: TestEvent) -> Result<TestReport, NoTest> {
        let _turn = Turn::take(self, account).ok_or(NoTest::Busy)?;
        let report = self.requests.ask(|answer| TestRequest { account, event, answer }).await;
        report.map_err(|none| match none {
            NoAnswer::Busy => NoTest::Busy,
            NoAnswer::Stopping => NoTest::Stopping,
        })
    }
}

/// The turn of one account, given back on drop.
struct Turn<'a> {
    tests: &'a WebhookTests,
    account: AccountId,
}

impl<'a> Turn<'a> {
    fn take(tests: &'a WebhookTests, account: AccountId) -> Option<Turn<'a>> {
        let mut running = tests.running.lock();
        if running.len() >= RUNNING_MAX || !running.insert(account) {
            return None;
        }
        Some(Turn { tests, account })
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.tests.running.lock().remove(&self.account);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn account_has_one_test_at_a_time_and_gets_its_turn_back() {
        let tests = WebhookTests::default();
        let alice = AccountId::new(1);
        let turn = Turn::take(&tests, alice);
        assert!(turn.is_some() && Turn::take(&tests, alice).is_none());
        assert!(Turn::take(&tests, AccountId::new(2)).is_some());
        drop(turn);
        assert!(Turn::take(&tests, alice).is_some());
    }
}
