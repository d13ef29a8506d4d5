//! Alarms that do not belong to a carrier: raised, listed and cleared by the real binary, with their metrics.

use super::page;
use super::process::{Caller, Process, path, run, start_demo, wait_until_serving};
use crate::gateways::{free_address, provision_text, wall_time};
use crate::real_time::wait_until;
use rcgen::{CertificateParams, KeyPair};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

const DAY: Duration = Duration::from_secs(24 * 3_600);

/// Returns the output of `hermod alarms`.
fn alarms(data: &Path) -> String {
    let (code, out, stderr) = run(&["alarms", "--data-dir", path(data)]);
    assert_eq!((code, stderr.as_str()), (0, ""), "{out}");
    out
}

#[test]
fn all_metrics_exist_from_the_start_and_are_documented() {
    let folder = tempfile::tempdir().unwrap();
    let (demo, ready) = start_demo(folder.path());
    let customer = Caller::of(&ready);
    let message = customer.send("Hello");
    customer.wait_for_status(&message, "delivered");
    // The record has the delivery a moment later.
    let mut metrics = String::new();
    wait_until("the record has the delivery", || {
        metrics = page(&customer.address, "/metrics");
        metrics.contains("hermod_account_delivered_ratio{")
    });
    for line in [
        "hermod_alarms{alarm=\"disk-low\",severity=\"critical\",carrier=\"\",account=\"\"} 0",
        "hermod_alarms{alarm=\"carrier-down\",severity=\"critical\",carrier=\"\",account=\"\"} 0",
        "hermod_reviews_open 0",
        "hermod_store_accepting 1",
        "hermod_disk_free_bytes ",
        "hermod_disk_low_water_bytes 268435456",
        "hermod_tls_certificate_expires_timestamp_seconds{certificate=",
        "hermod_account_waiting_parts{account=\"",
        "hermod_account_accepted_messages_total{account=\"",
        "hermod_account_refused_messages_total{account=\"",
        "hermod_account_available_balance{account=\"",
        "hermod_account_delivered_ratio{account=\"",
        "hermod_accounts_without_metrics 0",
        "hermod_account_metrics_age_seconds ",
    ] {
        assert!(metrics.contains(line), "{line} in {metrics}");
    }
    let documented = include_str!("../../../../../docs/metrics.md");
    let names = metrics.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    for name in names.filter_map(|line| line.split(' ').next()).filter(|name| name.starts_with("hermod_")) {
        assert!(documented.contains(&format!("\n| `{name}` |")), "{name} has no row in docs/metrics.md");
        assert!(metrics.contains(&format!("# HELP {name} ")), "{name} has no HELP line");
    }
    assert_eq!(demo.terminate(), 0);
}

#[test]
fn held_text_raises_an_alarm_until_it_is_decided() {
    let folder = tempfile::tempdir().unwrap();
    let (demo, ready) = start_demo(folder.path());
    let data = path(folder.path());
    assert_eq!(run(&["screen", "set", "links", "pattern=bit\\.ly", "--data-dir", data]).0, 0);
    let body = r#"{"to": "+4915112345678", "text": "see bit.ly/x"}"#;
    assert_eq!(Caller::of(&ready).call("POST", "/sms", body).0, 403);
    wait_until("the case raises an alarm", || {
        alarms(folder.path()).contains("1 held message waits for review, the oldest since ")
    });
    let (code, csv, _) = run(&["alarms", "--csv", "--data-dir", data]);
    assert!(code == 0 && csv.contains("reviews-open"), "{code}: {csv}");
    let metrics = page(&Caller::of(&ready).address, "/metrics");
    assert!(metrics.contains("hermod_reviews_open 1"), "{metrics}");
    let raised = "hermod_alarms{alarm=\"reviews-open\",severity=\"notice\",carrier=\"\",account=\"\"} 1";
    assert!(metrics.contains(raised), "{metrics}");
    assert_eq!(run(&["review", "approve", "1", "--by", "alice", "--data-dir", data]).0, 0);
    wait_until("the alarm is cleared", || alarms(folder.path()).starts_with("There are no alarms"));
    assert_eq!(demo.terminate(), 0);
}

/// Writes a certificate with this remaining validity, and its key.
fn write_pair(folder: &Path, name: &str, ends: Duration) {
    let key = KeyPair::generate().expect("a key pair");
    let mut params = CertificateParams::new(vec!["localhost".to_owned()]).expect("a valid name");
    params.not_after = (UNIX_EPOCH + ends).into();
    let certificate = params.self_signed(&key).expect("a certificate");
    std::fs::write(folder.join(format!("{name}.pem")), certificate.pem()).expect("a written file");
    std::fs::write(folder.join(format!("{name}.key")), key.serialize_pem()).expect("a written file");
}

#[test]
fn expiring_and_expired_certificates_raise_alarms_until_renewed() {
    let folder = tempfile::tempdir().unwrap();
    let now = Duration::from_millis(u64::try_from(wall_time().as_millis()).unwrap());
    write_pair(folder.path(), "api", now + 10 * DAY);
    write_pair(folder.path(), "binds", now - DAY);
    let http = free_address();
    let settings = format!(
        "[http]\nlisten = \"{http}\"\n[https]\nlisten = \"{}\"\ncertificate = \"api.pem\"\nkey = \"api.key\"\n\
         [smpp]\nlisten = \"127.0.0.1:0\"\ntls_listen = \"{}\"\ncertificate = \"binds.pem\"\nkey = \"binds.key\"\n\
         [log]\nlevel = \"off\"\n[provision]\nfile = \"provision.toml\"\n",
        free_address(),
        free_address()
    );
    std::fs::write(folder.path().join("hermod.toml"), settings).unwrap();
    std::fs::write(folder.path().join("provision.toml"), provision_text(free_address(), "100")).unwrap();
    let serving = Process::start(&["serve", "--config", path(&folder.path().join("hermod.toml"))]);
    wait_until_serving(&http.to_string());
    let data = folder.path().join("hermod-data");
    wait_until("operator.url exists", || data.join("operator.url").exists());
    wait_until("both alarms are raised", || {
        let listed = alarms(&data);
        listed.contains("certificate-expiring") && listed.contains("certificate-expired")
    });
    let listed = alarms(&data);
    assert!(listed.contains("api.pem") && listed.contains("in 9 days"), "{listed}");
    assert!(listed.contains("binds.pem") && listed.contains("customers reject it"), "{listed}");

    write_pair(folder.path(), "api", now + 90 * DAY);
    write_pair(folder.path(), "binds", now + 90 * DAY);
    wait_until("both alarms are cleared", || !alarms(&data).contains("certificate-"));
    assert_eq!(serving.terminate(), 0);
}
