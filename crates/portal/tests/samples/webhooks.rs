//! Samples of webhooks and of the request log.

use super::{HOSTILE, HOUR, MINUTE, ago, fresh, html, shell};
use hermod_portal::elements::{Chip, Fact, Tone};
use hermod_portal::forms::{Field, Select};
use hermod_portal::layout::NavEntry;
use hermod_portal::pages::request_log::{LoggedRequestRow, RejectedGroup, RequestLogPage};
use hermod_portal::pages::webhooks::{
    ConnectionForm, EndpointCard, EventAttempt, EventRow, SigningSecretCard, TestResult, WebhookEventPage,
    WebhooksPage,
};

pub(crate) fn all() -> Vec<(&'static str, String)> {
    let webhooks = webhooks();
    let log = log();
    let empty = WebhooksPage {
        dlr_webhook: Field::invalid("http://shop.example/dlr", "Use https: webhooks carry phone numbers."),
        inbound_webhook: Field::default(),
        endpoints: Vec::new(),
        secret: None,
        test: None,
        events: Vec::new(),
        next: None,
        ..webhooks.clone()
    };
    vec![
        ("webhooks", html(&webhooks)),
        ("webhooks-empty", html(&empty)),
        ("webhooks-viewer", html(&WebhooksPage { can_change: false, test: None, ..webhooks.clone() })),
        ("webhook-event", html(&event())),
        ("request-log", html(&log)),
        (
            "request-log-empty",
            html(&RequestLogPage { groups: Vec::new(), rows: Vec::new(), next: None, ..log }),
        ),
    ]
}

fn row(
    event: &str,
    kind: &str,
    status: Option<&str>,
    state: &str,
    why: Option<&str>,
    attempts: u32,
) -> EventRow {
    EventRow {
        event: event.to_owned(),
        kind: kind.to_owned(),
        message: "15526526976000001".to_owned(),
        status: status.map(str::to_owned),
        state: Chip::of_event(state),
        why: why.map(str::to_owned),
        attempts,
        at: ago(i64::from(attempts) * 7 * MINUTE),
    }
}

fn webhooks() -> WebhooksPage {
    let endpoint = |name: &str, state, waiting: &str, oldest: Option<i64>, failed: &str| EndpointCard {
        name: name.to_owned(),
        state,
        waiting: waiting.to_owned(),
        oldest: oldest.map(ago),
        failed: failed.to_owned(),
    };
    let form = |connection: &str, chosen: &str| ConnectionForm {
        connection: connection.to_owned(),
        form: Select::new(
            [("full", "Full: status, error code, network"), ("short", "Short: id, status, time")],
            chosen,
        ),
    };
    WebhooksPage {
        shell: shell(NavEntry::Webhooks),
        dlr_webhook: Field::new("https://lindgren.example/hooks/dlr"),
        inbound_webhook: Field::new("https://lindgren.example/hooks/mo"),
        forms: vec![form("shop-http", "full"), form("warehouse-smpp", "short")],
        endpoints: vec![
            endpoint("DLRs", Chip::new(Tone::Bad, "Failing"), "148", Some(2 * HOUR + 29 * MINUTE), "12"),
            endpoint("MO messages", Chip::new(Tone::Good, "Delivering"), "0", None, "0"),
        ],
        secret: Some(SigningSecretCard {
            revealed: None,
            is_staged: true,
            staged: Some("a2r7hq9mz4k8w3x5n6tvbycjdfgpsu2ea2r7hq9m".to_owned()),
            previous_until: None,
        }),
        test_event: Select::new([("dlr-full", "DLR, full form"), ("inbound", "MO message")], "dlr-full"),
        test: Some(TestResult {
            state: Chip::new(Tone::Bad, "503"),
            text: "https://lindgren.example/hooks/dlr answered 503 Service Unavailable in 84 ms.".to_owned(),
            answer: "<html><body><h1>503 Service Temporarily Unavailable</h1></body></html>".to_owned(),
            body: "{\"id\":\"15526526976000001\",\"status\":\"delivered\"}".to_owned(),
        }),
        events: vec![
            row("evt_88124", "DLR", Some("DELIVRD"), "waiting", Some("Next attempt in 14 min"), 3),
            row("evt_88123", "DLR", Some("UNDELIV"), "waiting", Some("Next attempt in 2 min"), 1),
            row("evt_88121", "MO", None, "delivered", None, 1),
            row("evt_87002", "DLR", Some("DELIVRD"), "failed", Some("every attempt failed"), 6),
        ],
        state: Select::new(
            [("", "Any"), ("waiting", "Waiting"), ("delivered", "Delivered"), ("failed", "Given up")],
            "",
        ),
        next: Some("?before=87002".to_owned()),
        replay_since: Field::new("2026-11-16T09:41:00Z"),
        can_change: true,
    }
}

fn event() -> WebhookEventPage {
    let attempt = |hours: i64, took: &str, result: Chip, failure: Option<&str>, answer: &str| EventAttempt {
        at: ago(hours * HOUR),
        took: took.to_owned(),
        result,
        failure: failure.map(str::to_owned),
        answer: answer.to_owned(),
    };
    WebhookEventPage {
        shell: shell(NavEntry::Webhooks),
        row: row("evt_87002", "DLR", Some("DELIVRD"), "failed", Some("Every attempt failed."), 6),
        facts: vec![
            Fact::code("Message", "15526526976000001")
                .linked("/accounts/lindgren/messages/15526526976000001"),
            Fact::new("Kind", "DLR"),
            Fact::code("Status", "DELIVRD"),
            Fact::code("URL", "https://lindgren.example/hooks/dlr"),
        ],
        attempts: vec![
            attempt(
                25,
                "10.0 s",
                Chip::new(Tone::Bad, "No response"),
                Some("No response within 10 seconds."),
                "",
            ),
            attempt(24, "84 ms", Chip::new(Tone::Bad, "503 Service Unavailable"), None, HOSTILE),
            attempt(
                19,
                "12 ms",
                Chip::new(Tone::Bad, "TLS failed"),
                Some("The certificate of lindgren.example expired on 15 Nov 2026."),
                "",
            ),
        ],
        next_attempt: None,
        body: Some(
            r#"{"message_id":"15526526976000001","status":"DELIVRD","to":"+46701234567","err":"000"}"#
                .to_owned(),
        ),
        can_replay: true,
    }
}

fn log() -> RequestLogPage {
    let group = |code: &str, count: &str, what: &str, label: &str| RejectedGroup {
        code: code.to_owned(),
        count: count.to_owned(),
        what_to_do: what.to_owned(),
        remedy: "/docs#errors".to_owned(),
        remedy_label: label.to_owned(),
        last: Some(ago(9 * MINUTE)),
        href: format!("?code={code}"),
    };
    RequestLogPage {
        shell: shell(NavEntry::RequestLog),
        groups: vec![
            group(
                "RATE_LIMITED",
                "1,204",
                "Wait as long as Retry-After says, then back off exponentially.",
                "Request a higher rate",
            ),
            group(
                "SENDER_NOT_APPROVED",
                "38",
                "Register the sender, or use one that is approved.",
                "Senders",
            ),
            group("INVALID_NUMBER", "12", "Correct the number.", "What the error means"),
        ],
        period: "in the last 24 hours".to_owned(),
        code: Select::new([("", "Any"), ("RATE_LIMITED", "RATE_LIMITED")], ""),
        kind: Select::new(
            [("", "Any"), ("http", "HTTP"), ("submit", "SMPP submit"), ("bind", "SMPP bind")],
            "",
        ),
        rejected: Select::new([("", "Any"), ("true", "Rejected")], ""),
        since: Field::default(),
        until: Field::default(),
        request: Field::default(),
        is_filtered: false,
        rows: requests(),
        next: Some("?cursor=88".to_owned()),
        freshness: fresh(),
    }
}

fn requests() -> Vec<LoggedRequestRow> {
    let row = |minutes: i64,
               operation: &str,
               status: Chip,
               code: Option<&str>,
               reason: &str,
               message: Option<&str>,
               replay: &str| LoggedRequestRow {
        at: ago(minutes * MINUTE),
        operation: operation.to_owned(),
        who: if operation.starts_with('/') || operation.contains(' ') { "lk_live_7Q2M" } else { "lindgren1" }
            .to_owned(),
        address: Some("203.0.113.9".to_owned()),
        status,
        code: code.map(str::to_owned),
        reason: reason.to_owned(),
        took: "3 ms".to_owned(),
        request: operation.contains(' ').then(|| format!("req_01JD2K7Q8X{minutes}")),
        replay: replay.to_owned(),
        message: message.map(str::to_owned),
    };
    let good = |text: &str| Chip::new(Tone::Good, text);
    let bad = |text: &str| Chip::new(Tone::Bad, text);
    vec![
        row(1, "POST /api/v1/sms", good("202"), None, "", Some("15526526976000001"), "no"),
        row(2, "POST /api/v1/sms", good("200"), None, "", Some("15526526976000001"), "same"),
        row(
            9,
            "POST /api/v1/sms",
            bad("429"),
            Some("RATE_LIMITED"),
            "more than 10 requests per second on this connection",
            None,
            "no",
        ),
        row(12, "submit_sm", bad("0x0A"), Some("SENDER_NOT_APPROVED"), HOSTILE, None, "no"),
        row(
            14,
            "bind_transceiver",
            bad("0x0E"),
            Some("INVALID_API_KEY"),
            "wrong system_id or password",
            None,
            "no",
        ),
        row(15, "GET /api/v1/balance", good("200"), None, "", None, "no"),
    ]
}
