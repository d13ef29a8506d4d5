//! Accepts connections of other nodes, and checks who connects.

use super::frames::{Hello, VERSION, Welcome};
use super::session::NodeSession;
use super::sessions::EngineSessions;
use super::strangers::{Line, LineLimit, Strangers};
use super::wire::{NodeConnector, Reading, Writing, decoded, read_octets, write_frame};
use crate::backend::BootTime;
use hermod_domain::time::Timestamp;
use metrics::counter;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// How far the clocks of two nodes may differ.
const CLOCKS_DIFFER_MAX: Duration = Duration::from_secs(5);
/// How long a new connection may take to prove that it has the key.
const GREETING_MAX: Duration = Duration::from_secs(3);
/// How often the log is looked after while nobody connects.
const LOOK_EVERY: Duration = Duration::from_secs(10);
/// Pause after a connection could not be accepted. The cause, such as too many open files, lasts: without a pause the next try
/// would fail at once.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Accepts nodes. `engine` has the sessions while this process runs the engine.
pub(crate) async fn listen(
    listener: TcpListener,
    wire: Arc<NodeConnector>,
    store: [u8; 16],
    now: impl Fn() -> Timestamp + Clone + Send + Sync + 'static,
    engine: watch::Receiver<Option<Arc<EngineSessions>>>,
) {
    let strangers = Arc::new(Strangers::default());
    let mut failed_accepts = LineLimit::default();
    let mut tasks = JoinSet::new();
    loop {
        while tasks.try_join_next().is_some() {}
        let accepted = accept(listener.accept(), &mut failed_accepts);
        let Ok((socket, peer)) = within(LOOK_EVERY, accepted).await else {
            if let Some(Line { failed }) = strangers.line(BootTime::now().since_boot()) {
                tracing::warn!(failed, "{REFUSED}");
            }
            continue;
        };
        let greeting = match strangers.admit(peer.ip(), BootTime::now().since_boot()) {
            Ok(greeting) => greeting,
            Err(refused) => {
                let why = io::Error::other(refused.reason());
                note_refused(&strangers, peer, refused.reason(), &why);
                continue;
            }
        };
        let (wire, engine, now, strangers) = (wire.clone(), engine.clone(), now.clone(), strangers.clone());
        tasks.spawn(async move {
            let greeted = within(GREETING_MAX, greet(&wire, socket, store, &now, &engine)).await;
            let (sessions, hello, reading, writing) = match greeted {
                Ok(greeted) => {
                    greeting.succeeded();
                    let Some(greeted) = greeted else { return };
                    greeted
                }
                Err(error) => {
                    greeting.failed(BootTime::now().since_boot());
                    return note_refused(&strangers, peer, "failed", &error);
                }
            };
            if let Err(error) = NodeSession::serve(sessions, &hello, reading, writing).await {
                tracing::warn!(%error, %peer, "The connection of another node ended");
            }
        });
    }
}

/// Accepts a connection. After an error it pauses, and the log gets a line a minute.
async fn accept<T>(accepting: impl Future<Output = io::Result<T>>, failed: &mut LineLimit) -> io::Result<T> {
    let accepted = accepting.await;
    if let Err(error) = &accepted {
        if let Some(Line { failed }) = failed.note(BootTime::now().since_boot()) {
            tracing::warn!(%error, failed, "Connections to the node port could not be accepted since the last such line");
        }
        pause(ACCEPT_PAUSE).await;
    }
    accepted
}

/// What the log says of connections that were not served.
const REFUSED: &str = "Connections to the node port were refused since the last such line; hermod_node_connections_refused_total \
     counts them. If they are not of other nodes, let only the nodes reach [node] listen";

/// Counts a connection that was not served. The log gets a line a minute.
fn note_refused(strangers: &Strangers, peer: SocketAddr, reason: &'static str, error: &io::Error) {
    counter!("hermod_node_connections_refused_total", "reason" => reason).increment(1);
    if let Some(Line { failed }) = strangers.note(BootTime::now().since_boot()) {
        tracing::warn!(failed, %peer, %error, "{REFUSED}");
    }
}

type Greeted = (Arc<EngineSessions>, Hello, Reading, Writing);

/// Checks who connects. Returns none if the engine is not here.
async fn greet(
    wire: &NodeConnector,
    socket: TcpStream,
    store: [u8; 16],
    now: &(impl Fn() -> Timestamp + Sync),
    engine: &watch::Receiver<Option<Arc<EngineSessions>>>,
) -> io::Result<Option<Greeted>> {
    let (mut reading, mut writing) = wire.accept(socket).await?;
    let mut octets = Vec::new();
    read_octets(&mut reading, &mut octets).await?;
    // Only the version is the same in all versions.
    let version: u16 = decoded(&octets)?;
    let accepted = if version == VERSION {
        let hello: Hello = decoded(&octets)?;
        refusal(&hello, store, now()).map_or(Ok(hello), Err)
    } else {
        Err(format!("this node speaks version {VERSION}, the other one {version}"))
    };
    let hello = match accepted {
        Ok(hello) => hello,
        Err(why) => {
            write_frame(&mut writing, &Welcome::Refused(why.clone())).await?;
            writing.flush().await?;
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
        }
    };
    let sessions = engine.borrow().clone();
    let Some(sessions) = sessions else {
        write_frame(&mut writing, &Welcome::NotHere).await?;
        writing.flush().await?;
        return Ok(None);
    };
    Ok(Some((sessions, hello, reading, writing)))
}

/// Returns why a node is not served.
fn refusal(hello: &Hello, store: [u8; 16], here: Timestamp) -> Option<String> {
    let differ = here.since(hello.now).max(hello.now.since(here));
    if hello.store != store {
        return Some("the nodes have different databases".to_owned());
    }
    (differ > CLOCKS_DIFFER_MAX)
        .then(|| format!("the clocks of the nodes differ by {} s; set them by NTP", differ.as_secs()))
}

#[expect(clippy::disallowed_methods, reason = "no event says that the system accepts connections again")]
async fn pause(pause: Duration) {
    tokio::time::sleep(pause).await;
}

#[expect(clippy::disallowed_methods, reason = "a connection that proves nothing is noticed in real time")]
async fn within<T>(limit: Duration, work: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    tokio::time::timeout(limit, work).await.map_err(|_| io::ErrorKind::TimedOut)?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn connection_that_cannot_be_accepted_pauses_and_the_log_gets_one_line() {
        let (begun, mut failed) = (BootTime::now().since_boot(), LineLimit::default());
        for _ in 0..2 {
            let too_many_files = io::Error::from(rustix::io::Errno::MFILE);
            let error =
                accept(std::future::ready(Err::<(), _>(too_many_files)), &mut failed).await.unwrap_err();
            assert_eq!(error.raw_os_error(), Some(rustix::io::Errno::MFILE.raw_os_error()));
        }
        let now = BootTime::now().since_boot();
        assert!(now - begun >= 2 * ACCEPT_PAUSE, "{:?}", now - begun);
        assert_eq!(failed.note(now), None, "the first failure was logged");
    }
}
