//! The simulator's clock, sleeps and tasks. The simulator stands for the outside world, where time is real,
//! so it may ask the machine for it: here, and nowhere else in the crate.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::Sleep;
use tokio::time::error::Elapsed;

/// Clock ticks per second in /proc/self/stat. Linux has reported 100 to user space for decades.
const TICKS_PER_SECOND: u64 = 100;

/// Returns the monotonic time.
#[expect(clippy::disallowed_methods, reason = "the outside world runs on real time; this is its one clock")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Returns the time since 1970, for dates in receipts and for numbers that must differ between runs.
#[expect(clippy::disallowed_methods, reason = "the outside world runs on real time; this is its one clock")]
pub(crate) fn unix_time() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("the machine's clock stands after 1970")
}

/// Sleeps until `at`, up to a millisecond longer: the runtime's timer step.
pub(crate) async fn sleep_until(at: Instant) {
    tokio::time::sleep_until(at.into()).await;
}

/// Sleeps for `pause`.
pub(crate) async fn pause(pause: Duration) {
    sleep_until(now() + pause).await;
}

/// Waits for `future` for at most `limit` of real time: for sockets, processes and shutdown, which follow no test's clock.
/// The error says that the limit passed first.
#[expect(clippy::disallowed_methods, reason = "the outside world runs on real time; this is its one clock")]
pub(crate) async fn within<T>(limit: Duration, future: impl Future<Output = T>) -> Result<T, Elapsed> {
    tokio::time::timeout(limit, future).await
}

/// Starts a task. The caller keeps the handle and ends the task.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place in this crate that starts tasks; handles are kept"
)]
pub(crate) fn spawn<T: Send + 'static>(task: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
    tokio::spawn(task)
}

/// Connections that may wait to be accepted.
const BACKLOG: u32 = 4096;

/// Listens on this address; port 0 selects a free one.
pub(crate) fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Serves each connection in a task of its own, at most this many at one time; further ones are closed at once. Returns the tasks when
/// it is stopped, or when the sender of `stop` is dropped.
pub(crate) async fn accept<F: Future<Output = ()> + Send + 'static>(
    listener: TcpListener,
    connections_max: usize,
    mut stop: watch::Receiver<bool>,
    mut serve: impl FnMut(TcpStream) -> F,
) -> JoinSet<()> {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else { continue };
                if connections.len() < connections_max && stream.set_nodelay(true).is_ok() {
                    connections.spawn(serve(stream));
                }
            }
            Some(ended) = connections.join_next() => ended.expect("a connection's task does not panic"),
            _ = stop.changed() => return connections,
        }
    }
}

/// A reusable timer. Setting it costs nothing while it is already set to an earlier time.
pub(crate) struct Timer {
    sleep: Pin<Box<Sleep>>,
    at: Option<Instant>,
}

impl Timer {
    pub(crate) fn new() -> Timer {
        Timer { sleep: Box::pin(tokio::time::sleep_until(now().into())), at: None }
    }

    /// Expires at `at` at the latest; earlier if it was set to an earlier time before.
    pub(crate) fn set(&mut self, at: Instant) {
        if self.at.is_none_or(|earlier| at < earlier) {
            self.sleep.as_mut().reset(at.into());
            self.at = Some(at);
        }
    }

    /// Is ready once the timer expires, which then has to be set again.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.at.is_none() {
            return Poll::Pending;
        }
        let woken = self.sleep.as_mut().poll(cx);
        if woken.is_ready() {
            self.at = None;
        }
        woken
    }
}

/// Returns the CPU time of this process in steps of 10 ms; zero where /proc is not available.
pub(crate) fn cpu_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The process name in parentheses may contain spaces; the fields after it do not.
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let times = after_name.split_whitespace().skip(11).take(2);
    let ticks: u64 = times.filter_map(|word| word.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND)
}
