//! Recognizable secrets, texts and numbers go through every operation of a gateway, valid and invalid. Then its log
//! at the finest level, every error response, its metrics and a stolen copy of its database are searched for them.

use crate::gateways::{Served, data_folder};
use crate::real_time::PATIENCE;
use crate::scenario::{Esme, HttpAnswer, http};
use hermod_simulator::carrier::{CarrierOptions, MoText, Script, SimulatedCarrier};
use hermod_simulator::webhooks::{ReceiverBehaviour, WebhookReceiver};
use hermod_smpp::{
    Address, BindType, CommandStatus, DataSm, Hidden, Pdu, SubmitSm, Tag, TlvBuffer, VERSION_3_4,
};
use serde_json::json;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

const API_SECRET: &str = "canary-api-secret-7f3a9c1e5d24";
const SMPP_PASSWORD: &str = "cNryPw01";
const CARRIER_PASSWORD: &str = "cNryCp02";
const WEBHOOK_SECRET: &str = "canary-webhook-secret-7f3a9c1e5d24";
/// Wrong credentials of strangers.
const WRONG_SECRET: &str = "canary-wrong-secret-7f3a9c1e5d24";
const WRONG_PASSWORD: &str = "cNryWr03";
/// Secrets that operators set while the gateway runs.
const LATER_SECRET: &str = "canary-later-secret-7f3a9c1e5d24";
const LATER_PASSWORD: &str = "cNryLt04";

const SECRETS: [&str; 8] = [
    API_SECRET,
    SMPP_PASSWORD,
    CARRIER_PASSWORD,
    WEBHOOK_SECRET,
    WRONG_SECRET,
    WRONG_PASSWORD,
    LATER_SECRET,
    LATER_PASSWORD,
];

/// The prefix of every text, sent or received.
const TEXT: &str = "canary-text";
/// The common prefix of all numbers, longer than a log may show.
const NUMBER: &str = "519988776";
const TO: &str = "+4915199887766";
const OWN_NUMBER: &str = "4915799999999";

fn provision(carrier: SocketAddr, hooks: &WebhookReceiver) -> String {
    format!(
        "[[carrier]]\nname = \"acme\"\naddress = \"{carrier}\"\nsystem_id = \"hermod\"\n\
         password = \"{CARRIER_PASSWORD}\"\nwindow = 100\nrate = 1000\n\
         [[route]]\nprefix = \"49\"\ncarriers = [\"acme\"]\n[[price]]\nprefix = \"49\"\nper_part = \"0.05\"\n\
         [[screen]]\nname = \"held\"\npattern = \"{TEXT}-held\"\n\
         [[account]]\nname = \"alice\"\ncurrency = \"EUR\"\nopening_balance = \"0.45\"\nverified = true\n\
         countries = \"*\"\nsenders = [\"Hermod\"]\ndlr_webhook = \"{}\"\ninbound_webhook = \"{}\"\n\
         webhook_secret = \"{WEBHOOK_SECRET}\"\n\
         [[number]]\nnumber = \"+{OWN_NUMBER}\"\naccount = \"alice\"\n\
         [[connection]]\nname = \"alice-http\"\naccount = \"alice\"\ndefault_sender = \"Hermod\"\nrate = 1000\n\
         [[key]]\nkey = \"alice-key\"\nsecret = \"{API_SECRET}\"\nconnection = \"alice-http\"\n\
         [[connection]]\nname = \"alice-smpp\"\naccount = \"alice\"\ndefault_sender = \"Hermod\"\n\
         system_id = \"alice\"\npassword = \"{SMPP_PASSWORD}\"\n",
        hooks.url("dlr"),
        hooks.url("inbound"),
    )
}

/// All responses to strangers and customers, as text.
#[derive(Default)]
struct Answers(Vec<String>);

impl Answers {
    async fn call(
        &mut self,
        to: SocketAddr,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> HttpAnswer {
        let answer = http::call(to, method, path, headers, body).await.expect("an answer");
        if answer.status >= 400 {
            self.0.push(format!("{} {:?}", answer.body, answer.headers));
        }
        answer
    }
}

/// Sends valid and invalid requests, with right and wrong secrets.
async fn customer_sends(at: SocketAddr, answers: &mut Answers) {
    let right =
        [("X-API-Key", "alice-key"), ("X-API-Secret", API_SECRET), ("Content-Type", "application/json")];
    let wrong =
        [("X-API-Key", "alice-key"), ("X-API-Secret", WRONG_SECRET), ("Content-Type", "application/json")];
    let swapped =
        [("X-API-Key", API_SECRET), ("X-API-Secret", "alice-key"), ("Content-Type", "application/json")];
    let swapped_bearer = format!("Bearer {API_SECRET}:alice-key");
    let bearer = format!("Bearer alice-key:{WRONG_SECRET}");
    let broken = format!("Basic {WRONG_SECRET}");
    let good = json!({"to": TO, "text": TEXT, "idempotency_key": "canary-text-key"}).to_string();
    let too_long = format!("{TEXT}{}", "x".repeat(1600));
    let costly = format!("{TEXT}{}", "x".repeat(1500));
    for (headers, body, expect) in [
        (&right[..], good.clone(), 202),
        (&right, good.clone(), 200),
        (&wrong, good.clone(), 401),
        (&swapped, good.clone(), 401),
        (&[("Authorization", swapped_bearer.as_str())], good.clone(), 401),
        (&[("Authorization", bearer.as_str())], good.clone(), 401),
        (&[("Authorization", broken.as_str())], good.clone(), 401),
        (&right, json!({"to": "+49151998877661234567", "text": TEXT}).to_string(), 400),
        (&right, json!({"to": TO, "text": TEXT, "from": "A sender too long"}).to_string(), 400),
        (&right, json!({"to": TO, "text": TEXT, "from": "Canary"}).to_string(), 403),
        (&right, json!({"to": TO, "text": too_long}).to_string(), 400),
        (&right, json!({"to": TO, "text": costly}).to_string(), 402),
        (&right, json!({"to": TO, "text": format!("{TEXT}-held")}).to_string(), 403),
        (&right, json!({"to": "+1519988776655", "text": TEXT}).to_string(), 422),
        (&right, format!("{{\"to\": \"{TO}\", \"text\": \"{TEXT}\" oops"), 400),
        (&right, format!("{{\"to\": \"{TO}\", \"text\": [\"{TEXT}\"]}}"), 400),
    ] {
        let answer = answers.call(at, "POST", "/api/v1/sms", headers, &body).await;
        assert_eq!(answer.status, expect, "{} for {body}", answer.body);
    }
    let in_the_query = format!("/api/v1/balance?key=alice-key&secret={API_SECRET}");
    assert_eq!(answers.call(at, "GET", &in_the_query, &[], "").await.status, 401);
    assert_eq!(answers.call(at, "GET", &format!("/{API_SECRET}"), &right, "").await.status, 404);
}

async fn esme_submits(at: SocketAddr) {
    let mut stranger = Esme::connect(at).await;
    let refused = stranger.try_bind(BindType::Transceiver, "alice", WRONG_PASSWORD, VERSION_3_4).await;
    assert_ne!(refused, CommandStatus::OK);
    // The fields mixed up.
    let mut stranger = Esme::connect(at).await;
    let refused = stranger.try_bind(BindType::Transceiver, SMPP_PASSWORD, "alice", VERSION_3_4).await;
    assert_ne!(refused, CommandStatus::OK);
    let mut alice = Esme::connect(at).await;
    let bound = alice.try_bind(BindType::Transceiver, "alice", SMPP_PASSWORD, VERSION_3_4).await;
    assert_eq!(bound, CommandStatus::OK);
    let submit = |destination: &'static str, text: &'static str| SubmitSm {
        source: Address::alphanumeric(b"Hermod"),
        destination: Address::international(destination.as_bytes()),
        registered_delivery: 1,
        short_message: Hidden(text.as_bytes()),
        ..SubmitSm::default()
    };
    alice.submit(submit("4915199887766", TEXT)).await;
    alice.take_receipt().await;
    for pdu in [submit("4915199887766", "canary-text-held"), submit("4915199887766x", TEXT)] {
        assert!(alice.try_submit(pdu).await.is_err());
    }
    let mut tlvs = TlvBuffer::new();
    tlvs.push(Tag::MESSAGE_PAYLOAD, TEXT.as_bytes());
    let data = DataSm {
        source: Address::alphanumeric(b"Hermod"),
        destination: Address::international(b"4915199887766"),
        tlvs: tlvs.as_tlvs(),
        ..DataSm::default()
    };
    assert_eq!(alice.request(&Pdu::DataSm(data)).await.header.status, CommandStatus::OK);
    // A command that does not exist, with a text in it.
    alice
        .send_octets(&[&[0, 0, 0, 27, 0, 0, 0x7F, 0x7F, 0, 0, 0, 0, 0, 0, 0x10, 0], TEXT.as_bytes()].concat())
        .await;
    alice.unbind_after_receipts().await;
}

/// Returns the secret of the key that the gateway made itself.
async fn operator_changes_things(at: SocketAddr, token: &str, answers: &mut Answers) -> String {
    let bearer = format!("Bearer {token}");
    let toml = [("Authorization", bearer.as_str()), ("Content-Type", "application/toml")];
    let change = format!(
        "[[key]]\nkey = \"later\"\nsecret = \"{LATER_SECRET}\"\nconnection = \"alice-http\"\n\
         [[connection]]\nname = \"later-smpp\"\naccount = \"alice\"\nsystem_id = \"later\"\npassword = \"{LATER_PASSWORD}\"\n\
         [[key]]\nkey = \"made\"\nconnection = \"alice-http\"\n"
    );
    let applied = answers.call(at, "POST", "/operator/v1/apply", &toml, &change).await;
    assert_eq!(applied.status, 200, "{}", applied.body);
    for broken in [
        change.replace("connection = \"alice-http\"", "connection = \"nowhere\""),
        change.replace("password =", "passwort ="),
        change.replace("[[key]]", "[[key"),
    ] {
        let refused = answers.call(at, "POST", "/operator/v1/apply", &toml, &broken).await;
        assert!((400..500).contains(&refused.status), "{}", refused.body);
    }
    let wrong = format!("Bearer {WRONG_SECRET}");
    let refused = answers.call(at, "GET", "/operator/v1/accounts", &[("Authorization", &wrong)], "").await;
    assert_eq!(refused.status, 401);
    let listed = answers.call(at, "GET", "/operator/v1/keys", &toml, "").await.body.to_string();
    assert!(
        listed.contains("\"later\"") && SECRETS.iter().all(|secret| !listed.contains(secret)),
        "{listed}"
    );
    applied.body["secrets"][0]["secret"].as_str().expect("a secret, shown once").to_owned()
}

/// Tests a carrier, approves a held message and opts a number out.
async fn operator_handles_messages(at: SocketAddr, token: &str, answers: &mut Answers) {
    let bearer = format!("Bearer {token}");
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    let probe = json!({"to": TO, "text": TEXT, "wait": "10s"}).to_string();
    for (method, path, body) in [
        ("POST", "/carriers/acme/test".to_owned(), probe.as_str()),
        ("GET", format!("/lookup/{TO}"), ""),
        ("PUT", format!("/accounts/alice/opt-outs/{TO}"), r#"{"how": "asked by phone"}"#),
        ("GET", "/accounts/alice/opt-outs".to_owned(), ""),
        ("GET", "/inbound/unassigned".to_owned(), ""),
    ] {
        let answer = answers.call(at, method, &format!("/operator/v1{path}"), &headers, body).await;
        assert!(answer.status < 300, "{method} {path}: {}", answer.body);
    }
    let held = answers.call(at, "GET", "/operator/v1/reviews", &headers, "").await.body;
    let path = format!("/operator/v1/reviews/{}/approve", held["items"][0]["id"]);
    let approved = answers.call(at, "POST", &path, &headers, r#"{"by": "an operator"}"#).await;
    assert!(approved.status < 300, "{}", approved.body);
    // Messages to an opted-out number are rejected.
    let right =
        [("X-API-Key", "alice-key"), ("X-API-Secret", API_SECRET), ("Content-Type", "application/json")];
    let body = json!({"to": TO, "text": TEXT}).to_string();
    assert_eq!(answers.call(at, "POST", "/api/v1/sms", &right, &body).await.status, 403);
}

fn read(path: &Path) -> String {
    String::from_utf8_lossy(&std::fs::read(path).expect("it can be read")).into_owned()
}

/// Returns the content of a data folder without its key files.
fn stolen(folder: &Path) -> String {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let is_key = |path: &Path| ["pepper.key", "operator.token"].iter().any(|key| path.ends_with(key));
    entries.filter(|path| path.is_file() && !is_key(path)).map(|path| read(&path)).collect()
}

#[track_caller]
fn assert_absent(canaries: &[&str], place: &str, text: &str) {
    for canary in canaries {
        let hex: String = canary.bytes().map(|octet| format!("{octet:02x}")).collect();
        for form in [*canary, &hex] {
            let found = text.find(form).map(|at| {
                String::from_utf8_lossy(&text.as_bytes()[at.saturating_sub(200)..(at + 50).min(text.len())])
                    .into_owned()
            });
            assert_eq!(found, None, "{canary} is in {place}");
        }
    }
}

#[tokio::test]
async fn no_secret_text_or_number_reaches_logs_errors_metrics_or_a_stolen_database() {
    let carrier = SimulatedCarrier::start(CarrierOptions::new(Script::new())).await.expect("a free port");
    let hooks = WebhookReceiver::start(
        SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        ReceiverBehaviour::Status(500),
        None,
    )
    .expect("a free port");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let log = folder.path().join("log.txt");
    let settings = "[webhooks]\nallow_http = true\nallow = [\"127.0.0.0/8\"]\n[log]\nlevel = \"trace\"\n";
    let gateway = Served::start_logging(folder.path(), settings, &provision(carrier.addr(), &hooks), &log);
    let at = gateway.address();
    let data = data_folder(folder.path());
    crate::real_time::wait_until("it has a token", || data.join("operator.token").exists());
    let token = read(&data.join("operator.token")).trim().to_owned();

    let mut answers = Answers::default();
    customer_sends(at, &mut answers).await;
    esme_submits(gateway.smpp_address()).await;
    carrier.send_mo_parts(MoText::new("4915199887766", OWN_NUMBER, "canary-text received").parts());
    // No account owns this destination.
    carrier.send_mo_parts(MoText::new("4915199887766", "4915788888888", "canary-text unassigned").parts());
    let taken = |record: &hermod_simulator::carrier::CarrierRecord| record.counts().mo_accepted >= 2;
    carrier.record().wait_until(taken, PATIENCE).await.expect("both deliver_sm were answered");
    assert!(
        hooks.wait_for(2, PATIENCE).await.len() >= 2,
        "reports were posted, and rejected by the receiver"
    );
    let made = operator_changes_things(at, &token, &mut answers).await;
    operator_handles_messages(at, &token, &mut answers).await;
    let metrics = http::call_for_text(at, "/metrics").await;
    assert!(metrics.contains("hermod_"), "{metrics}");
    // A kill leaves the database with its write-ahead log.
    gateway.kill();
    carrier.stop().await;

    let logged = read(&log);
    let database = stolen(&data);
    assert!(logged.lines().count() > 20, "{logged}");
    assert!(logged.contains("A step of a message"), "its steps are logged: {logged}");
    assert!(answers.0.len() > 10, "{:?}", answers.0);
    assert!(database.contains("alice-http"), "the database was read");
    let secrets = [&SECRETS[..], &[token.as_str(), made.as_str()]].concat();
    assert_absent(&[&secrets[..], &[TEXT, NUMBER]].concat(), "the log", &logged);
    assert_absent(&[&secrets[..], &[TEXT, NUMBER]].concat(), "the metrics", &metrics);
    assert_absent(&[&secrets[..], &[TEXT]].concat(), "an error answer", &answers.0.join("\n"));
    assert_absent(&secrets, "the database", &database);
}
