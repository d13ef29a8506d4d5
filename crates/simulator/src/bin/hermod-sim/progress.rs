//! The progress line of a load run on the terminal.

use std::io::{self, IsTerminal};
use std::time::Duration;

use hermod_simulator::load::live::{Live, Progress};

use crate::terminal;

/// Waits for the end of a run. Ctrl-c stops the sending; what was measured until then is still reported. Shows a progress
/// line where standard error is a terminal.
pub(crate) async fn finish<R>(run: impl Future<Output = R>, stop: impl Fn(), live: &Live) -> R {
    let mut progress = Progress::default();
    let mut tick = tokio::time::interval(Duration::from_millis(500));
    let is_terminal = io::stderr().is_terminal();
    let mut is_stopped = false;
    let stop_signal = terminal::stop_signal();
    tokio::pin!(run, stop_signal);
    let report = loop {
        tokio::select! {
            report = &mut run => break report,
            () = &mut stop_signal, if !is_stopped => {
                is_stopped = true;
                stop();
            }
            _ = tick.tick(), if is_terminal => terminal::rewrite_line(&progress.line(live).to_string()),
        }
    };
    if is_terminal {
        terminal::rewrite_line("");
    }
    report
}
