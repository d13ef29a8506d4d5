//! Twenty failures of gateways that public issue trackers report. Each has a
//! switch in the simulated carrier and a test with its number here.

mod ids_and_receipts;
mod links;
mod rates_and_responses;
mod texts;
mod throttling;

use crate::scenario::Scenario;
use std::time::Duration;

const RECONNECT: Duration = Duration::from_secs(61);
const TO: &str = "+4915112345678";

/// Sends one message and waits until it is delivered.
async fn send_and_wait_for_delivery(s: &Scenario, text: &str) -> String {
    let message = s.alice.send(TO, text).await.accepted();
    s.advance_until(Duration::from_secs(1), || s.alice.status_of(&message).becomes("delivered")).await;
    message
}
