//! Being told to read the certificate again, and being told to stop. The first time everything under way is finished; the second time nothing is waited for, which is
//! safe because nothing was acknowledged that is not stored.

use crate::ending::{Ended, Failure};
use hermod_gateway::running::Running;
use std::future::Future;
use tokio::signal::unix::{Signal, SignalKind, signal};

const EXIT_TOLD_TWICE: i32 = 130;

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

    /// Waits until this process is told to stop, and says by what. ReportStatus to reload, it does and goes on waiting.
    async fn told_to_stop(&mut self, reload: impl Fn()) -> &'static str {
        loop {
            tokio::select! {
                _ = self.terminate.recv() => return "SIGTERM",
                _ = self.interrupt.recv() => return "SIGINT",
                _ = self.hangup.recv() => reload(),
            }
        }
    }

    /// Waits until this process is told to stop.
    pub(crate) async fn told_to_end(&mut self) {
        self.told_to_stop(|| {}).await;
    }

    /// Runs a stop to its end unless the process is told again.
    pub(crate) async fn unless_told_again<T>(&mut self, stopping: impl Future<Output = T>) -> T {
        tokio::select! {
            stopped = stopping => stopped,
            signal = self.told_to_stop(|| {}) => {
                tracing::warn!(signal, "ReportStatus to stop again: not waiting for what is under way");
                std::process::exit(EXIT_TOLD_TWICE)
            }
        }
    }
}

/// Runs a gateway until told to stop, then drains it. `before` is done once no new messages are accepted.
pub(crate) async fn run_until_told(
    running: Running,
    signals: &mut Signals,
    before: impl Future<Output = ()>,
) -> Ended {
    let signal = signals.told_to_stop(|| running.reload()).await;
    tracing::info!(signal, "Stopping: no new messages, what is under way is finished");
    running.world().start_draining();
    let stopped = signals.unless_told_again(async {
        before.await;
        running.stop().await
    });
    stopped.await.map_err(Failure::failed)?;
    tracing::info!("Stopped in good order");
    Ok(())
}
