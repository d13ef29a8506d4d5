//! `hermod carrier test`: one message to try a carrier, with every PDU.

use super::desk::{Body, Desk};
use super::entries;
use super::fields::Fields;
use crate::ending::{Ended, Failure};
use crate::show;
use clap::Args;
use hermod_gateway::provision::Kind;
use hyper::Method;
use serde::Deserialize;
use std::time::Duration;

/// The longest wait for a receipt, and what comes before it.
const ANSWER_MAX: Duration = Duration::from_secs(15 * 60);

pub(super) const EXAMPLES: &str = "\
Examples:
  hermod carrier test acme --to +4915112345678
  hermod carrier test acme --to +4915112345678 --from Shop --text Hello --wait 5m

It binds on its own as the carrier's entry says, sends one part, waits for its receipt and shows
every PDU, with texts masked. The message really is sent; nobody is charged for it and it is stored
nowhere. It ends with 0 if the carrier took the message, and 1 if not.";

#[derive(Args)]
pub(super) struct Test {
    name: String,
    /// + and the number with its country code
    #[arg(long, value_name = "NUMBER")]
    to: String,
    /// The sender
    #[arg(long, value_name = "SENDER", default_value = "Hermod")]
    from: String,
    /// What to say, in one part
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
    /// How long to wait for the receipt
    #[arg(long, value_name = "TIME", default_value = "30s")]
    wait: String,
}

#[derive(Deserialize)]
struct Tested {
    step: String,
    accepted: bool,
    outcome: String,
    lines: Vec<Line>,
}

#[derive(Deserialize)]
struct Line {
    at_ms: u64,
    way: Option<String>,
    line: String,
}

impl Test {
    pub(super) async fn run(self, desk: &Desk) -> Ended {
        let Test { name, to, from, text, wait } = self;
        let fields = Fields::default()
            .with("to", Some(to))
            .with("from", Some(from))
            .with("text", text)
            .with("wait", Some(wait));
        let path = format!("{}/test", entries::path(Kind::Carrier, &name));
        let body = fields.into_value();
        let answer = desk.asked_within(Method::POST, &path, Body::Json(&body), ANSWER_MAX).await?;
        let tested: Tested = answer.read_as().map_err(Failure::failed)?;
        desk.tell(&answer, |tested: Tested| told(&tested))?;
        if tested.accepted { Ok(()) } else { Err(Failure::told()) }
    }
}

fn told(tested: &Tested) -> String {
    let Tested { step, accepted, outcome, lines } = tested;
    let mut text = String::new();
    for Line { at_ms, way, line } in lines {
        let arrow = match way.as_deref() {
            Some("out") => "->",
            Some(_) => "<-",
            None => "  ",
        };
        let (seconds, rest) = (at_ms / 1000, at_ms % 1000);
        text.push_str(&format!("{seconds:3}.{rest:03}  {arrow} {}\n", show::safe(line)));
    }
    let how = match (accepted, step.as_str()) {
        (true, "done") => "It works".to_owned(),
        (true, _) => "The carrier took the message".to_owned(),
        (false, step) => format!("It failed at the step \"{step}\""),
    };
    text.push_str(&format!("\n{how}: {}\n", show::safe(outcome)));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_told_line_by_line() {
        let tested = r#"{"carrier": "acme", "step": "bind", "accepted": false, "outcome": "the password is wrong", "lines": [
            {"at_ms": 3, "way": null, "line": "connected to 127.0.0.1:2775, plain"},
            {"at_ms": 1004, "way": "out", "line": "bind_transceiver seq=1"},
            {"at_ms": 61005, "way": "in", "line": "bind_transceiver_resp seq=1 status=0x0E"}]}"#;
        let expect = "  0.003     connected to 127.0.0.1:2775, plain\n  1.004  -> bind_transceiver seq=1\n \
                      61.005  <- bind_transceiver_resp seq=1 status=0x0E\n\n\
                      It failed at the step \"bind\": the password is wrong\n";
        assert_eq!(told(&serde_json::from_str(tested).unwrap()), expect);
    }
}
