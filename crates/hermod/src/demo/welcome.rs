//! The demo's welcome: commands to paste, or JSON for a script.

use crate::demo::credentials::{ApiKeyPair, BindPair};
use crate::demo::seed::{PortalAccess, SENDER};
use crate::failure::CommandResult;
use crate::output::{print, safe};
use hermod_simulator::carrier::{MAGIC_NUMBERS, MagicNumber};
use serde::Serialize;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// The recipient in the example commands.
const PHONE: &str = "+4915112345678";
/// The digits before the ending of a magic number, which make a German number.
const MAGIC_START: &str = "+49151";

pub(super) struct WelcomeText<'a> {
    pub(super) address: SocketAddr,
    /// Keys whose secrets are known.
    pub(super) keys: Vec<ApiKeyPair>,
    pub(super) smpp: DemoSmpp,
    pub(super) portal: PortalAccess,
    pub(super) operator_token: String,
    pub(super) data_dir: &'a Path,
    /// The destination of MO messages.
    pub(super) number: Option<String>,
    /// The provision file, if any.
    pub(super) file: Option<&'a Path>,
}

/// Ports and credentials of SMPP.
pub(super) struct DemoSmpp {
    pub(super) port: Option<u16>,
    pub(super) tls_port: Option<u16>,
    pub(super) fingerprint: Option<String>,
    /// Binds whose passwords are known.
    pub(super) binds: Vec<BindPair>,
}

/// The JSON output. Unknown values are null.
#[derive(Serialize)]
struct Ready<'a> {
    base_url: &'a str,
    api_key: Option<&'a str>,
    api_secret: Option<&'a str>,
    keys: &'a [ApiKeyPair],
    operator_url: &'a str,
    operator_token: &'a str,
    #[serde(flatten)]
    portal: &'a PortalAccess,
    smpp_host: Option<&'a str>,
    smpp_port: Option<u16>,
    smpp_tls_port: Option<u16>,
    system_id: Option<&'a str>,
    password: Option<&'a str>,
    /// SHA-256 of the certificate at `smpp_tls_port`.
    smpp_tls_fingerprint: Option<&'a str>,
    binds: &'a [BindPair],
    data_dir: &'a str,
}

impl WelcomeText<'_> {
    fn base_url(&self) -> String {
        format!("http://{}/api/v1", self.address)
    }

    pub(super) fn print_json(&self) -> CommandResult {
        let (first, bind) = (self.keys.first(), self.smpp.binds.first());
        let ready = Ready {
            base_url: &self.base_url(),
            api_key: first.map(|pair| pair.api_key.as_str()),
            api_secret: first.map(|pair| pair.api_secret.as_str()),
            keys: &self.keys,
            operator_url: &format!("http://{}/operator/v1", self.address),
            operator_token: &self.operator_token,
            portal: &self.portal,
            smpp_host: Some("127.0.0.1"),
            smpp_port: self.smpp.port,
            smpp_tls_port: self.smpp.tls_port,
            system_id: bind.map(|bind| bind.system_id.as_str()),
            password: bind.map(|bind| bind.password.as_str()),
            smpp_tls_fingerprint: self.smpp.fingerprint.as_deref(),
            binds: &self.smpp.binds,
            data_dir: &self.data_dir.to_string_lossy(),
        };
        print(&format!("{}\n", serde_json::to_string(&ready).expect("texts and numbers")))
    }

    pub(super) fn print(&self) -> CommandResult {
        let mut text = format!(
            "\nHermod is ready. A simulated carrier accepts all messages: no real SMS is sent, and the money is not real.\n\n\
             {}",
            self.facts()
        );
        text.push_str(&self.lines_to_paste(&hermod_command()));
        text.push_str("\nCtrl-C stops it. Another start on the same folder keeps all data.\n");
        print(&text)
    }

    fn facts(&self) -> String {
        let (base, address, folder) = (self.base_url(), self.address, self.data_dir.display());
        let mut text = format!("  API      {base}\n");
        for ApiKeyPair { api_key, api_secret } in &self.keys {
            text.push_str(&format!("  Key      {}\n  Secret   {}\n", safe(api_key), safe(api_secret)));
        }
        text.push_str(&self.bind_card());
        let PortalAccess { portal_url, portal_email, portal_password } = &self.portal;
        text.push_str(&format!(
            "  Portal   {portal_url}\n  E-mail   {portal_email}\n  Password {portal_password}\n"
        ));
        match self.file {
            Some(file) => text.push_str(&format!("  File     {}\n", file.display())),
            None => text.push_str(&format!("  Sender   {SENDER}\n")),
        }
        if let Some(number) = &self.number {
            text.push_str(&format!("  Number   {} (for MO messages)\n", safe(number)));
        }
        text.push_str(&format!(
            "  Data     {folder}\n  Docs     http://{address}/docs\n  Metrics  http://{address}/metrics\n"
        ));
        text
    }

    /// The settings of an SMPP client.
    fn bind_card(&self) -> String {
        let DemoSmpp { port, tls_port, fingerprint, binds } = &self.smpp;
        let mut text = String::new();
        if let Some(port) = port {
            let over_tls = tls_port.map(|port| format!(", over TLS port {port}")).unwrap_or_default();
            text.push_str(&format!("  SMPP     127.0.0.1 port {port}{over_tls}\n"));
        }
        for BindPair { system_id, password } in binds {
            text.push_str(&format!(
                "  Bind     system_id {}, password {}\n",
                safe(system_id),
                safe(password)
            ));
        }
        if let Some(fingerprint) = fingerprint {
            text.push_str(&format!("  TLS      certificate SHA-256 {fingerprint}\n"));
        }
        text
    }

    /// Every line that starts with two spaces can be pasted into a shell, beginning with the first.
    fn lines_to_paste(&self, hermod: &str) -> String {
        let mut text = format!("\nIn another terminal, paste this line first:\n\n  {}\n", self.exports());
        if !self.keys.is_empty() {
            text.push_str(&format!(
                r#"
Send a message, wait for its delivery, and show the balance:

  {hermod} send --to {PHONE} --text 'Hello from Hermod' --wait
  {hermod} balance

The same with the HTTP API:

  curl -s -u "$HERMOD_API_KEY:$HERMOD_API_SECRET" "$HERMOD_URL/api/v1/sms" -H 'Content-Type: application/json' -d '{{"to": "{PHONE}", "text": "Hello from Hermod"}}'
  curl -s -u "$HERMOD_API_KEY:$HERMOD_API_SECRET" "$HERMOD_URL/api/v1/balance"
"#
            ));
        }
        if self.number.is_some() && !self.keys.is_empty() {
            text.push_str(&format!(
                r"
Receive an MO message; then an opt-out, after which messages to that phone are rejected:

  {hermod} demo mo --from {PHONE} --text 'Where is my parcel?'
  {hermod} inbound
  {hermod} demo mo --from {PHONE} --text STOP
"
            ));
        }
        text.push_str(&format!(
            r"
Operate the gateway:

  {hermod} account list
  {hermod} links
  {hermod} alarms
"
        ));
        text.push_str(&magic_numbers());
        text
    }

    /// The environment variables with which commands in another terminal find this demo.
    fn exports(&self) -> String {
        let mut line = format!("export HERMOD_DATA_DIR={}", quoted(&self.data_dir.to_string_lossy()));
        if let Some(ApiKeyPair { api_key, api_secret }) = self.keys.first() {
            let url = format!("http://{}", self.address);
            for (name, value) in
                [("HERMOD_URL", url.as_str()), ("HERMOD_API_KEY", api_key), ("HERMOD_API_SECRET", api_secret)]
            {
                line.push_str(&format!(" {name}={}", quoted(value)));
            }
        }
        line
    }
}

fn magic_numbers() -> String {
    let lines = MAGIC_NUMBERS
        .map(|MagicNumber { ending, outcome }| format!("    {MAGIC_START}{ending}: {outcome}\n"));
    format!("\nMessages to these numbers have a fixed outcome:\n\n{}", lines.concat())
}

/// Returns how a shell calls this program: by its name if that is found in PATH, otherwise by its path.
fn hermod_command() -> String {
    let Ok(own) = std::env::current_exe() else { return "hermod".to_owned() };
    let same = |found: PathBuf| found.canonicalize().ok() == own.canonicalize().ok();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let first = std::env::split_paths(&path).map(|folder| folder.join("hermod")).find(|file| file.is_file());
    if first.is_some_and(same) { "hermod".to_owned() } else { quoted(&own.to_string_lossy()) }
}

/// Quotes a text as one word of a shell.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-:+@%".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
#[path = "welcome_tests.rs"]
mod tests;
