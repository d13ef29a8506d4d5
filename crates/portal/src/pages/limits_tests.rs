//! Unit tests of `limits.rs`.

use super::*;
use serde_json::json;

#[test]
fn control_says_its_limit_and_whether_it_is_used_up() {
    let traffic: TrafficView = serde_json::from_value(json!({
        "day": "2026-11-17", "messages": 50, "spend": 2.5, "controls": [],
    }))
    .unwrap();
    let row = |fields: serde_json::Value| {
        let view: ControlView = serde_json::from_value(fields).unwrap();
        let ControlRow { limit, state, used, opens, .. } = control(&view, &traffic);
        format!("{limit} | {} | {used} | {opens}", state.label)
    };
    let daily = json!({ "name": "a", "mode": "enforce", "messages_per_day": 50, "would_have_refused": 0 });
    assert_eq!(row(daily), "50 messages in a day | Used up | 50 today | at 00:00 UTC");
    let per_number = json!({
        "name": "b", "mode": "watch", "per_recipient": { "most": 20, "per": "1h" }, "would_have_refused": 3,
    });
    assert!(row(per_number).contains("Watching | 3 over the limit"));
}
