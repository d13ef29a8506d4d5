//! What the demo says when it is ready: lines to paste, or one object for a script.

use crate::demo::credentials::Credentials;
use crate::demo::seed::SENDER;
use serde::Serialize;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::Path;

pub(super) struct Welcome<'a> {
    pub(super) address: SocketAddr,
    pub(super) credentials: &'a Credentials,
    pub(super) data_dir: &'a Path,
}

/// What a script gets. A field without a value stands for something this release does not have yet.
#[derive(Serialize)]
struct Ready<'a> {
    base_url: &'a str,
    api_key: &'a str,
    api_secret: &'a str,
    operator_token: Option<&'a str>,
    smpp_host: Option<&'a str>,
    smpp_port: Option<u16>,
    smpp_tls_port: Option<u16>,
    system_id: Option<&'a str>,
    password: Option<&'a str>,
    data_dir: &'a str,
}

impl Welcome<'_> {
    fn base_url(&self) -> String {
        format!("http://{}/api/v1", self.address)
    }

    pub(super) fn print_json(&self) {
        let Credentials { api_key, api_secret } = self.credentials;
        let ready = Ready {
            base_url: &self.base_url(),
            api_key,
            api_secret,
            operator_token: None,
            smpp_host: None,
            smpp_port: None,
            smpp_tls_port: None,
            system_id: None,
            password: None,
            data_dir: &self.data_dir.to_string_lossy(),
        };
        say(&format!("{}\n", serde_json::to_string(&ready).expect("texts and numbers")));
    }

    pub(super) fn print(&self) {
        let Credentials { api_key, api_secret } = self.credentials;
        let (base, address, folder) = (self.base_url(), self.address, self.data_dir.display());
        let curl = format!("curl -s -u {api_key}:{api_secret}");
        say(&format!(
            r#"
Hermod is ready. A simulated carrier delivers whatever you send: no phone will ring, no money is real.

  API      {base}
  Key      {api_key}
  Secret   {api_secret}
  Sender   {SENDER}
  Data     {folder}
  Figures  http://{address}/metrics

Send a message:

  {curl} {base}/sms -H 'Content-Type: application/json' -d '{{"to": "+4915112345678", "text": "Hello from Hermod"}}'

What became of it? Put its message_id in place of ID:

  {curl} {base}/sms/ID

What is left of the million?

  {curl} {base}/balance

Ctrl-C stops it. Start it again on the same folder and everything is still there.
"#
        ));
    }
}

/// Whoever closed our standard output still wants the gateway: that is no reason to stop.
fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
