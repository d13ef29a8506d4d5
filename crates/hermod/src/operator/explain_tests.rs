//! Unit tests of `explain.rs`.

use super::*;
use serde_json::json;

/// Returns the last line of the explanation of a route that chose the carrier b. `healths`: of its carriers a, b and so on.
fn last_line(fail_over_refusals: bool, healths: &[Option<&str>]) -> String {
    let carriers = ["a", "b", "c", "d"].into_iter().zip(healths).map(|(carrier, health)| {
        let decision = if carrier == "b" { "chosen" } else { "in-reserve" };
        json!({"carrier": carrier, "priority": 1, "weight": 1, "health": health, "decision": decision, "why": ""})
    });
    let view = json!({
        "sentence": "A message goes to carrier b.", "route": "49", "area": "49", "carrier": "b", "in_doubt": "never-resend",
        "fail_over_refusals": fail_over_refusals, "routes": [], "carriers": carriers.collect::<Vec<_>>(),
    });
    let text = explanation_text(&serde_json::from_value(view).unwrap());
    text.lines().last().unwrap_or_default().to_owned()
}

#[test]
fn reject_is_offered_to_the_next_carrier_that_can_send_or_is_final() {
    let (up, down) = (Some("up"), Some("down"));
    let offered = |to: &str| {
        format!(
            "a message that the carrier rejects is offered to {to}, unless its text or its number is rejected"
        )
    };
    let no_later = "a carrier's reject is final: no carrier after it can send".to_owned();
    for (fails_over, healths, expect) in [
        (false, &[up, up, up][..], "a carrier's reject is final".to_owned()),
        (true, &[up, up, up], offered("c")),
        (true, &[up, up, down, Some("poor")], offered("d")),
        (true, &[None, None, None], offered("c")),
        (true, &[up, up], no_later.clone()),
        (true, &[up, up, down], no_later),
    ] {
        let expect = format!("A part without a response is never resent; {expect}.");
        assert_eq!(last_line(fails_over, healths), expect, "{healths:?}");
    }
}
