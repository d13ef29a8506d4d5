//! Twenty ways in which gateways lose messages, money or their temper, as public issue trackers tell them. Each has a
//! switch in the simulated carrier and a story here, numbered alike.

mod ids_and_receipts;
mod links;
mod pace_and_answers;
mod texts;
mod throttling;

use crate::scenario::Scenario;
use std::time::Duration;

const RECONNECT: Duration = Duration::from_secs(61);
const TO: &str = "+4915112345678";

/// Sends one message and waits until its receipt has done its work.
async fn one_is_delivered(s: &Scenario, text: &str) -> String {
    let message = s.alice.sends(TO, text).await.accepted();
    s.stepping(Duration::from_secs(1), || s.alice.sees(&message).becomes("delivered")).await;
    message
}
