//! Accepts connections of other nodes, and checks who connects.

use super::frames::{Hello, VERSION, Welcome};
use super::session::Session;
use super::sessions::EngineSessions;
use super::wire::{Reading, Wire, Writing, decoded, read_octets, write_frame};
use hermod_domain::time::Timestamp;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

/// How far the clocks of two nodes may differ.
const CLOCKS_DIFFER_MAX: Duration = Duration::from_secs(5);
/// How long a new connection may take to prove that it has the key.
const GREETING_MAX: Duration = Duration::from_secs(3);
/// Connections that may be greeted at a time.
const GREETINGS_MAX: usize = 64;

/// Accepts nodes. `engine` has the sessions while this process runs the engine.
pub(crate) async fn listen(
    listener: TcpListener,
    wire: Arc<Wire>,
    store: [u8; 16],
    now: impl Fn() -> Timestamp + Clone + Send + Sync + 'static,
    engine: watch::Receiver<Option<Arc<EngineSessions>>>,
) {
    let greetings = Arc::new(Semaphore::new(GREETINGS_MAX));
    let mut tasks = JoinSet::new();
    loop {
        while tasks.try_join_next().is_some() {}
        let Ok((socket, peer)) = listener.accept().await else { continue };
        let Ok(permit) = greetings.clone().try_acquire_owned() else { continue };
        let (wire, engine, now) = (wire.clone(), engine.clone(), now.clone());
        tasks.spawn(async move {
            let greeted = within(GREETING_MAX, greet(&wire, socket, store, &now, &engine)).await;
            drop(permit);
            let served = match greeted {
                Ok(Some((sessions, hello, reading, writing))) => {
                    Session::serve(sessions, &hello, reading, writing).await
                }
                Ok(None) => return,
                Err(error) => Err(error),
            };
            if let Err(error) = served {
                tracing::warn!(%error, %peer, "The connection of another node ended");
            }
        });
    }
}

type Greeted = (Arc<EngineSessions>, Hello, Reading, Writing);

/// Checks who connects. Returns none if the engine is not here.
async fn greet(
    wire: &Wire,
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

#[expect(clippy::disallowed_methods, reason = "a connection that proves nothing is noticed in real time")]
async fn within<T>(limit: Duration, work: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    tokio::time::timeout(limit, work).await.map_err(|_| io::ErrorKind::TimedOut)?
}
