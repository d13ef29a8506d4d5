//! The control socket of the running demo in its data folder, for `hermod demo mo`: one line of JSON each way. Only the
//! folder's owner can open it. The simulated carrier sends the MO message as a `deliver_sm`.

use crate::failure::Failure;
use hermod_gateway::clock::{Clock, within};
use hermod_simulator::carrier::SimulatedCarrier;
use serde::{Deserialize, Serialize};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{UnixListener, UnixStream};

pub(super) const SOCKET: &str = "demo.sock";
/// Octets of a request or response.
const LINE_BYTES_MAX: u64 = 64 * 1024;
/// Time for the peer to send its line. Requests are handled one after the other.
const LINE_WAIT: Duration = Duration::from_secs(5);
/// Time for the gateway to respond to the message.
const STORED_WAIT: Duration = Duration::from_secs(5);

/// Pause after a failed accept.
const ACCEPT_PAUSE: Duration = Duration::from_secs(1);

/// The MO message to send.
#[derive(Serialize, Deserialize)]
pub(super) struct MoRequest {
    pub(super) from: String,
    /// None: the demo's own number.
    pub(super) to: Option<String>,
    pub(super) text: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum MoResponse {
    Sent {
        to: String,
        parts: usize,
        /// Whether the gateway has responded, so stored it.
        stored: bool,
    },
    Rejected(String),
}

/// The demo's end of the socket, which is removed when it is dropped.
pub(super) struct ControlSocket {
    listener: UnixListener,
    path: PathBuf,
    /// The destination of messages without one.
    default_to: Option<String>,
}

impl ControlSocket {
    /// Opens the socket. A socket file of an earlier demo is replaced: the lock of the folder excludes a second demo.
    pub(super) fn open(folder: &Path, default_to: Option<String>) -> Result<ControlSocket, Failure> {
        let path = folder.join(SOCKET);
        let _ = std::fs::remove_file(&path);
        let open = || {
            let listener = UnixListener::bind(&path)?;
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
            Ok::<_, std::io::Error>(listener)
        };
        let listener = open().map_err(|error| {
            Failure::failed(format!("{}: {error}; choose a --data-dir with a shorter path", path.display()))
        })?;
        Ok(ControlSocket { listener, path, default_to })
    }

    /// Handles requests until it is dropped. Errors of single connections are ignored.
    pub(super) async fn serve(&self, carrier: &SimulatedCarrier, clock: &Clock) {
        loop {
            let Ok((stream, _)) = self.listener.accept().await else {
                clock.sleep(ACCEPT_PAUSE).await;
                continue;
            };
            let _ = within(LINE_WAIT + STORED_WAIT, self.handle(stream, carrier)).await;
        }
    }

    async fn handle(&self, mut stream: UnixStream, carrier: &SimulatedCarrier) -> std::io::Result<()> {
        let line = within(LINE_WAIT, read_line(&mut stream)).await??;
        let response = match serde_json::from_str(&line) {
            Ok(request) => self.send_mo(request, carrier).await,
            Err(error) => MoResponse::Rejected(format!("invalid request: {error}")),
        };
        write_line(&mut stream, &response).await
    }

    async fn send_mo(&self, request: MoRequest, carrier: &SimulatedCarrier) -> MoResponse {
        let MoRequest { from, to, text } = request;
        let Some(to) = to.or_else(|| self.default_to.clone()) else {
            return MoResponse::Rejected("no account has a number: set --to".to_owned());
        };
        let before = carrier.record().counts().mo_accepted;
        match carrier.send_mo(&from, &to, &text) {
            Ok(parts) => {
                let all = before + u64::try_from(parts).unwrap_or(u64::MAX);
                let record = carrier.record();
                let stored =
                    record.wait_until(|record| record.counts().mo_accepted >= all, STORED_WAIT).await;
                MoResponse::Sent { to, parts, stored: stored.is_ok() }
            }
            Err(sentence) => MoResponse::Rejected(sentence),
        }
    }
}

impl Drop for ControlSocket {
    fn drop(&mut self) {
        // The next demo replaces a file that remains.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Sends a request to the demo that runs on this folder.
pub(super) async fn send(folder: &Path, request: &MoRequest) -> Result<MoResponse, Failure> {
    let path = folder.join(SOCKET);
    let not_there = |error: std::io::Error| {
        Failure::failed(format!(
            "{}: {error}; no demo runs on this folder: start hermod demo, or set its --data-dir",
            path.display()
        ))
    };
    let mut stream = UnixStream::connect(&path).await.map_err(not_there)?;
    let exchange = async {
        write_line(&mut stream, request).await?;
        read_line(&mut stream).await
    };
    let line =
        exchange.await.map_err(|error| Failure::failed(format!("the demo did not respond: {error}")))?;
    serde_json::from_str(&line).map_err(|error| Failure::failed(format!("the demo did not respond: {error}")))
}

async fn read_line(stream: &mut UnixStream) -> std::io::Result<String> {
    let mut line = String::new();
    BufReader::new(stream.take(LINE_BYTES_MAX)).read_line(&mut line).await?;
    Ok(line)
}

async fn write_line(stream: &mut UnixStream, value: &impl Serialize) -> std::io::Result<()> {
    let line = format!("{}\n", serde_json::to_string(value)?);
    stream.write_all(line.as_bytes()).await
}
