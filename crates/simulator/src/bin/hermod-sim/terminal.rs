//! Standard output for results, standard error for everything else, and the signals that stop a command. The progress line of
//! a load run.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use hermod_simulator::load::live::{LiveCounters, ProgressMeter};
use serde::Serialize;
use tokio::signal::unix::{SignalKind, signal};

/// Prints a line on standard output. A closed pipe is ignored.
pub(crate) fn print(text: &str) {
    let _ = writeln!(io::stdout().lock(), "{text}");
}

/// Prints a report, as JSON or as a table.
pub(crate) fn print_report(report: &(impl Serialize + Display), json: bool) {
    if json {
        print(&serde_json::to_string(report).expect("a report is JSON"));
    } else {
        print(report.to_string().trim_end());
    }
}

/// Succeeds without errors.
pub(crate) fn ended_with(errors: u64) -> Result<(), String> {
    if errors == 0 { Ok(()) } else { Err(format!("{errors} errors")) }
}

pub(crate) fn print_error(text: &str) {
    let _ = writeln!(io::stderr().lock(), "hermod-sim: {text}");
}

/// Replaces the current line on standard error.
pub(crate) fn rewrite_line(text: &str) {
    let mut stderr = io::stderr().lock();
    let _ = write!(stderr, "\r{text}\u{1b}[K");
    let _ = stderr.flush();
}

/// Waits for ctrl-c or SIGTERM.
pub(crate) async fn stop_signal() {
    let mut terminate = signal(SignalKind::terminate()).expect("a handler for SIGTERM can be installed");
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
    }
}

/// Waits for the end of a run. Ctrl-c stops the sending; what was measured until then is still reported. Shows a progress
/// line where standard error is a terminal.
pub(crate) async fn finish<R>(run: impl Future<Output = R>, stop: impl Fn(), live: &LiveCounters) -> R {
    let mut progress = ProgressMeter::default();
    let mut tick = tokio::time::interval(Duration::from_millis(500));
    let is_terminal = io::stderr().is_terminal();
    let mut is_stopped = false;
    let stop_signal = stop_signal();
    tokio::pin!(run, stop_signal);
    let report = loop {
        tokio::select! {
            report = &mut run => break report,
            () = &mut stop_signal, if !is_stopped => {
                is_stopped = true;
                stop();
            }
            _ = tick.tick(), if is_terminal => rewrite_line(&progress.line(live).to_string()),
        }
    };
    if is_terminal {
        rewrite_line("");
    }
    report
}
