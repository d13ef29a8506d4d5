//! Fixture: a data folder with or without a running gateway, and operator commands on it.

use super::process::{Process, ended, hermod, path, wait_until_serving};
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

pub(crate) struct Office {
    pub(crate) folder: tempfile::TempDir,
    /// The options that select the gateway.
    pub(crate) place: Vec<String>,
    pub(crate) serving: Option<Process>,
    pub(crate) address: String,
}

impl Office {
    /// Returns a fixture without a running gateway.
    pub(crate) fn closed() -> Office {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("provision.toml");
        std::fs::write(&file, FILE).expect("a provision file");
        // The file contains a password.
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).expect("our own file");
        let place = vec!["--data-dir".to_owned(), path(&folder.path().join("data")).to_owned()];
        Office { folder, place, serving: None, address: free_address().to_string() }
    }

    /// Starts a gateway; the commands use its data folder.
    pub(crate) fn open() -> Office {
        let mut office = Office::closed();
        office.serve();
        office
    }

    /// Starts a gateway; the commands use its address and token file only.
    pub(crate) fn far_away() -> Office {
        let mut office = Office::open();
        let token = path(&office.data().join("operator.token")).to_owned();
        let url = format!("http://{}", office.address);
        office.place = vec!["--url".to_owned(), url, "--token-file".to_owned(), token];
        office
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
    pub(crate) fn ran(&self, args: &[&str]) -> (i32, String, String) {
        let place: Vec<&str> = self.place.iter().map(String::as_str).collect();
        ended(&mut hermod(&[args, &place].concat()))
    }

    /// Runs a command that must succeed and returns its output. Standard error may only name the data folder.
    #[track_caller]
    pub(crate) fn does(&self, args: &[&str]) -> String {
        let (code, out, told) = self.ran(args);
        let said: String = told.lines().filter(|line| !line.starts_with("hermod: data folder ")).collect();
        assert_eq!((code, said.as_str()), (0, ""), "{args:?}: {out}");
        out
    }

    #[track_caller]
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let out = self.does(&[args, &["--json"]].concat());
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{args:?}: {error}: {out}"))
    }

    #[track_caller]
    pub(crate) fn is_refused(&self, args: &[&str], code: i32, sentence: &str) {
        let (ended, out, told) = self.ran(args);
        assert_eq!((ended, out.as_str(), told.contains(sentence)), (code, "", true), "{args:?}: {told}");
    }

    pub(crate) fn apply(&self, extra: &[&str]) -> String {
        let file = self.file("provision.toml");
        let is_new = !self.data().exists() && !extra.contains(&"--dry-run");
        let create: &[&str] = if is_new { &["--create"] } else { &[] };
        self.does(&[&["apply", path(&file)], create, extra].concat())
    }
}
