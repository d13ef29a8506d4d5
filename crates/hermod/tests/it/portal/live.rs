//! The live feed over a real socket: frames arrive, are resumed, are masked, and end with the session.

use super::{Browser, Role, member};
use crate::real_time::{PATIENCE, now, pause};
use crate::scenario::Scenario;
use hermod_simulator::carrier::Script;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// An open event stream.
struct Events {
    stream: TcpStream,
    text: String,
}

impl Events {
    async fn open(browser: &Browser, last: Option<u64>) -> Events {
        let mut stream = TcpStream::connect(browser.address).await.expect("the gateway");
        let last = last.map(|id| format!("Last-Event-ID: {id}\r\n")).unwrap_or_default();
        let request = format!(
            "GET /accounts/alice/live/events HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nCookie: {}\r\n{last}\r\n",
            browser.address, browser.cookie
        );
        stream.write_all(request.as_bytes()).await.expect("a request");
        let mut events = Events { stream, text: String::new() };
        assert!(events.wait_for("retry: 2000").await, "{}", events.text);
        events
    }

    /// Reads until the stream has this text. Returns false if it ends before.
    async fn wait_for(&mut self, wanted: &str) -> bool {
        let started = now();
        let mut buffer = [0; 4096];
        while !self.text.contains(wanted) {
            assert!(started.elapsed() < PATIENCE, "{wanted} is not in {}", self.text);
            tokio::select! {
                read = self.stream.read(&mut buffer) => match read {
                    Ok(count @ 1..) => self.text.push_str(&String::from_utf8_lossy(&buffer[..count])),
                    _ => return false,
                },
                () = pause(Duration::from_millis(100)) => {}
            }
        }
        true
    }

    /// Lets the gateway's time pass until the stream ends.
    async fn ends_while_time_passes(&mut self, s: &Scenario) -> bool {
        let started = now();
        let mut buffer = [0; 4096];
        while started.elapsed() < PATIENCE {
            s.skip(Duration::from_secs(6));
            tokio::select! {
                read = self.stream.read(&mut buffer) => if matches!(read, Ok(0)) { return true },
                () = pause(Duration::from_millis(100)) => {}
            }
        }
        false
    }

    /// Returns the id of the last frame.
    fn last_id(&self) -> u64 {
        let id = self.text.rsplit("id: ").next().and_then(|rest| rest.lines().next());
        id.and_then(|id| id.trim().parse().ok()).expect("an id")
    }
}

#[tokio::test]
async fn frames_arrive_and_are_resumed_after_a_break() {
    let s = Scenario::with(Script::new()).await;
    let browser = member(&s, "ann@example.com", "alice", Role::Viewer).await;
    let page = browser.get("/accounts/alice/live").await;
    assert!(page.status == 200 && page.text.contains("/accounts/alice/live/events"), "{}", page.text);
    let mut events = Events::open(&browser, None).await;
    let own = s.alice.send("+4915112345678", "first").await.accepted();
    let other = s.bob.send("+4915112345679", "of bob").await.accepted();
    s.gateway().store.record().flush().await.expect("the record is written");
    assert!(events.wait_for(&own).await);
    assert!(
        events.text.contains("event: frame") && events.text.contains("+4915112345678"),
        "{}",
        events.text
    );
    // What the carrier is called concerns the operator.
    assert!(!events.text.contains("acme"), "{}", events.text);
    s.alice.status_of(&own).becomes("delivered").await;
    s.gateway().store.record().flush().await.expect("the record is written");
    assert!(events.wait_for("\"delivered\"").await);
    let last = events.last_id();
    drop(events);
    let missed = s.alice.send("+4915112345670", "second").await.accepted();
    s.gateway().store.record().flush().await.expect("the record is written");
    let mut resumed = Events::open(&browser, Some(last)).await;
    assert!(resumed.wait_for(&missed).await);
    assert!(!resumed.text.contains(&own) && !resumed.text.contains(&other), "{}", resumed.text);
    s.alice.status_of(&missed).becomes("delivered").await;
    s.bob.status_of(&other).becomes("delivered").await;
    drop(resumed);
    s.end().await;
}

#[tokio::test]
async fn feed_is_masked_for_billing_and_ends_with_the_session() {
    let s = Scenario::with(Script::new()).await;
    let mut browser = member(&s, "bill@example.com", "alice", Role::Billing).await;
    let mut events = Events::open(&browser, None).await;
    let id = s.alice.send("+4915112345678", "private").await.accepted();
    s.gateway().store.record().flush().await.expect("the record is written");
    assert!(events.wait_for(&id).await);
    assert!(
        events.text.contains("+491********78") && !events.text.contains("15112345678"),
        "{}",
        events.text
    );
    let csrf = browser.get("/accounts/alice").await.csrf();
    browser.post("/sign-out", &format!("csrf={csrf}")).await;
    s.alice.status_of(&id).becomes("delivered").await;
    assert!(events.ends_while_time_passes(&s).await, "{}", events.text);
    let page = browser.get("/accounts/alice/live/events").await;
    assert!(page.location().starts_with("/sign-in"), "{}", page.status);
    s.end().await;
}
