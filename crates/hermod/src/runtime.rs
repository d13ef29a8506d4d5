//! The tokio runtime, listening sockets and signals. SIGHUP reloads the certificate, SIGTERM and SIGINT stop the process: the
//! first one drains the gateway, the second one ends it at once, which is safe because everything acknowledged is stored.

use crate::failure::{CommandResult, Failure};
use hermod_gateway::running::Running;
use std::future::Future;
use std::io::ErrorKind;
use std::net::SocketAddr;
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};

const EXIT_SECOND_SIGNAL: i32 = 130;

pub(crate) fn block_on(work: impl Future<Output = CommandResult>) -> CommandResult {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_name("hermod")
        .build()
        .map_err(|error| Failure::failed(format!("cannot start the runtime: {error}")))?;
    runtime.block_on(work)
}

/// Listens on an address. `instead` says what to do if it is in use.
pub(crate) async fn bind(address: SocketAddr, instead: &str) -> Result<TcpListener, Failure> {
    TcpListener::bind(address).await.map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => Failure::usage(format!("{address} is in use by another process; {instead}")),
        ErrorKind::AddrNotAvailable => {
            Failure::usage(format!("{address} is not an address of this machine; {instead}"))
        }
        ErrorKind::PermissionDenied => {
            Failure::usage(format!("no permission to listen on {address}; {instead}"))
        }
        _ => Failure::failed(format!("cannot listen on {address}: {error}")),
    })
}

pub(crate) struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
}

impl Signals {
    pub(crate) fn listen() -> Result<Signals, Failure> {
        let listen = |kind| signal(kind).map_err(|error| Failure::failed(format!("signals: {error}")));
        Ok(Signals {
            terminate: listen(SignalKind::terminate())?,
            interrupt: listen(SignalKind::interrupt())?,
            hangup: listen(SignalKind::hangup())?,
        })
    }

    /// Waits for a signal to stop and returns its name. Calls `reload` at each SIGHUP.
    async fn stop_signal(&mut self, reload: impl Fn()) -> &'static str {
        loop {
            tokio::select! {
                _ = self.terminate.recv() => return "SIGTERM",
                _ = self.interrupt.recv() => return "SIGINT",
                _ = self.hangup.recv() => reload(),
            }
        }
    }

    /// Waits for a signal to stop.
    pub(crate) async fn wait_for_stop(&mut self) {
        self.stop_signal(|| {}).await;
    }

    /// Runs a shutdown to its end, unless a second signal ends the process.
    pub(crate) async fn or_exit_at_second_signal<T>(&mut self, stopping: impl Future<Output = T>) -> T {
        tokio::select! {
            stopped = stopping => stopped,
            signal = self.stop_signal(|| {}) => {
                tracing::warn!(signal, "Second signal: exiting without waiting");
                std::process::exit(EXIT_SECOND_SIGNAL)
            }
        }
    }
}

/// Runs a gateway until a signal or the operator stops it, then drains it. `before` runs once load balancers can see that it stops.
pub(crate) async fn run_until_stopped(
    running: Running,
    signals: &mut Signals,
    before: impl Future<Output = ()>,
) -> CommandResult {
    let stop_wanted = running.gateway().stop_wanted.clone();
    let signal = tokio::select! {
        signal = signals.stop_signal(|| running.reload()) => signal,
        () = stop_wanted.cancelled() => "the operator",
    };
    tracing::info!(signal, "Stopping: sending customers elsewhere, finishing what is in progress");
    running.gateway().announce_stop();
    let stopped = signals.or_exit_at_second_signal(async {
        before.await;
        running.stop().await
    });
    stopped.await.map_err(Failure::failed)?;
    tracing::info!("Stopped");
    Ok(())
}
