//! The real gateway against its OpenAPI documents: schemathesis calls every operation with valid and
//! invalid requests, and fails on a response that the document does not declare.

use crate::gateways::{Served, data_folder};
use crate::scenario::http;
use hermod_simulator::carrier::{CarrierOptions, Outcome, Script, SimulatedCarrier};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// schemathesis fails to authenticate more often than the default limit for one address allows.
const SETTINGS: &str = "failed_sign_ins = 60000\n[log]\nlevel = \"error\"\n";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn customer_api_conforms_to_its_openapi_document() {
    let script = Script::new().receipt_after(Duration::from_millis(5), Outcome::Delivered);
    let carrier = SimulatedCarrier::start(CarrierOptions::new(script)).await.expect("a free port");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let gateway = Served::start_with(folder.path(), SETTINGS, &provision(carrier.addr()));
    let document = format!("http://{}/openapi.json", gateway.address());
    run_schemathesis("customer.toml", &document, &["--auth", "key:schemathesis-of-many-characters"], (4, 4));
    gateway.stop().await;
    carrier.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn operator_api_conforms_to_its_openapi_document() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    // No carrier listens at this address.
    let no_carrier = SocketAddr::from(([127, 0, 0, 1], 9));
    let gateway = Served::start_with(folder.path(), SETTINGS, &(provision(no_carrier) + SHOP));
    hold_a_message(gateway.address()).await;
    let token = std::fs::read_to_string(data_folder(folder.path()).join("operator.token")).expect("a token");
    let document = format!("http://{}/operator/v1/openapi.json", gateway.address());
    let header = format!("Authorization: Bearer {}", token.trim());
    run_schemathesis("operator.toml", &document, &["--header", &header], (197, 198));
    gateway.stop().await;
}

/// The entries that the examples of the operator's document name.
const SHOP: &str = "\
    [[account]]\nname = \"shop\"\ncurrency = \"EUR\"\nopening_balance = \"100\"\nverified = true\ncountries = \"*\"\n\
    senders = [\"Shop\"]\ndlr_webhook = \"https://shop.example/dlr\"\n[[connection]]\nname = \"shop-http\"\naccount = \"shop\"\ndefault_sender = \"Shop\"\n\
    system_id = \"shop\"\npassword = \"schema08\"\n[[key]]\nkey = \"shop-key-1\"\nsecret = \"schemathesis-of-many-characters\"\nconnection = \"shop-http\"\n\
    [[screen]]\nname = \"short-links\"\npattern = \"bit[.]ly\"\n\
    [[route]]\nprefix = \"49\"\ncarriers = [\"acme\"]\n";

/// Opens the first review case.
async fn hold_a_message(gateway: SocketAddr) {
    let headers = [
        ("Authorization", "Bearer shop-key-1:schemathesis-of-many-characters"),
        ("Content-Type", "application/json"),
    ];
    // Not the number of the examples, because they erase it.
    let body = r#"{"to":"+4915187654321","text":"see bit.ly"}"#;
    let answer = http::call(gateway, "POST", "/api/v1/sms", &headers, body).await.expect("it answers");
    assert_eq!(answer.headers["x-error-code"], "HELD_FOR_REVIEW");
}

/// Returns a provision text with a large balance, routes and prices for every number, and a high rate.
fn provision(carrier: SocketAddr) -> String {
    format!(
        "[[carrier]]\nname = \"acme\"\naddress = \"{carrier}\"\nsystem_id = \"hermod\"\npassword = \"secret\"\n\
         window = 100\nrate = 10000\n[[route]]\nprefix = \"*\"\ncarriers = [\"acme\"]\n\
         [[price]]\nprefix = \"*\"\nper_part = \"0.05\"\n\
         [[account]]\nname = \"alice\"\ncurrency = \"EUR\"\nopening_balance = \"100000\"\nverified = true\n\
         countries = \"*\"\nsenders = [\"Hermod\"]\n[[connection]]\nname = \"alice-http\"\naccount = \"alice\"\n\
         default_sender = \"Hermod\"\nrate = 100000\n\
         [[key]]\nkey = \"key\"\nsecret = \"schemathesis-of-many-characters\"\nconnection = \"alice-http\"\n"
    )
}

/// Runs schemathesis on a document with this settings file. `operations` are how many it calls, and how many there are.
#[track_caller]
fn run_schemathesis(settings: &str, document: &str, credentials: &[&str], operations: (usize, usize)) {
    // schemathesis writes to its working directory and reads its hooks from there.
    let standing = tempfile::tempdir().expect("a temporary folder");
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/schemathesis");
    for file in std::fs::read_dir(own).expect("its settings") {
        let file = file.expect("a file");
        std::fs::copy(file.path(), standing.path().join(file.file_name())).expect("a copy");
    }
    let mut command = Command::new(schemathesis());
    command.current_dir(standing.path()).arg("--no-color").arg("--config-file").arg(settings);
    command.args(["run", document, "--output-sanitize", "false"]).args(credentials);
    let output = command.output().expect("schemathesis can be started");
    let said = String::from_utf8_lossy(&output.stdout);
    println!("{said}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "responses do not conform to {document}; see above");
    let (called, total) = operations;
    let all = format!("{called} selected / {total} total");
    assert!(said.contains(&all), "not all of the {called} operations were called; see above");
    assert!(!said.contains(" 0 generated"), "no operation was called; see above");
}

/// Returns the program that `cargo xtask test` names, or that `cargo xtask` installs for a test run alone.
fn schemathesis() -> PathBuf {
    if let Some(program) = std::env::var_os("HERMOD_SCHEMATHESIS") {
        return program.into();
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = Command::new("cargo").args(["xtask", "schemathesis"]).current_dir(root).output();
    let output = output.expect("cargo can be started");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "schemathesis is not installed: {errors}");
    let said = String::from_utf8(output.stdout).expect("a UTF-8 path");
    said.lines().last().expect("xtask prints the path").into()
}
