//! Standard output for results, standard error for everything else, and the signals that stop a command.

use std::io::{self, Write};

use tokio::signal::unix::{SignalKind, signal};

/// Prints a line on standard output. A closed pipe is ignored.
pub(crate) fn print(text: &str) {
    let _ = writeln!(io::stdout().lock(), "{text}");
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
