//! A measured process: starting, reading its output, its usage by /proc, and ending.

use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use super::failure;
use crate::shell::{self, Failure};

/// Clock ticks per second in /proc/*/stat. Linux has reported 100 to user space for decades.
const TICKS_PER_SECOND: u64 = 100;

/// Raises the soft limit of open files to the first argument and becomes the program that follows.
const RAISE_AND_RUN: &str = r#"if [ "$(ulimit -n)" != unlimited ] && [ "$(ulimit -n)" -lt "$0" ]; then
ulimit -n "$0" || { echo "this needs $0 open files: raise the hard limit (ulimit -Hn), or use fewer" >&2; exit 1; }
fi
exec "$@""#;

pub(super) struct Process {
    child: Child,
    stdout: BufReader<ChildStdout>,
}

/// The resources that a process has used.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    pub(super) cpu: Duration,
    pub(super) written_bytes: u64,
    pub(super) resident_bytes: u64,
    pub(super) resident_peak_bytes: u64,
}

pub(super) fn binary(name: &str) -> PathBuf {
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| shell::root().join("target"), PathBuf::from);
    target.join("dist").join(name)
}

impl Process {
    pub(super) fn start(program: &str, args: &[&str]) -> Result<Process, Failure> {
        let mut command = Command::new(binary(program));
        command.args(args);
        Process::spawn(command, program)
    }

    fn spawn(mut command: Command, program: &str) -> Result<Process, Failure> {
        command.current_dir(shell::root()).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child =
            command.spawn().map_err(|cause| failure(format!("cannot start {program}: {cause}")))?;
        let stdout = BufReader::new(child.stdout.take().expect("standard output was piped above"));
        Ok(Process { child, stdout })
    }

    /// As `start`, with this limit of open files.
    pub(super) fn start_with_files(program: &str, args: &[&str], files: u64) -> Result<Process, Failure> {
        let files = files.to_string();
        let mut command = Command::new("sh");
        command.args(["-c", RAISE_AND_RUN, &files]).arg(binary(program)).args(args);
        Process::spawn(command, program)
    }

    /// Waits for the next line of output.
    pub(super) fn line(&mut self) -> Result<String, Failure> {
        let mut line = String::new();
        let read = self.stdout.read_line(&mut line).map_err(failure)?;
        if read == 0 {
            return Err(failure("a process ended before its output was complete"));
        }
        Ok(line.trim_end().to_owned())
    }

    pub(super) fn usage(&self) -> Result<Usage, Failure> {
        let read = |file: &str| {
            std::fs::read_to_string(format!("/proc/{}/{file}", self.child.id()))
                .map_err(|cause| failure(format!("a measured process is gone: {cause}")))
        };
        let stat = read("stat")?;
        // The process name in parentheses may contain spaces; the fields after it do not.
        let after_name = stat.rsplit(')').next().unwrap_or_default();
        let ticks: u64 =
            after_name.split_whitespace().skip(11).take(2).filter_map(|word| word.parse::<u64>().ok()).sum();
        let status = read("status")?;
        Ok(Usage {
            cpu: Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND),
            written_bytes: field(&read("io")?, "write_bytes:"),
            resident_bytes: field(&status, "VmRSS:") * 1024,
            resident_peak_bytes: field(&status, "VmHWM:") * 1024,
        })
    }

    /// Sends SIGTERM and waits.
    pub(super) fn end(self) -> Result<(), Failure> {
        self.end_and_read().map(|_| ())
    }

    /// As `end`; returns the rest of its output.
    pub(super) fn end_and_read(mut self) -> Result<String, Failure> {
        shell::run(shell::command("kill", &["-TERM", &self.child.id().to_string()]))?;
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).map_err(failure)?;
        let status = self.child.wait().map_err(failure)?;
        if status.success() {
            Ok(rest)
        } else {
            Err(failure(format!("a measured process ended with {status}")))
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // For a benchmark that failed; the process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn field(text: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

impl Usage {
    /// Returns the usage since an earlier measurement; memory is the current value.
    pub(super) fn since(self, earlier: Usage) -> Usage {
        Usage {
            cpu: self.cpu.saturating_sub(earlier.cpu),
            written_bytes: self.written_bytes - earlier.written_bytes,
            ..self
        }
    }
}
