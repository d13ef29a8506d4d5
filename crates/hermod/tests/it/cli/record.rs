//! The commands over the record, against a gateway that runs: search, one message, live, statistics, requests, rebuild.

use super::process::{Caller, Process, command, json, path, run, start_demo};
use crate::real_time::wait_until;
use serde_json::Value;
use std::path::PathBuf;

/// A demo gateway that has delivered three messages and rejected one.
struct Recorded {
    _folder: tempfile::TempDir,
    _demo: Process,
    data: PathBuf,
    customer: Caller,
    /// The oldest first.
    messages: Vec<String>,
}

fn recorded() -> Recorded {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    let (demo, ready) = start_demo(&data);
    let customer = Caller::of(&ready);
    let messages: Vec<String> = ["one", "two", "=three"].map(|text| customer.send(text)).into();
    for message in &messages {
        customer.wait_for_status(message, "delivered");
    }
    let (status, _) = customer.call("POST", "/sms", r#"{"to":"+1","text":"too short a number"}"#);
    assert_eq!(status, 400);
    wait_until("the record is complete", || {
        command(&data, &["messages", "--state", "delivered", "--count"]).starts_with("3 ")
            && command(&data, &["requests", "--rejected"]).contains("INVALID_NUMBER")
    });
    Recorded { _folder: folder, _demo: demo, data, customer, messages }
}

fn ids(found: &Value) -> Vec<&str> {
    let items = found["items"].as_array().expect("a list");
    items.iter().map(|message| message["id"].as_str().expect("an id")).collect()
}

#[test]
fn messages_are_found_listed_by_page_and_exported() {
    let Recorded { data, messages, .. } = &recorded();
    let newest_first: Vec<&str> = messages.iter().rev().map(String::as_str).collect();
    let found = json(data, &["messages", "--to", "+49151*", "--account", "demo"]);
    assert_eq!(ids(&found), newest_first);
    assert_eq!(found["record"]["catching_up"], 0, "{found}");
    let page = json(data, &["messages", "--limit", "2"]);
    assert_eq!(ids(&page), newest_first[..2]);
    let next = page["next"].as_str().unwrap();
    assert_eq!(ids(&json(data, &["messages", "--limit", "2", "--cursor", next])), newest_first[2..]);
    assert!(ids(&json(data, &["messages", "--to", "+4917*"])).is_empty());
    assert_eq!(ids(&json(data, &["messages", "--account", "demo", "--text", "two"])), [messages[1].as_str()]);
    let csv = command(data, &["messages", "--csv"]);
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 4, "{csv}");
    assert!(lines[0].starts_with("id,accepted_at,account,"), "{csv}");
    assert!(lines[1].starts_with(&format!("{},", newest_first[0])), "{csv}");
    assert!(command(data, &["messages"]).contains("4915112345678"));
}

#[test]
fn one_message_is_shown_with_every_step() {
    let Recorded { data, messages, .. } = &recorded();
    let message = json(data, &["message", &messages[0]]);
    let timeline = message["timeline"].as_array().unwrap();
    let steps: Vec<&str> = timeline.iter().map(|step| step["step"].as_str().unwrap()).collect();
    for step in ["accepted", "sent", "carrier_accepted", "receipt", "ended"] {
        assert!(steps.contains(&step), "{step} in {message}");
    }
    let times: Vec<u64> = timeline.iter().map(|step| step["at_ms"].as_u64().unwrap()).collect();
    assert!(times.is_sorted() && times[0] == 0, "{message}");
    assert_eq!((&message["state"], &message["cost"]), (&"delivered".into(), &0.05.into()), "{message}");
    let text = command(data, &["message", &messages[0]]);
    assert!(text.contains("delivered, DELIVRD") && text.contains(" ms"), "{text}");
    let (code, _, error) = run(&["message", "1", "--data-dir", path(data)]);
    assert!(code != 0 && error.contains("message"), "{error}");
}

#[test]
fn live_messages_are_shown_with_their_latest_step() {
    let Recorded { data, customer, .. } = &recorded();
    let mut tail = Process::start(&["tail", "--account", "demo", "--data-dir", path(data)]);
    let mut sent = Vec::new();
    // It may begin to watch after the first of them.
    wait_until("a line", || {
        sent.push(customer.send("live"));
        let line = tail.first_line();
        sent.iter().any(|message| line.contains(message.as_str())) && line.contains("+4915112345678")
    });
}

#[test]
fn statistics_and_rejected_requests_are_counted() {
    let Recorded { data, .. } = &recorded();
    let stats = json(data, &["stats"]);
    let rows = stats["items"].as_array().unwrap();
    let sum = |name: &str| rows.iter().map(|row| row[name].as_u64().unwrap()).sum::<u64>();
    assert_eq!((sum("accepted"), sum("delivered"), sum("refused")), (3, 3, 1), "{stats}");
    let by_country = command(data, &["stats", "--by", "country"]);
    assert!(
        by_country.lines().any(|line| line.starts_with("DE ") && line.contains("100.0%")),
        "{by_country}"
    );
    assert!(command(data, &["stats", "--per", "minute", "--csv"]).lines().count() >= 2);
    let grouped = command(data, &["requests", "--grouped"]);
    assert!(grouped.contains("INVALID_NUMBER, once") && grouped.contains("Correct the number."), "{grouped}");
    let rejected = json(data, &["requests", "--rejected"]);
    let requests = rejected["items"].as_array().unwrap();
    assert_eq!(requests.len(), 1, "{rejected}");
    assert_eq!(requests[0]["code"], "INVALID_NUMBER", "{rejected}");
    assert!(!rejected.to_string().contains("too short a number"), "no body: {rejected}");
    assert_eq!(command(data, &["requests", "--rejected", "--csv"]).lines().count(), 2);
}

#[test]
fn rebuilt_record_has_every_message() {
    let Recorded { data, messages, .. } = &recorded();
    assert_eq!(command(data, &["record", "rebuild"]), "Rebuilt the record: 3 messages.\n");
    assert_eq!(json(data, &["record", "status"])["catching_up"], 0);
    let message = json(data, &["message", &messages[0]]);
    assert_eq!((&message["state"], &message["cost"]), (&"delivered".into(), &0.05.into()), "{message}");
    let timeline = message["timeline"].to_string();
    assert!(timeline.contains("\"gap\"") && timeline.contains("rebuilt"), "{timeline}");
    let stats = json(data, &["stats", "--by", "account"]);
    assert!(stats.to_string().contains("\"accepted\":3"), "{stats}");
}
