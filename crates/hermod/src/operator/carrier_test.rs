//! `hermod carrier test`: sends a test message to a carrier and prints every PDU.

use super::entries;
use super::operator_client::{OperatorClient, RequestBody};
use crate::failure::{CommandResult, Failure};
use crate::output;
use clap::Args;
use hermod_operator::carrier::probe::{CarrierTestLineView, CarrierTestRequest, CarrierTestView};
use hermod_operator::kind::Kind;
use hyper::Method;
use std::time::Duration;

/// The longest wait for a receipt, and the time to connect and submit.
const TEST_TIMEOUT: Duration = Duration::from_secs(15 * 60);

pub(super) const EXAMPLES: &str = "\
Examples:
  hermod carrier test acme --to +4915112345678
  hermod carrier test acme --to +4915112345678 --from Shop --text Hello --wait 5m

Binds on a connection of its own with the settings of the carrier, sends one part, waits for its
receipt and prints every PDU, with texts masked. The message is really sent; it is neither charged
nor stored.

Exit codes: 0 the carrier accepted the message; 1 it did not.";

#[derive(Args)]
pub(super) struct CarrierTestArgs {
    /// The carrier
    name: String,
    /// The recipient: a plus, then the number with its country code
    #[arg(long, value_name = "NUMBER")]
    to: String,
    /// The sender
    #[arg(long, value_name = "SENDER", default_value = "Hermod")]
    from: String,
    /// Text of at most one part
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
    /// How long to wait for the receipt
    #[arg(long, value_name = "TIME", default_value = "30s")]
    wait: String,
}

impl CarrierTestArgs {
    pub(super) async fn run(self, client: &OperatorClient) -> CommandResult {
        let CarrierTestArgs { name, to, from, text, wait } = self;
        let request = CarrierTestRequest { to, from: Some(from), text, wait: Some(wait) };
        let path = format!("{}/test", entries::path(Kind::Carrier, &name));
        let response =
            client.send_with_timeout(Method::POST, &path, RequestBody::json(&request), TEST_TIMEOUT).await?;
        let tested: CarrierTestView = response.read_as().map_err(Failure::failed)?;
        client.print(&response, |tested: CarrierTestView| test_text(&tested))?;
        if tested.accepted { Ok(()) } else { Err(Failure::printed()) }
    }
}

fn test_text(tested: &CarrierTestView) -> String {
    let CarrierTestView { carrier: _, step, accepted, outcome, lines } = tested;
    let mut text = String::new();
    for CarrierTestLineView { at_ms, way, line } in lines {
        let arrow = match way.as_deref() {
            Some("out") => "->",
            Some(_) => "<-",
            None => "  ",
        };
        let (seconds, rest) = (at_ms / 1000, at_ms % 1000);
        text.push_str(&format!("{seconds:3}.{rest:03}  {arrow} {}\n", output::safe(line)));
    }
    let how = match (accepted, step.as_str()) {
        (true, "done") => "The test passed".to_owned(),
        (true, _) => "The carrier accepted the message".to_owned(),
        (false, step) => format!("The test failed at the step \"{step}\""),
    };
    text.push_str(&format!("\n{how}: {}\n", output::safe(outcome)));
    text
}

#[cfg(test)]
#[path = "carrier_test_tests.rs"]
mod tests;
