//! Unit tests of `webhook.rs`.

use super::*;

#[test]
fn control_characters_in_a_response_are_escaped() {
    let json = r#"{"event": {"event": "evt_7", "kind": "dlr", "message_id": "1234", "status": "DELIVRD", "state": "failed",
            "why": null, "attempts": 1, "at": "2026-11-15T09:30:00Z", "due_at": null, "ended_at": null},
            "attempts": [{"at": "2026-11-15T09:30:00Z", "took_ms": 12, "status": 503, "failure": null, "answer": "no\u001b[31m"}]}"#;
    let text = attempts_text(&serde_json::from_str(json).unwrap());
    assert!(text.starts_with("evt_7 of message 1234 is failed.\n"), "{text}");
    assert!(text.contains("503") && !text.contains('\u{1b}'), "{text}");
}

#[test]
fn replay_says_what_is_posted_again() {
    for (replayed, retried, expect) in [
        (0, 0, "There is no event to post again.\n"),
        (1, 0, "Posting 1 event again.\n"),
        (0, 2, "Posting 2 events now that waited for a later attempt.\n"),
        (3, 1, "Posting 3 events again, and 1 event now that waited for a later attempt.\n"),
    ] {
        assert_eq!(replayed_text(&ReplayedView { replayed, retried }), expect);
    }
}
