//! Sends notifications about alarms one after another, so that "over" never comes before "raised". A notification that cannot be sent is
//! tried again a few times and then given up; others wait in a bounded queue meanwhile.

use crate::app::AlarmNotification;
use crate::clock::Clock;
use crate::workers::Workers;
use metrics::counter;
use std::time::Duration;
use tokio::sync::mpsc;

/// Notifications that wait for one channel. Further ones are dropped, logged and counted.
pub const NOTIFICATIONS_WAITING_MAX: usize = 200;
/// The wait after each failed attempt. After the last one the notification is given up.
const RETRIES: [Duration; 3] = [Duration::from_secs(2), Duration::from_secs(10), Duration::from_secs(60)];

/// Delivers what comes over the queue until the workers stop.
pub fn serve_notifications<F>(
    clock: Clock,
    channel: &'static str,
    queue: mpsc::Receiver<AlarmNotification>,
    workers: &Workers,
    send: impl Fn(AlarmNotification, u32) -> F + Send + 'static,
) where
    F: Future<Output = Result<(), String>> + Send,
{
    let stopping = workers.stopping();
    workers.spawn_named(format!("alarm {channel}"), async move {
        tokio::select! {
            () = deliver(clock, channel, queue, send) => {}
            () = stopping.cancelled() => {}
        }
    });
}

/// Sends what comes over the queue until it is closed. `send` makes one attempt; its error is a sentence for the log.
async fn deliver<F>(
    clock: Clock,
    channel: &'static str,
    mut queue: mpsc::Receiver<AlarmNotification>,
    send: impl Fn(AlarmNotification, u32) -> F,
) where
    F: Future<Output = Result<(), String>>,
{
    while let Some(notification) = queue.recv().await {
        let alarm = notification.alarm.kind.as_str();
        for attempt in 0.. {
            let Err(error) = send(notification.clone(), attempt + 1).await else {
                count_notification(channel, "sent");
                break;
            };
            let wait = usize::try_from(attempt).ok().and_then(|attempt| RETRIES.get(attempt));
            let Some(wait) = wait else {
                count_notification(channel, "given-up");
                tracing::error!(alarm, channel, error, "A notification about an alarm was given up");
                break;
            };
            count_notification(channel, "failed");
            tracing::warn!(
                alarm,
                channel,
                error,
                "A notification about an alarm was not sent; it is tried again"
            );
            clock.sleep(*wait).await;
        }
    }
}

/// Counts a notification about an alarm.
pub fn count_notification(channel: &'static str, result: &'static str) {
    counter!("hermod_alarm_notifications_total", "channel" => channel, "result" => result).increment(1);
}

#[cfg(test)]
#[path = "notification_delivery_tests.rs"]
mod tests;
