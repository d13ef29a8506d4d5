//! Content and headers of delivery-report webhooks.

use super::*;
use hermod_domain::time::Timestamp;
use hermod_simulator::carrier::{Outcome, ReceiptFormat};
use hermod_smpp::CommandStatus;

#[tokio::test]
async fn enroute_and_final_status_are_posted_with_signature_and_headers() {
    let hooks = receiver(ReceiverBehaviour::Status(200));
    let s = scenario_with_webhook(&hooks, enroute_only()).await;
    let message = s.alice.send(TO, "hello").await.accepted();
    wait_for_posts(&hooks, 1).await;
    s.deliver_last_message();
    let caught = wait_for_posts(&hooks, 2).await;
    for (post, status) in caught.iter().zip(["ACCEPTD", "DELIVRD"]) {
        let posted = body(post);
        assert_eq!(
            (posted["message_id"].as_str(), posted["status"].as_str()),
            (Some(message.as_str()), Some(status))
        );
        assert_eq!(verified_signatures(post, SECRET), [SignatureHeader::Current, SignatureHeader::Standard]);
        assert_eq!((post.method.as_str(), post.path.as_str()), ("POST", "/dlr"));
        assert_eq!(header(post, "content-type"), "application/json");
        assert_eq!(header(post, "user-agent"), concat!("Hermod/", env!("CARGO_PKG_VERSION")));
        assert_eq!(header(post, "x-svc-attempt"), "1");
        assert_eq!(header(post, "x-svc-signature").len(), 64);
        let signed_at: i64 = header(post, "webhook-timestamp").parse().expect("seconds");
        assert!(signed_at >= 1_794_700_800, "the timestamp is the gateway's time: {signed_at}");
    }
    assert_ne!(header(&caught[0], "webhook-id"), header(&caught[1], "webhook-id"));
    assert_post_count(&hooks, 2).await;
    hooks.stop().await;
    s.end().await;
}

#[tokio::test]
async fn full_form_has_every_field_of_the_contract() {
    let hooks = receiver(ReceiverBehaviour::Status(200));
    let s = scenario_with_webhook(&hooks, Script::new()).await;
    let message = s.alice.send(TO, "hello").await.accepted();
    let posted = String::from_utf8(wait_for_posts(&hooks, 1).await[0].body.to_vec()).expect("UTF-8");
    let value: Value = serde_json::from_str(&posted).expect("JSON");
    for field in ["submitted_at", "delivered_at"] {
        let time = value[field].as_str().expect("a string");
        assert_eq!((time.len(), Timestamp::parse(time).is_some()), (20, true), "{time}");
    }
    let (submitted, delivered) = (&value["submitted_at"], &value["delivered_at"]);
    assert_eq!(
        posted,
        format!(
            "{{\"message_id\":\"{message}\",\"batch_id\":\"\",\"to\":\"{TO}\",\"from\":\"Hermod\",\"status\":\"DELIVRD\",\
             \"err_code\":0,\"err_desc\":\"No error\",\"submitted_at\":{submitted},\"delivered_at\":{delivered},\
             \"network\":\"T-Mobile\",\"mcc\":\"262\",\"mnc\":\"01\"}}"
        )
    );
    hooks.stop().await;
    s.end().await;
}

/// (script, status, description, state name, error code)
type End = (fn() -> Script, &'static str, &'static str, &'static str, u16);

/// Returns the only report of a message under this script, in both forms.
async fn report_in_both_forms(script: fn() -> Script) -> (Value, Value) {
    let (mut full, mut short) = (Value::Null, Value::Null);
    for (form, posted) in [("full", &mut full), ("short", &mut short)] {
        let hooks = receiver(ReceiverBehaviour::Status(200));
        let staged = setup_with_webhook(&hooks).connection("alice", &format!("dlr_form = \"{form}\"\n"));
        let s = Scenario::with_setup(script(), staged).await;
        s.alice.send(TO, "hello").await.accepted();
        *posted = body(&wait_for_posts(&hooks, 1).await[0]);
        hooks.stop().await;
        s.end().await;
    }
    (full, short)
}

#[tokio::test]
async fn every_final_status_has_its_fields_in_both_forms() {
    let ends: [End; 5] = [
        (Script::new, "DELIVRD", "No error", "delivered", 0),
        (
            || Script::new().receipt_after(Duration::ZERO, Outcome::Undeliverable).receipt_error(27),
            "UNDELIV",
            "Absent subscriber",
            "undeliverable",
            27,
        ),
        (
            || {
                let words = ReceiptFormat::text_only().err("ABSENT-SUBSCRIBER");
                Script::new().receipt_after(Duration::ZERO, Outcome::Undeliverable).receipt_format(words)
            },
            "UNDELIV",
            "Absent subscriber",
            "undeliverable",
            27,
        ),
        (
            || Script::new().receipt_after(Duration::ZERO, Outcome::Expired),
            "EXPIRED",
            "Validity period elapsed",
            "expired",
            0,
        ),
        (
            || Script::new().reject_first(1, CommandStatus::INVDSTADR),
            "UNDELIV",
            "Rejected by the carrier: invalid destination address",
            "undeliverable",
            10_011,
        ),
    ];
    for (script, status, description, state, code) in ends {
        let (full, short) = report_in_both_forms(script).await;
        assert_eq!((full["status"].as_str(), full["err_desc"].as_str()), (Some(status), Some(description)));
        assert_eq!(full["err_code"], code, "{full}");
        let expect = if code == 0 { Value::Null } else { code.into() };
        assert_eq!((short["status"].as_str(), &short["error_code"]), (Some(state), &expect), "{short}");
        let fields: Vec<&String> = short.as_object().expect("an object").keys().collect();
        assert_eq!(fields, ["delivered_at", "error_code", "id", "status", "to"]);
    }
}

#[tokio::test]
async fn queued_and_submitted_are_not_posted_and_unknown_is_posted_once() {
    let hooks = receiver(ReceiverBehaviour::Status(200));
    let staged = setup_with_webhook(&hooks).connection("alice", "dlr_form = \"short\"\n");
    let s = Scenario::with_setup(Script::new().no_receipts(), staged).await;
    let message = s.alice.send(TO, "silence").await.accepted();
    s.alice.status_of(&message).becomes("submitted").await;
    assert_post_count(&hooks, 0).await;
    s.advance(Duration::from_secs(96 * 3_600)).await;
    let posted = body(&wait_for_posts(&hooks, 1).await[0]);
    assert_eq!((posted["status"].as_str(), &posted["error_code"]), (Some("unknown"), &Value::Null));
    s.alice.status_of(&message).is("submitted").await;
    hooks.stop().await;
    s.end_with_open_parts(1).await;
}

#[tokio::test]
async fn expiry_in_the_queue_is_posted() {
    let hooks = receiver(ReceiverBehaviour::Status(200));
    let s = Scenario::without_carrier_with_setup(setup_with_webhook(&hooks)).await;
    let message = s.alice.send(TO, "too late").await.accepted();
    s.advance(Duration::from_secs(72 * 3_600)).await;
    s.advance_until(Duration::from_secs(61), || s.alice.status_of(&message).becomes("expired")).await;
    let posted = body(&wait_for_posts(&hooks, 1).await[0]);
    assert_eq!(
        (posted["message_id"].as_str(), posted["status"].as_str()),
        (Some(message.as_str()), Some("EXPIRED"))
    );
    hooks.stop().await;
    s.end().await;
}

#[tokio::test]
async fn message_of_several_parts_is_posted_once() {
    let hooks = receiver(ReceiverBehaviour::Status(200));
    let s = scenario_with_webhook(&hooks, Script::new()).await;
    let message = s.alice.send(TO, &"long ".repeat(100)).await.accepted();
    let posted = body(&wait_for_posts(&hooks, 1).await[0]);
    assert_eq!(
        (posted["message_id"].as_str(), posted["status"].as_str()),
        (Some(message.as_str()), Some("DELIVRD"))
    );
    s.assert_carrier_submits(4);
    assert_post_count(&hooks, 1).await;
    hooks.stop().await;
    s.end().await;
}
