//! The running demo takes orders from `hermod demo mo` over a socket in its data folder, which only its owner can open:
//! one line of JSON each way. The order is carried out as a real handset would: the simulated carrier sends a `deliver_sm`.

use crate::ending::Failure;
use hermod_gateway::clock::Clock;
use hermod_gateway::clock::within;
use hermod_simulator::carrier::Carrier;
use serde::{Deserialize, Serialize};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{UnixListener, UnixStream};

pub(super) const SOCKET: &str = "demo.sock";
/// The longest order or answer.
const LINE_BYTES_MAX: u64 = 64 * 1024;
/// How long the other side may take for its line. Orders are taken one after the other.
const LINE_WAIT: Duration = Duration::from_secs(5);
/// How long the gateway may take to answer a message before the order is answered without that.
const TAKEN_WAIT: Duration = Duration::from_secs(5);

/// After the system could not give us a connection.
const ACCEPT_PAUSE: Duration = Duration::from_secs(1);

/// A handset is to send this.
#[derive(Serialize, Deserialize)]
pub(super) struct MoOrder {
    pub(super) from: String,
    /// Nothing: the demo's own number.
    pub(super) to: Option<String>,
    pub(super) text: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum MoAnswer {
    Sent {
        to: String,
        parts: usize,
        /// The gateway has answered the carrier: it is stored.
        taken: bool,
    },
    Refused(String),
}

/// The demo's end of the socket, which goes away with it.
pub(super) struct Control {
    listener: UnixListener,
    path: PathBuf,
    /// Where messages go that name no number.
    default_to: Option<String>,
}

impl Control {
    /// Opens the socket. One that an earlier demo left behind is replaced: the folder's lock says that nobody else runs.
    pub(super) fn open(folder: &Path, default_to: Option<String>) -> Result<Control, Failure> {
        let path = folder.join(SOCKET);
        let _ = std::fs::remove_file(&path);
        let open = || {
            let listener = UnixListener::bind(&path)?;
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
            Ok::<_, std::io::Error>(listener)
        };
        let listener = open().map_err(|error| {
            Failure::failed(format!("{}: {error}; name a --data-dir with a shorter path", path.display()))
        })?;
        Ok(Control { listener, path, default_to })
    }

    /// Carries out orders until it is dropped. A caller that makes no sense is answered, or forgotten.
    pub(super) async fn serve(&self, carrier: &Carrier, clock: &Clock) {
        loop {
            let Ok((stream, _)) = self.listener.accept().await else {
                clock.sleep(ACCEPT_PAUSE).await;
                continue;
            };
            let _ = within(LINE_WAIT + TAKEN_WAIT, self.answer(stream, carrier)).await;
        }
    }

    async fn answer(&self, mut stream: UnixStream, carrier: &Carrier) -> std::io::Result<()> {
        let line = within(LINE_WAIT, read_line(&mut stream)).await??;
        let answer = match serde_json::from_str(&line) {
            Ok(order) => self.carry_out(order, carrier).await,
            Err(error) => MoAnswer::Refused(format!("this is no order: {error}")),
        };
        write_line(&mut stream, &answer).await
    }

    async fn carry_out(&self, order: MoOrder, carrier: &Carrier) -> MoAnswer {
        let MoOrder { from, to, text } = order;
        let Some(to) = to.or_else(|| self.default_to.clone()) else {
            return MoAnswer::Refused("no account here has a number: say --to".to_owned());
        };
        let before = carrier.record().counts().mo_accepted;
        match carrier.send_mo(&from, &to, &text) {
            Ok(parts) => {
                let all = before + u64::try_from(parts).unwrap_or(u64::MAX);
                let seen = carrier.record();
                let taken = seen.wait_until(|record| record.counts().mo_accepted >= all, TAKEN_WAIT).await;
                MoAnswer::Sent { to, parts, taken: taken.is_ok() }
            }
            Err(sentence) => MoAnswer::Refused(sentence),
        }
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        // Should it stay, the next demo replaces it.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Asks the demo that runs on this folder.
pub(super) async fn ask(folder: &Path, order: &MoOrder) -> Result<MoAnswer, Failure> {
    let path = folder.join(SOCKET);
    let not_there = |error: std::io::Error| {
        Failure::failed(format!(
            "{}: {error}; no demo runs on this folder: start hermod demo, or name its --data-dir",
            path.display()
        ))
    };
    let mut stream = UnixStream::connect(&path).await.map_err(not_there)?;
    let asked = async {
        write_line(&mut stream, order).await?;
        read_line(&mut stream).await
    };
    let line = asked.await.map_err(|error| Failure::failed(format!("the demo did not answer: {error}")))?;
    serde_json::from_str(&line).map_err(|error| Failure::failed(format!("the demo did not answer: {error}")))
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
