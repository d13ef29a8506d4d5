//! The programs of the portal's quickstart page, each run by its own interpreter against a real gateway.

use super::program;
use crate::gateways::{KEY, SECRET, Served, provision_text};
use hermod_portal::pages::quickstart::Sample;
use hermod_simulator::carrier::{CarrierOptions, Script, SimulatedCarrier};
use std::path::PathBuf;
use std::process::{Command, Output};

/// Returns the interpreter of a language.
fn interpreter(language: &str) -> PathBuf {
    match language {
        "curl" => PathBuf::from("sh"),
        "Python" => program("python"),
        "Node" => PathBuf::from("node"),
        "PHP" => program("php"),
        "Java" => program("java"),
        other => panic!("no interpreter for {other}"),
    }
}

fn run(folder: &std::path::Path, sample: &Sample, secret: &str) -> Output {
    let path = folder.join(sample.file);
    std::fs::write(&path, &sample.text).expect("the sample is written");
    let mut command = Command::new(interpreter(sample.language));
    command.arg(&path).arg("+4915112345678").env("API_SECRET", secret).current_dir(folder);
    command.output().unwrap_or_else(|error| panic!("{command:?} starts: {error}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_quickstart_sends_a_message_and_fails_with_a_wrong_secret() {
    let carrier = SimulatedCarrier::start(CarrierOptions::new(Script::new())).await.expect("a free port");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let settings = "[log]\nlevel = \"warn\"\n";
    let gateway = Served::start_with(folder.path(), settings, &provision_text(carrier.addr(), "100"));
    let base_url = format!("http://{}/api/v1", gateway.address());
    let samples = Sample::all(&base_url, KEY);
    assert_eq!(samples.len(), 5);
    for sample in &samples {
        let sent = run(folder.path(), sample, SECRET);
        let said = String::from_utf8_lossy(&sent.stdout).into_owned();
        let errors = String::from_utf8_lossy(&sent.stderr);
        assert!(sent.status.success(), "{}: {said}{errors}", sample.language);
        assert!(said.chars().filter(char::is_ascii_digit).count() >= 15, "{}: {said}", sample.language);
        let rejected = run(folder.path(), sample, "wrong");
        assert!(!rejected.status.success(), "{} does not notice a rejection", sample.language);
    }
    gateway.stop().await;
    let texts = carrier.record().received_texts();
    for expect in ["curl", "Python", "Node", "PHP", "Java"] {
        assert!(texts.iter().any(|text| text == &format!("Hello from {expect}")), "{expect}: {texts:?}");
    }
    carrier.stop().await;
}
