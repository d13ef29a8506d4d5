//! The pages of `hermod demo`, with its showcase accounts, in four variants: accessible, and with pictures of them if
//! `cargo xtask screenshots` names a folder.

use super::accessibility::{Axe, PHONE, Variant, WIDE, show_as, show_whole};
use super::tab::Tab;
use super::walk;
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// The accounts, and which of their pages are checked although a page of the same kind was checked before (`None`: all). `aurora`
/// has something on every page, the demo's own account is empty, and `kite` has failures.
const ACCOUNTS: [(&str, Option<&[&str]>); 3] = [
    ("/accounts/aurora", None),
    ("/accounts/demo", None),
    ("/accounts/kite", Some(&["", "/webhooks", "/requests"])),
];

/// A process of `hermod demo`, killed on drop.
struct Demo {
    child: Child,
    ready: Value,
    _folder: tempfile::TempDir,
}

impl Demo {
    fn start() -> Demo {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut command = Command::new(env!("CARGO_BIN_EXE_hermod"));
        command.args(["demo", "--json", "--http-port", "0", "--smpp-port", "0", "--smpp-tls-port", "0"]);
        command.arg("--data-dir").arg(folder.path().join("data"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().expect("the binary starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("it is piped");
        BufReader::new(stdout).read_line(&mut line).expect("a line of JSON");
        let ready = serde_json::from_str(&line).expect("JSON");
        Demo { child, ready, _folder: folder }
    }

    fn field(&self, name: &str) -> &str {
        self.ready[name].as_str().unwrap_or_else(|| panic!("{name} in {}", self.ready))
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        // An error means that the process has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

async fn check(variants: [Variant; 2]) {
    let (demo, axe) = (Demo::start(), Axe::load());
    let tab = Tab::open(demo.field("portal_url")).await;
    check_page(&tab, &axe, "/sign-in", &variants).await;
    tab.go("/").await;
    tab.sign_in(demo.field("portal_email"), demo.field("portal_password")).await;
    // Another page before that would come too early, and be the sign-in again.
    tab.leaves("/sign-in").await;
    let mut known = BTreeSet::new();
    let mut checked = 0;
    for (account, repeated) in ACCOUNTS {
        for page in walk::pages(&tab, account).await {
            let own = page.strip_prefix(account);
            let is_new = known.insert(walk::kind(own.unwrap_or(&page)));
            let is_wanted = own.is_some_and(|own| repeated.is_none_or(|repeated| repeated.contains(&own)));
            if is_new || is_wanted {
                check_page(&tab, &axe, &page, &variants).await;
                checked += 1;
            }
        }
    }
    assert!(checked >= 50, "only {checked} pages were found");
    tab.close().await;
}

async fn check_page(tab: &Tab, axe: &Axe, page: &str, variants: &[Variant; 2]) {
    for variant in variants {
        show_as(tab, *variant).await;
        tab.go(page).await;
        axe.assert_accessible(tab, &format!("{page} {}", variant.name)).await;
        if let Some(folder) = std::env::var_os("HERMOD_SCREENSHOTS") {
            show_whole(tab, *variant).await;
            let name = page.trim_start_matches('/').replace(['/', '?', '=', '&'], "-");
            let file = PathBuf::from(folder).join(format!("{name}.{}.png", variant.name));
            std::fs::write(file, tab.screenshot().await).expect("a picture");
        }
    }
}

#[tokio::test]
async fn pages_of_the_demo_are_accessible_on_a_wide_screen() {
    check(WIDE).await;
}

#[tokio::test]
async fn pages_of_the_demo_are_accessible_on_a_phone() {
    check(PHONE).await;
}
