//! The process of Chromium's driver, one for each test. It is killed on drop, and the browser ends with it.

use crate::clients::program;
use bytes::Bytes;
use fantoccini::wd::Capabilities;
use fantoccini::{Client, ClientBuilder};
use http_body_util::{BodyExt as _, Full};
use hyper::Request;
use hyper_util::client::legacy::Client as HttpClient;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Child, ChildStdout, Command, Stdio};

/// Whether pages may run scripts.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Scripts {
    On,
    Off,
}

pub(super) struct Driver {
    child: Child,
    address: SocketAddr,
    /// Kept open: the driver would fail to write to a closed one.
    _stdout: BufReader<ChildStdout>,
    /// The browser's profile.
    profile: tempfile::TempDir,
}

impl Driver {
    /// Starts the driver on a free port.
    pub(super) fn start() -> Driver {
        let mut command = Command::new(program("chromium"));
        command.arg("--port=0").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("`cargo xtask client chromium` has installed the driver");
        let mut stdout = BufReader::new(child.stdout.take().expect("it is piped"));
        let port = loop {
            let mut line = String::new();
            let read = stdout.read_line(&mut line).expect("lines of text");
            assert!(read > 0, "the driver of Chromium ended before it said its port");
            if let Some((_, port)) = line.trim_end().split_once("started successfully on port ") {
                break port.trim_end_matches('.').parse().expect("a port");
            }
        };
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let profile = tempfile::tempdir().expect("a temporary folder");
        Driver { child, address, _stdout: stdout, profile }
    }

    /// Starts a browser.
    pub(super) async fn connect(&self, scripts: Scripts) -> Client {
        let mut builder = ClientBuilder::new(HttpConnector::new());
        builder.capabilities(self.capabilities(scripts));
        let url = format!("http://{}", self.address);
        builder.connect(&url).await.expect("Chromium starts; `cargo xtask client chromium` installs it")
    }

    fn capabilities(&self, scripts: Scripts) -> Capabilities {
        let profile = format!("--user-data-dir={}", self.profile.path().display());
        let mut args = vec![
            "--headless=new",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-extensions",
            "--disable-background-networking",
            "--no-first-run",
            // The browser ends when the driver's end of the pipe is closed, also if the driver was killed.
            "--remote-debugging-pipe",
            "--lang=en-GB",
            "--window-size=1280,900",
            &profile,
        ];
        // Chromium's sandbox refuses to run as root, which builds in containers are.
        if rustix::process::geteuid().is_root() {
            args.push("--no-sandbox");
        }
        const BLOCK: u8 = 2;
        let preferences = match scripts {
            Scripts::On => json!({}),
            Scripts::Off => json!({ "profile.managed_default_content_settings.javascript": BLOCK }),
        };
        let wanted = json!({
            "browserName": "chrome",
            "goog:chromeOptions": { "args": args, "prefs": preferences },
            "goog:loggingPrefs": { "browser": "ALL" },
        });
        wanted.as_object().expect("an object").clone()
    }

    /// Sends a command of Chromium's own protocol to the page.
    pub(super) async fn devtools(&self, session: &str, command: &str, params: Value) -> Value {
        let path = format!("/session/{session}/goog/cdp/execute");
        self.post(&path, &json!({ "cmd": command, "params": params })).await
    }

    /// Returns what the console got since the last call.
    pub(super) async fn console(&self, session: &str) -> Vec<Value> {
        let entries = self.post(&format!("/session/{session}/se/log"), &json!({ "type": "browser" })).await;
        entries.as_array().cloned().unwrap_or_default()
    }

    async fn post(&self, path: &str, body: &Value) -> Value {
        let client = HttpClient::builder(TokioExecutor::new()).build(HttpConnector::new());
        let request = Request::post(format!("http://{}{path}", self.address))
            .header("content-type", "application/json")
            .body(Full::new(Bytes::from(body.to_string())));
        let answer = client.request(request.expect("a request")).await.expect("the driver answers");
        let status = answer.status();
        let text = answer.into_body().collect().await.expect("the driver answers").to_bytes();
        let mut answer: Value = serde_json::from_slice(&text).expect("the driver answers with JSON");
        assert_eq!(status, 200, "{path}: {answer}");
        answer["value"].take()
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // An error means that the process has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
