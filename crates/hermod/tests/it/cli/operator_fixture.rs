//! Fixture: a data folder with or without a running gateway, and operator commands on it.

use super::process::{Process, hermod, output_of, path, wait_until_serving};
use crate::gateways::free_address;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

/// The provision file of the tests. One key has no secret, so a random one is generated.
pub(crate) const FILE: &str = r#"
[[carrier]]
name = "acme"
address = "127.0.0.1:9"
system_id = "hermod"
password = "canary08"
window = 10
rate = 100

[[route]]
prefix = "*"
carriers = ["acme"]

[[price]]
prefix = "*"
per_part = "0.05"

[[account]]
name = "shop"
currency = "EUR"
opening_balance = "100"
verified = true
countries = ["DE"]
senders = ["Shop"]

[[connection]]
name = "shop-http"
account = "shop"
default_sender = "Shop"

[[key]]
key = "shop-key-1"
connection = "shop-http"
"#;

pub(crate) struct OperatorFixture {
    pub(crate) folder: tempfile::TempDir,
    /// The options that select the gateway.
    pub(crate) target: Vec<String>,
    pub(crate) serving: Option<Process>,
    pub(crate) address: String,
}

impl OperatorFixture {
    /// Returns a fixture without a running gateway.
    pub(crate) fn without_gateway() -> OperatorFixture {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("provision.toml");
        std::fs::write(&file, FILE).expect("a provision file");
        // The file contains a password.
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).expect("our own file");
        let target = vec!["--data-dir".to_owned(), path(&folder.path().join("data")).to_owned()];
        OperatorFixture { folder, target, serving: None, address: free_address().to_string() }
    }

    /// Starts a gateway; the commands use its data folder.
    pub(crate) fn with_gateway() -> OperatorFixture {
        let mut fixture = OperatorFixture::without_gateway();
        fixture.serve();
        fixture
    }

    /// Starts a gateway; the commands use its address and token file only.
    pub(crate) fn over_url() -> OperatorFixture {
        let mut fixture = OperatorFixture::with_gateway();
        let token = path(&fixture.data().join("operator.token")).to_owned();
        let url = format!("http://{}", fixture.address);
        fixture.target = vec!["--url".to_owned(), url, "--token-file".to_owned(), token];
        fixture
    }

    pub(crate) fn serve(&mut self) {
        let settings = self.file("hermod.toml");
        let text = format!(
            "[data]\nfolder = \"data\"\n[smpp]\nlisten = \"127.0.0.1:0\"\n[http]\nlisten = \"{}\"\n[log]\nlevel = \"error\"\n",
            self.address
        );
        std::fs::write(&settings, text).expect("a settings file");
        self.serving = Some(Process::start(&["serve", "--config", path(&settings)]));
        wait_until_serving(&self.address);
        crate::real_time::wait_until("operator.url exists", || self.data().join("operator.url").exists());
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs a command on this gateway. Returns exit code, standard output and standard error.
    pub(crate) fn run(&self, args: &[&str]) -> (i32, String, String) {
        let target: Vec<&str> = self.target.iter().map(String::as_str).collect();
        output_of(&mut hermod(&[args, &target].concat()))
    }

    /// Runs a command that must succeed and returns its output. Standard error may only name the data folder.
    #[track_caller]
    pub(crate) fn run_ok(&self, args: &[&str]) -> String {
        let (code, out, stderr) = self.run(args);
        let said: String = stderr.lines().filter(|line| !line.starts_with("hermod: data folder ")).collect();
        assert_eq!((code, said.as_str()), (0, ""), "{args:?}: {out}");
        out
    }

    #[track_caller]
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let out = self.run_ok(&[args, &["--json"]].concat());
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{args:?}: {error}: {out}"))
    }

    #[track_caller]
    pub(crate) fn assert_fails(&self, args: &[&str], code: i32, sentence: &str) {
        let (exit_code, out, stderr) = self.run(args);
        assert_eq!(
            (exit_code, out.as_str(), stderr.contains(sentence)),
            (code, "", true),
            "{args:?}: {stderr}"
        );
    }

    pub(crate) fn apply(&self, extra: &[&str]) -> String {
        let file = self.file("provision.toml");
        let is_new = !self.data().exists() && !extra.contains(&"--dry-run");
        let create: &[&str] = if is_new { &["--create"] } else { &[] };
        self.run_ok(&[&["apply", path(&file)], create, extra].concat())
    }
}
