//! Unit tests of `notification_delivery.rs`.

use super::*;
use crate::live_status::{Alarm, AlarmKind};
use hermod_domain::time::Timestamp;
use std::sync::{Arc, Mutex};

fn notification(number: u64) -> AlarmNotification {
    let at = Timestamp::from_millis(1);
    let alarm = Alarm {
        kind: AlarmKind::DiskLow,
        carrier: String::new(),
        about: String::new(),
        detail: String::new(),
        first_at: at,
        last_at: at,
        count: number,
    };
    AlarmNotification { id: number.to_string(), alarm, is_over: false, at, node: None }
}

/// Sends two notifications, of which the first fails this often, and returns every attempt with its time.
async fn attempts(failures: u32) -> Vec<String> {
    let clock = Clock::manual(Timestamp::from_millis(1_794_700_800_000));
    let (queue, received) = mpsc::channel(NOTIFICATIONS_WAITING_MAX);
    for number in [1, 2] {
        queue.send(notification(number)).await.unwrap();
    }
    drop(queue);
    let made = Arc::new(Mutex::new(Vec::new()));
    let (seen, time) = (made.clone(), clock.clone());
    let delivered = deliver(clock.clone(), "test", received, move |notification, attempt| {
        seen.lock().unwrap().push(format!("{} #{attempt} at {} s", notification.id, time.moment().0 / 1_000));
        let fails = notification.id == "1" && attempt <= failures;
        async move { if fails { Err("no".to_owned()) } else { Ok(()) } }
    });
    tokio::pin!(delivered);
    loop {
        tokio::select! {
            biased;
            () = &mut delivered => break,
            () = tokio::task::yield_now() => clock.advance(Duration::from_secs(1)),
        }
    }
    made.lock().unwrap().clone()
}

#[tokio::test]
async fn failed_notification_is_tried_again_before_the_next_is_sent() {
    assert_eq!(attempts(0).await, ["1 #1 at 0 s", "2 #1 at 0 s"]);
    let actual = attempts(2).await;
    let names: Vec<&str> = actual.iter().filter_map(|line| line.split(" at").next()).collect();
    assert_eq!(names, ["1 #1", "1 #2", "1 #3", "2 #1"], "{actual:?}");
}

#[tokio::test]
async fn notification_is_given_up_after_the_last_attempt() {
    let actual = attempts(u32::MAX).await;
    let names: Vec<&str> = actual.iter().filter_map(|line| line.split(" at").next()).collect();
    assert_eq!(names, ["1 #1", "1 #2", "1 #3", "1 #4", "2 #1"], "{actual:?}");
}
