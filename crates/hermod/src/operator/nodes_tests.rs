//! Unit tests of `nodes.rs`.

use super::*;

#[test]
fn nodes_are_listed_with_their_states() {
    let seen = r#"{"at": "2026-11-17T12:00:00Z", "items": [
            {"name": "a", "state": "engine", "address": "10.0.0.1:2777", "version": "0.1.0", "this": false},
            {"name": "b", "state": "serving", "address": "10.0.0.2:2777", "version": "0.1.0", "this": true}]}"#;
    let text = nodes_text(&serde_json::from_str(seen).unwrap());
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[1], ["a", "engine", "10.0.0.1:2777", "0.1.0"]);
    assert_eq!(rows[2], ["b", "serving", "10.0.0.2:2777", "0.1.0", "this", "one"]);
    assert!(text.ends_with("\nAs of 2026-11-17T12:00:00Z.\n"), "{text}");
}
