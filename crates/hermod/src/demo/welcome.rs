//! What the demo says when it is ready: lines to paste, or one object for a script.

use crate::demo::credentials::{BindPair, Pair};
use crate::demo::seed::SENDER;
use crate::ending::Ended;
use crate::show::{safe, say};
use serde::Serialize;
use std::net::SocketAddr;
use std::path::Path;

pub(super) struct Welcome<'a> {
    pub(super) address: SocketAddr,
    /// Those whose secrets are known.
    pub(super) keys: Vec<Pair>,
    pub(super) smpp: SmppDoor,
    pub(super) operator_token: String,
    pub(super) data_dir: &'a Path,
    /// The file it started from, if that were not its own data.
    pub(super) file: Option<&'a Path>,
}

/// Where customers bind, and with what.
pub(super) struct SmppDoor {
    pub(super) port: Option<u16>,
    pub(super) tls_port: Option<u16>,
    pub(super) fingerprint: Option<String>,
    /// Those whose passwords are known.
    pub(super) binds: Vec<BindPair>,
}

/// What a script gets. A field without a value stands for something that is not known.
#[derive(Serialize)]
struct Ready<'a> {
    base_url: &'a str,
    api_key: Option<&'a str>,
    api_secret: Option<&'a str>,
    keys: &'a [Pair],
    operator_url: &'a str,
    operator_token: &'a str,
    smpp_host: Option<&'a str>,
    smpp_port: Option<u16>,
    smpp_tls_port: Option<u16>,
    system_id: Option<&'a str>,
    password: Option<&'a str>,
    /// SHA-256 of the certificate that is shown at `smpp_tls_port`.
    smpp_tls_fingerprint: Option<&'a str>,
    binds: &'a [BindPair],
    data_dir: &'a str,
}

impl Welcome<'_> {
    fn base_url(&self) -> String {
        format!("http://{}/api/v1", self.address)
    }

    pub(super) fn print_json(&self) -> Ended {
        let (first, bind) = (self.keys.first(), self.smpp.binds.first());
        let ready = Ready {
            base_url: &self.base_url(),
            api_key: first.map(|pair| pair.api_key.as_str()),
            api_secret: first.map(|pair| pair.api_secret.as_str()),
            keys: &self.keys,
            operator_url: &format!("http://{}/operator/v1", self.address),
            operator_token: &self.operator_token,
            smpp_host: Some("127.0.0.1"),
            smpp_port: self.smpp.port,
            smpp_tls_port: self.smpp.tls_port,
            system_id: bind.map(|bind| bind.system_id.as_str()),
            password: bind.map(|bind| bind.password.as_str()),
            smpp_tls_fingerprint: self.smpp.fingerprint.as_deref(),
            binds: &self.smpp.binds,
            data_dir: &self.data_dir.to_string_lossy(),
        };
        say(&format!("{}\n", serde_json::to_string(&ready).expect("texts and numbers")))
    }

    pub(super) fn print(&self) -> Ended {
        let mut text = format!(
            "\nHermod is ready. A simulated carrier delivers whatever you send: no phone will ring, no money is real.\n\n\
             {}",
            self.facts()
        );
        if let Some(Pair { api_key, api_secret }) = self.keys.first() {
            text.push_str(&self.lines_to_paste(api_key, api_secret));
        }
        text.push_str(
            "\nCtrl-C stops it. Start it again on the same folder and everything is still there.\n",
        );
        say(&text)
    }

    fn facts(&self) -> String {
        let (base, address, folder) = (self.base_url(), self.address, self.data_dir.display());
        let mut text = format!("  API      {base}\n");
        for Pair { api_key, api_secret } in &self.keys {
            text.push_str(&format!("  Key      {}\n  Secret   {}\n", safe(api_key), safe(api_secret)));
        }
        text.push_str(&self.bind_card());
        match self.file {
            Some(file) => text.push_str(&format!("  File     {}\n", file.display())),
            None => text.push_str(&format!("  Sender   {SENDER}\n")),
        }
        text.push_str(&format!(
            "  Data     {folder}\n  Docs     http://{address}/docs\n  Figures  http://{address}/metrics\n"
        ));
        text
    }

    /// What somebody types into an SMPP client.
    fn bind_card(&self) -> String {
        let SmppDoor { port, tls_port, fingerprint, binds } = &self.smpp;
        let mut text = String::new();
        if let Some(port) = port {
            let sealed = tls_port.map(|port| format!(", over TLS port {port}")).unwrap_or_default();
            text.push_str(&format!("  SMPP     127.0.0.1 port {port}{sealed}\n"));
        }
        for BindPair { system_id, password } in binds {
            text.push_str(&format!(
                "  Bind     system_id {}, password {}\n",
                safe(system_id),
                safe(password)
            ));
        }
        if let Some(fingerprint) = fingerprint {
            text.push_str(&format!("  Seal     SHA-256 {fingerprint}\n"));
        }
        text
    }

    fn lines_to_paste(&self, api_key: &str, api_secret: &str) -> String {
        let (base, folder) = (self.base_url(), self.data_dir.display());
        let curl = format!("curl -s -u {api_key}:{api_secret}");
        format!(
            r#"
Send a message:

  {curl} {base}/sms -H 'Content-Type: application/json' -d '{{"to": "+4915112345678", "text": "Hello from Hermod"}}'

What became of it? Put its message_id in place of ID:

  {curl} {base}/sms/ID

What is left of the money?

  {curl} {base}/balance

Look after it as its operator, from another terminal:

  hermod account list --data-dir {folder}
"#
        )
    }
}
