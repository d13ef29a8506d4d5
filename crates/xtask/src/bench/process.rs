//! A measured process: starting, reading its output, its usage by /proc, and ending.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::Value;

use super::failure;
use super::figures::{ANONYMOUS, CPU, Figures, MEMORY, RECORD_CPU, RESIDENT, REST_CPU, STORE_CPU, WRITTEN};
use crate::shell::{self, Failure, Outcome};

/// Clock ticks in /proc/*/stat. Linux has reported 100 per second to user space for decades.
const US_PER_TICK: f64 = 10_000.0;

/// How the names of the store's threads begin. Linux keeps 15 characters of a name.
const STORE_THREADS: [&str; 4] = ["hermod-writer", "hermod-checkpoi", "hermod-journal", "hermod-apply"];
const RECORD_THREADS: [&str; 1] = ["hermod-record"];

/// Raises the soft limit of open files to the first argument and becomes the program that follows.
const RAISE_AND_RUN: &str = r#"if [ "$(ulimit -n)" != unlimited ] && [ "$(ulimit -n)" -lt "$0" ]; then
ulimit -n "$0" || { echo "this needs $0 open files: raise the hard limit (ulimit -Hn), or use fewer" >&2; exit 1; }
fi
exec "$@""#;

pub(super) struct Process {
    child: Child,
    stdout: BufReader<ChildStdout>,
}

impl Process {
    /// Starts a program with these words, which are separated by blanks.
    pub(super) fn start(program: &Path, words: &str) -> Result<Process, Failure> {
        let mut command = Command::new(program);
        command.args(words.split_whitespace());
        Process::spawn(command, program)
    }

    /// As `start`, with this limit of open files.
    pub(super) fn start_with_files(program: &Path, words: &str, files: u64) -> Result<Process, Failure> {
        let mut command = Command::new("sh");
        command.args(["-c", RAISE_AND_RUN, &files.to_string()]).arg(program).args(words.split_whitespace());
        Process::spawn(command, program)
    }

    fn spawn(mut command: Command, program: &Path) -> Result<Process, Failure> {
        command.current_dir(shell::root()).stdin(Stdio::null()).stdout(Stdio::piped());
        let cannot = |cause| failure(format!("cannot start {}: {cause}", program.display()));
        let mut child = command.spawn().map_err(cannot)?;
        let stdout = BufReader::new(child.stdout.take().expect("standard output was piped above"));
        Ok(Process { child, stdout })
    }

    /// Waits for the next line of output.
    pub(super) fn line(&mut self) -> Result<String, Failure> {
        let mut line = String::new();
        match self.stdout.read_line(&mut line).map_err(failure)? {
            0 => Err(failure("a process ended before its output was complete")),
            _ => Ok(line.trim_end().to_owned()),
        }
    }

    /// Waits for the next line of output, which is JSON.
    pub(super) fn json(&mut self) -> Result<Value, Failure> {
        serde_json::from_str(&self.line()?).map_err(failure)
    }

    /// Returns its CPU time in microseconds, also after its end.
    pub(super) fn cpu(&self) -> f64 {
        cpu_with_children(self.child.id())
    }

    /// Returns what it has used since its start, and its memory.
    pub(super) fn usage(&self) -> Result<Figures, Failure> {
        let folder = PathBuf::from(format!("/proc/{}", self.child.id()));
        let read = |file: &str| {
            std::fs::read_to_string(folder.join(file))
                .map_err(|cause| failure(format!("a measured process is gone: {cause}")))
        };
        let (status, tasks) = (read("status")?, folder.join("task"));
        let mib = |name| field(&status, name) / 1024.0;
        let cpu = cpu_in(&read("stat")?, 2);
        let (store, record) = (cpu_of(&STORE_THREADS, &tasks), cpu_of(&RECORD_THREADS, &tasks));
        Ok(Figures::from([
            (CPU, cpu),
            (STORE_CPU, store),
            (RECORD_CPU, record),
            (REST_CPU, cpu - store - record),
            (WRITTEN, field(&read("io")?, "write_bytes:")),
            (RESIDENT, mib("VmRSS:")),
            (ANONYMOUS, mib("RssAnon:")),
            (MEMORY, mib("VmHWM:")),
        ]))
    }

    /// Sends a signal, such as `STOP`.
    pub(super) fn signal(&self, signal: &str) -> Outcome {
        shell::run(shell::command("kill", &["-s", signal, &self.child.id().to_string()]))
    }

    /// Sends SIGTERM and waits. Returns the rest of its output.
    pub(super) fn end(mut self) -> Result<String, Failure> {
        self.signal("TERM")?;
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

/// Returns the CPU time of a process and its children in microseconds, those that have ended included.
pub(super) fn cpu_with_children(id: u32) -> f64 {
    let stat = |id: &str| std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    let ids = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = ids.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let stats = ids.filter(|id| id.bytes().all(|octet| octet.is_ascii_digit())).map(|id| stat(&id));
    let children = stats.filter(|stat| parent(stat) == Some(id)).map(|stat| cpu_in(&stat, 2));
    cpu_in(&stat(&id.to_string()), 4) + children.sum::<f64>()
}

/// Returns the fields of a `stat` behind the name, which may contain spaces and parentheses.
fn fields(stat: &str) -> impl Iterator<Item = &str> {
    stat.rsplit_once(')').map_or("", |(_, after)| after).split_whitespace()
}

/// Reads the parent from the `stat` of a process.
fn parent(stat: &str) -> Option<u32> {
    fields(stat).nth(1)?.parse().ok()
}

/// Sums the times in a `stat`, in microseconds: user and system, and with 4 also those of children that have ended.
fn cpu_in(stat: &str, times: usize) -> f64 {
    let ticks = fields(stat).skip(11).take(times).filter_map(|word| word.parse::<f64>().ok());
    ticks.sum::<f64>() * US_PER_TICK
}

/// Returns the CPU time of the threads whose names begin so, in microseconds. Threads may end meanwhile.
fn cpu_of(threads: &[&str], tasks: &Path) -> f64 {
    let tasks = std::fs::read_dir(tasks).into_iter().flatten().flatten();
    let stats = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("stat")).ok());
    let is_meant = |stat: &String| {
        let name = stat.split_once('(').map_or("", |(_, name)| name);
        threads.iter().any(|thread| name.starts_with(thread))
    };
    stats.filter(is_meant).map(|stat| cpu_in(&stat, 2)).sum()
}

fn field(text: &str, name: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}

#[cfg(test)]
#[path = "process_tests.rs"]
mod tests;
