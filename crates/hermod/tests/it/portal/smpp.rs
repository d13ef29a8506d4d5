//! The SMPP page: bind card, live and rejected binds, password rotation without a rejected bind, allow-list.

use super::{Browser, PASSWORD, member};
use crate::scenario::{Esme, GatewaySetup, Page, Scenario};
use hermod_domain::catalogue::Role;
use hermod_simulator::carrier::Script;
use hermod_smpp::{Address, BindType, CommandStatus, Hidden, SubmitSm, VERSION_3_4};
use std::time::Duration;

const DAY: Duration = Duration::from_secs(86_400);
const SMPP: &str = "/accounts/alice/smpp";
const OLD: &str = "secret12";

async fn scenario() -> Scenario {
    let setup = GatewaySetup::with("")
        .connection("alice", "system_id = \"alice\"\npassword = \"secret12\"\n")
        .connection("bob", "system_id = \"bob\"\npassword = \"secret12\"\n");
    Scenario::with_setup(Script::new(), setup).await
}

async fn bind(s: &Scenario, kind: BindType, password: &str) -> (Esme, CommandStatus) {
    let mut esme = Esme::connect(s.smpp_address()).await;
    let status = esme.try_bind(kind, "alice", password, VERSION_3_4).await;
    (esme, status)
}

async fn change(dev: &mut Browser, path: &str, fields: &str) -> Page {
    let csrf = dev.get(SMPP).await.csrf();
    dev.post(path, &format!("csrf={csrf}&{fields}")).await
}

/// Returns the password that a page shows.
fn password_of(page: &Page) -> String {
    let (_, rest) = page.text.split_once("<dt>password</dt>").expect("the password");
    let (_, rest) = rest.split_once("<code>").expect("a code");
    rest.split("</code>").next().unwrap_or_default().to_owned()
}

/// Returns the number of the first bind of the page.
fn number_of(page: &Page) -> u64 {
    let (_, rest) = page.text.split_once("class=\"muted\">#").expect("a bind");
    rest.split('<').next().and_then(|number| number.parse().ok()).expect("its number")
}

#[tokio::test]
async fn bind_card_has_the_real_port_and_live_and_rejected_binds_are_listed() {
    let s = scenario().await;
    let dev = member(&s, "dev@example.com", "alice", Role::Developer).await;
    let (_, wrong) = bind(&s, BindType::Transceiver, "wrong-pw").await;
    assert_eq!(wrong, CommandStatus::INVPASWD);
    let (esme, bound) = bind(&s, BindType::Transmitter, OLD).await;
    assert_eq!(bound, CommandStatus::OK);
    s.gateway().store.record().flush().await.expect("the record is written");
    let page = dev.get(SMPP).await;
    let port = s.smpp_address().port().to_string();
    for shown in [
        port.as_str(),
        "<code>alice</code>",
        "up to 10 at a time",
        "10 requests for each bind",
        "0 of 10",
        "transmitter",
        "Only transmitters are bound",
        "0x0E ESME_RINVPASWD",
        "Wrong system_id or password.",
    ] {
        assert!(page.text.contains(shown), "{shown}: {}", page.text);
    }
    assert!(!page.text.contains("bob"), "{}", page.text);
    assert!(number_of(&page) > 1_000, "binds of all accounts are counted: {}", page.text);
    drop(esme);
    s.end().await;
}

#[tokio::test]
async fn password_rotation_with_overlap_rejects_no_bind_and_ends_the_old_password_afterwards() {
    let s = scenario().await;
    let mut dev = member(&s, "dev@example.com", "alice", Role::Developer).await;
    let (mut live, bound) = bind(&s, BindType::Transceiver, OLD).await;
    assert_eq!(bound, CommandStatus::OK);
    let rotated = change(&mut dev, &format!("{SMPP}/alice-http/rotate"), "overlap=24h").await;
    assert!(rotated.text.contains("The old password is valid until"), "{}", rotated.text);
    let new = password_of(&rotated);
    assert!(new.len() == 8 && new != OLD, "{new}");
    for password in [OLD, &new, OLD] {
        assert_eq!(bind(&s, BindType::Transmitter, password).await.1, CommandStatus::OK, "{password}");
    }
    assert_eq!(bind(&s, BindType::Transmitter, "wrong-pw").await.1, CommandStatus::INVPASWD);
    // The bind from before stays, and submits.
    live.submit(message("while rotating")).await;
    drop(live);
    let audit = dev.get("/accounts/alice/audit").await;
    assert!(audit.text.contains("old_password_until") && !audit.text.contains(&new), "{}", audit.text);
    s.wait_for_carrier_submits(1).await;
    s.skip(DAY);
    assert_eq!(bind(&s, BindType::Transmitter, OLD).await.1, CommandStatus::INVPASWD);
    assert_eq!(bind(&s, BindType::Transmitter, &new).await.1, CommandStatus::OK);
    dev.sign_in("dev@example.com", PASSWORD).await;
    let at_once = change(&mut dev, &format!("{SMPP}/alice-http/rotate"), "overlap=0s").await;
    assert!(at_once.text.contains("The old password is no longer valid"), "{}", at_once.text);
    assert_eq!(bind(&s, BindType::Transmitter, &new).await.1, CommandStatus::INVPASWD);
    s.end().await;
}

#[tokio::test]
async fn password_rotation_survives_a_restart_with_the_provision_file() {
    let mut s = scenario().await;
    let mut dev = member(&s, "dev@example.com", "alice", Role::Developer).await;
    let rotated = change(&mut dev, &format!("{SMPP}/alice-http/rotate"), "overlap=24h").await;
    let new = password_of(&rotated);
    s.restart().await;
    for password in [OLD, &new] {
        assert_eq!(bind(&s, BindType::Transmitter, password).await.1, CommandStatus::OK, "{password}");
    }
    s.skip(DAY);
    assert_eq!(bind(&s, BindType::Transmitter, OLD).await.1, CommandStatus::INVPASWD);
    s.end().await;
}

#[tokio::test]
async fn allow_list_rejects_binds_and_other_accounts_and_roles_cannot_change_it() {
    let s = scenario().await;
    let mut dev = member(&s, "dev@example.com", "alice", Role::Developer).await;
    let list = format!("{SMPP}/alice-http/allow-list");
    let wrong = change(&mut dev, &list, "allow_list=%3Cscript%3E").await;
    assert!(wrong.status == 400 && wrong.text.contains("Line 1: "), "{}", wrong.text);
    assert!(!wrong.text.contains("<script>\n"), "{}", wrong.text);
    let saved = change(&mut dev, &list, "allow_list=203.0.113.0%2F24").await;
    assert_eq!(saved.location(), format!("{SMPP}?done=list-saved"));
    assert_eq!(bind(&s, BindType::Transceiver, OLD).await.1, CommandStatus::BINDFAIL);
    s.gateway().store.record().flush().await.expect("the record is written");
    let page = dev.get(SMPP).await;
    assert!(page.text.contains("The address is not on the allow-list of the connection."), "{}", page.text);
    for path in ["bob-http/rotate", "bob-http/allow-list", "nothing/rotate"] {
        let foreign = change(&mut dev, &format!("{SMPP}/{path}"), "overlap=24h&allow_list=").await;
        assert_eq!(foreign.status, 404, "{path}");
    }
    let mut viewer = member(&s, "view@example.com", "alice", Role::Viewer).await;
    let page = viewer.get(SMPP).await;
    assert!(page.status == 200 && !page.text.contains("Rotate the password"), "{}", page.text);
    for path in ["alice-http/rotate", "alice-http/allow-list"] {
        let csrf = viewer.get("/accounts/alice").await.csrf();
        let form = format!("csrf={csrf}&overlap=24h&allow_list=");
        assert_eq!(viewer.post(&format!("{SMPP}/{path}"), &form).await.status, 403, "{path}");
    }
    s.end().await;
}

#[tokio::test]
async fn trace_shows_the_pdus_of_own_binds_without_texts_and_passwords_and_ends_after_ten_minutes() {
    let s = scenario().await;
    let mut dev = member(&s, "dev@example.com", "alice", Role::Developer).await;
    let trace = format!("{SMPP}/alice-http/trace");
    let (mut before, _) = bind(&s, BindType::Transceiver, OLD).await;
    before.submit(message("before the trace")).await;
    let started = change(&mut dev, &format!("{trace}/start"), "").await;
    assert_eq!(started.location(), format!("{trace}?done=trace-started"));
    before.submit(message("a secret text")).await;
    let (after, bound) = bind(&s, BindType::Transmitter, OLD).await;
    assert_eq!(bound, CommandStatus::OK);
    let page = dev.get(&trace).await;
    for shown in [
        "Runs until",
        ">submit_sm<",
        ">submit_sm_resp<",
        "4915112345678",
        ">bind_transmitter<",
        ">bind_transmitter_resp<",
    ] {
        assert!(page.text.contains(shown), "{shown}: {}", page.text);
    }
    let number = number_of(&dev.get(SMPP).await);
    assert!(page.text.contains(&format!(">#{number}<")), "the same number on both pages: {}", page.text);
    assert_eq!(page.text.matches(">submit_sm<").count(), 1, "only what came after the start: {}", page.text);
    assert!(!page.text.contains("a secret text") && !page.text.contains(OLD), "{}", page.text);
    // Another account's binds are never in it.
    let mut bob = Esme::connect(s.smpp_address()).await;
    assert_eq!(bob.try_bind(BindType::Transceiver, "bob", "secret12", VERSION_3_4).await, CommandStatus::OK);
    let lines = |page: &Page| page.text.matches("data-label=\"PDU\"").count();
    assert_eq!(lines(&dev.get(&trace).await), lines(&page));
    let stopped = change(&mut dev, &format!("{trace}/stop"), "").await;
    assert_eq!(stopped.location(), format!("{trace}?done=trace-stopped"));
    before.submit(message("after the trace")).await;
    assert_eq!(lines(&dev.get(&trace).await), lines(&page), "the lines stay, and no more come");
    change(&mut dev, &format!("{trace}/start"), "").await;
    s.skip(Duration::from_secs(601));
    let (later, bound) = bind(&s, BindType::Transmitter, OLD).await;
    assert_eq!(bound, CommandStatus::OK);
    let ended = dev.get(&trace).await;
    assert!(ended.text.contains("Not running.") && lines(&ended) == lines(&page), "{}", ended.text);
    drop((before, after, later, bob));
    s.end().await;
}

#[tokio::test]
async fn trace_of_others_is_not_found_and_the_billing_role_cannot_read_it() {
    let s = scenario().await;
    let mut dev = member(&s, "dev@example.com", "alice", Role::Developer).await;
    for path in ["bob-http/trace", "nothing/trace"] {
        assert_eq!(dev.get(&format!("{SMPP}/{path}")).await.status, 404, "{path}");
        assert_eq!(change(&mut dev, &format!("{SMPP}/{path}/start"), "").await.status, 404, "{path}");
    }
    let mut viewer = member(&s, "view@example.com", "alice", Role::Viewer).await;
    let page = viewer.get(&format!("{SMPP}/alice-http/trace")).await;
    assert!(page.status == 200 && !page.text.contains("Trace for 10 minutes"), "{}", page.text);
    let start = change(&mut viewer, &format!("{SMPP}/alice-http/trace/start"), "").await;
    assert_eq!(start.status, 403);
    let billing = member(&s, "money@example.com", "alice", Role::Billing).await;
    assert_eq!(billing.get(&format!("{SMPP}/alice-http/trace")).await.status, 403);
    s.end().await;
}

fn message(text: &str) -> SubmitSm<'_> {
    SubmitSm {
        source: Address::alphanumeric(b"Hermod"),
        destination: Address::international(b"4915112345678"),
        short_message: Hidden(text.as_bytes()),
        ..SubmitSm::default()
    }
}
