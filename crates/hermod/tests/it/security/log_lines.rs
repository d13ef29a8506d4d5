//! Control characters in external input: none reaches the log, and no input can forge a log line.

use crate::gateways::{Served, data_folder, provision_text};
use crate::real_time::PATIENCE;
use crate::scenario::http;
use hermod_simulator::carrier::{CarrierOptions, CarrierRecord, MoPart, Script, SimulatedCarrier};
use serde_json::json;
use std::net::SocketAddr;
use std::path::Path;

/// A line end, a forged log line, and an escape sequence that clears a terminal.
const HOSTILE: &str = "x\r\nFORGED line \u{1b}[2J\u{7f}\u{0}\u{9b}";
/// The same without a line end, for headers.
const HOSTILE_HEADER: &str = "x\u{1b}[2JFORGED\u{7}";

/// (method, path, headers, body)
type Call<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)], &'a str);

async fn http_callers(at: SocketAddr, token: &str) {
    let body =
        json!({"to": HOSTILE, "text": HOSTILE, "from": HOSTILE, "idempotency_key": HOSTILE}).to_string();
    let bearer = format!("Bearer {token}");
    let operator = [("Authorization", bearer.as_str()), ("Content-Type", "application/toml")];
    let entry = format!("[[account]]\nname = {}\ncurrency = \"EUR\"\n", json!(HOSTILE_HEADER));
    let calls: [Call<'_>; 7] = [
        ("POST", "/api/v1/sms", &[("X-API-Key", HOSTILE_HEADER), ("X-API-Secret", "x")], &body),
        ("POST", "/api/v1/sms", &[("Authorization", HOSTILE_HEADER), ("User-Agent", HOSTILE_HEADER)], &body),
        ("GET", "/api/v1/sms/%1b%0d%0aFORGED", &[("X-Request-Id", HOSTILE_HEADER)], ""),
        ("GET", "/api/v1/inbound?since=%1b%0d%0aFORGED", &[("X-Forwarded-For", HOSTILE_HEADER)], ""),
        ("GET", "/\u{1b}[2JFORGED", &[], ""),
        ("GET", "/operator/v1/accounts/%1b%0d%0aFORGED", &operator, ""),
        ("POST", "/operator/v1/apply", &operator, &entry),
    ];
    for (method, path, headers, body) in calls {
        let answer = http::call(at, method, path, headers, body).await.expect("an answer");
        assert!((400..500).contains(&answer.status), "{method} {path}: {}", answer.status);
    }
    let customer = [
        ("X-API-Key", crate::gateways::KEY),
        ("X-API-Secret", crate::gateways::SECRET),
        ("Content-Type", "application/json"),
    ];
    let sent = json!({"to": "+4915112345678", "text": HOSTILE, "idempotency_key": HOSTILE}).to_string();
    assert_eq!(http::call(at, "POST", "/api/v1/sms", &customer, &sent).await.expect("an answer").status, 202);
    assert_eq!(http::call(at, "POST", "/api/v1/sms", &customer, &body).await.expect("an answer").status, 200);
}

#[track_caller]
fn assert_clean(log: &Path) {
    let logged = String::from_utf8(std::fs::read(log).expect("a log")).expect("a log is UTF-8");
    assert!(logged.lines().count() > 20, "{logged}");
    for line in logged.lines() {
        assert!(!line.starts_with("FORGED"), "{line}");
        assert!(!line.contains(|c: char| c.is_control() && c != '\t'), "{line:?}");
    }
}

#[tokio::test]
async fn no_control_character_from_outside_reaches_the_log() {
    let carrier = SimulatedCarrier::start(CarrierOptions::new(Script::new())).await.expect("a free port");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let log = folder.path().join("log.txt");
    let provision = provision_text(carrier.addr(), "100");
    let gateway = Served::start_logging(folder.path(), "[log]\nlevel = \"trace\"\n", &provision, &log);
    let data = data_folder(folder.path());
    crate::real_time::wait_until("it has a token", || data.join("operator.token").exists());
    let token = std::fs::read_to_string(data.join("operator.token")).expect("it was just there");
    http_callers(gateway.address(), token.trim()).await;
    // An MO message with a hostile sender and text, to a number that no account owns.
    carrier.send_mo_parts([MoPart::raw("49151\u{1b}[2J\r\nFORGED", "4915788888888", 0, HOSTILE.as_bytes())]);
    let answered = |record: &CarrierRecord| record.mo().iter().any(|mo| mo.response.is_some());
    carrier.record().wait_until(answered, PATIENCE).await.expect("it was answered");
    gateway.stop().await;
    carrier.stop().await;
    assert_clean(&log);
}
