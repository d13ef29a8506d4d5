//! A measured process: starting, reading its output, its usage by /proc, and ending.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use super::failure;
use crate::shell::{self, Failure};

/// Clock ticks per second in /proc/*/stat. Linux has reported 100 to user space for decades.
const TICKS_PER_SECOND: u64 = 100;

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

/// The resources that a process has used.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    pub(super) cpu: Duration,
    /// The part of `cpu` of the store's threads.
    pub(super) store_cpu: Duration,
    /// The part of `cpu` of the record's thread.
    pub(super) record_cpu: Duration,
    pub(super) written_bytes: u64,
    pub(super) resident_bytes: u64,
    /// The part of `resident_bytes` that is no page of a file.
    pub(super) anonymous_bytes: u64,
    pub(super) resident_peak_bytes: u64,
}

impl Process {
    pub(super) fn start(program: &Path, args: &[&str]) -> Result<Process, Failure> {
        let mut command = Command::new(program);
        command.args(args);
        Process::spawn(command, program)
    }

    fn spawn(mut command: Command, program: &Path) -> Result<Process, Failure> {
        command.current_dir(shell::root()).stdin(Stdio::null()).stdout(Stdio::piped());
        let cannot = |cause| failure(format!("cannot start {}: {cause}", program.display()));
        let mut child = command.spawn().map_err(cannot)?;
        let stdout = BufReader::new(child.stdout.take().expect("standard output was piped above"));
        Ok(Process { child, stdout })
    }

    /// As `start`, with this limit of open files.
    pub(super) fn start_with_files(program: &Path, args: &[&str], files: u64) -> Result<Process, Failure> {
        let files = files.to_string();
        let mut command = Command::new("sh");
        command.args(["-c", RAISE_AND_RUN, &files]).arg(program).args(args);
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

    /// Returns its CPU time, also after its end.
    pub(super) fn cpu(&self) -> Duration {
        cpu_with_children(self.child.id())
    }

    pub(super) fn usage(&self) -> Result<Usage, Failure> {
        let folder = PathBuf::from(format!("/proc/{}", self.child.id()));
        let read = |file: &str| {
            std::fs::read_to_string(folder.join(file))
                .map_err(|cause| failure(format!("a measured process is gone: {cause}")))
        };
        let status = read("status")?;
        Ok(Usage {
            cpu: thread_cpu(&read("stat")?).map_or(Duration::ZERO, |(_, cpu)| cpu),
            store_cpu: cpu_of(&STORE_THREADS, &folder.join("task")),
            record_cpu: cpu_of(&RECORD_THREADS, &folder.join("task")),
            written_bytes: field(&read("io")?, "write_bytes:"),
            resident_bytes: field(&status, "VmRSS:") * 1024,
            anonymous_bytes: field(&status, "RssAnon:") * 1024,
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

/// Returns the CPU time of a process and its children, those that have ended included.
pub(super) fn cpu_with_children(id: u32) -> Duration {
    let stat = |id: &str| std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    let mut all = ticks(&stat(&id.to_string()), 4);
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let child = entry.file_name().to_string_lossy().into_owned();
        if !child.bytes().all(|octet| octet.is_ascii_digit()) {
            continue;
        }
        let stat = stat(&child);
        if parent(&stat) == Some(id) {
            all += ticks(&stat, 2);
        }
    }
    Duration::from_millis(all * 1000 / TICKS_PER_SECOND)
}

/// Reads the parent from the `stat` of a process.
fn parent(stat: &str) -> Option<u32> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// Sums the times in a `stat`: user and system, and with 4 also those of children that have ended.
fn ticks(stat: &str, times: usize) -> u64 {
    let fields = stat.rsplit_once(')').map_or("", |(_, after)| after);
    fields.split_whitespace().skip(11).take(times).filter_map(|word| word.parse::<u64>().ok()).sum()
}

/// Returns the CPU time of the threads whose names begin so. Threads may end meanwhile.
fn cpu_of(threads: &[&str], tasks: &Path) -> Duration {
    let Ok(tasks) = std::fs::read_dir(tasks) else { return Duration::ZERO };
    let stats = tasks.flatten().filter_map(|task| std::fs::read_to_string(task.path().join("stat")).ok());
    stats
        .filter_map(|stat| {
            let (name, cpu) = thread_cpu(&stat)?;
            threads.iter().any(|thread| name.starts_with(thread)).then_some(cpu)
        })
        .sum()
}

/// Reads the name and the CPU time of a process or thread from its `stat`.
fn thread_cpu(stat: &str) -> Option<(&str, Duration)> {
    // The name in parentheses may contain spaces and parentheses; the fields after it do not.
    let (before, after) = stat.rsplit_once(')')?;
    let (_, name) = before.split_once('(')?;
    after.split_whitespace().next()?;
    Some((name, Duration::from_millis(ticks(stat, 2) * 1000 / TICKS_PER_SECOND)))
}

fn field(text: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

impl Usage {
    /// Returns the usage of two processes together.
    pub(super) fn plus(self, other: Usage) -> Usage {
        Usage {
            cpu: self.cpu + other.cpu,
            store_cpu: self.store_cpu + other.store_cpu,
            record_cpu: self.record_cpu + other.record_cpu,
            written_bytes: self.written_bytes + other.written_bytes,
            resident_bytes: self.resident_bytes + other.resident_bytes,
            anonymous_bytes: self.anonymous_bytes + other.anonymous_bytes,
            resident_peak_bytes: self.resident_peak_bytes + other.resident_peak_bytes,
        }
    }

    /// Returns the usage since an earlier measurement; memory is the current value.
    pub(super) fn since(self, earlier: Usage) -> Usage {
        Usage {
            cpu: self.cpu.saturating_sub(earlier.cpu),
            store_cpu: self.store_cpu.saturating_sub(earlier.store_cpu),
            record_cpu: self.record_cpu.saturating_sub(earlier.record_cpu),
            written_bytes: self.written_bytes - earlier.written_bytes,
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_has_the_name_and_the_cpu_time() {
        let stat = "12 (a (b) c) S 1 2 3 4 5 6 7 8 9 10 250 50 99 99 20 0";
        assert_eq!(thread_cpu(stat), Some(("a (b) c", Duration::from_secs(3))));
        assert_eq!(thread_cpu(""), None);
        let with_ended = "12 (a) S 7 2 3 4 5 6 7 8 9 10 250 50 10 20 20 0";
        assert_eq!((parent(with_ended), ticks(with_ended, 4)), (Some(7), 330));
    }

    #[test]
    fn only_threads_of_one_kind_are_summed() {
        let tasks = tempfile::tempdir().expect("a folder");
        let names = [
            "hermod",
            "hermod-writer",
            "hermod-checkpoi",
            "hermod-apply-1",
            "hermod-journal",
            "hermod-record",
        ];
        for (number, name) in names.iter().enumerate() {
            let task = tasks.path().join(number.to_string());
            std::fs::create_dir(&task).expect("a folder");
            let stat = format!("{number} ({name}) S 1 2 3 4 5 6 7 8 9 10 100 100 0 0");
            std::fs::write(task.join("stat"), stat).expect("a file");
        }
        assert_eq!(cpu_of(&STORE_THREADS, tasks.path()), Duration::from_secs(8));
        assert_eq!(cpu_of(&RECORD_THREADS, tasks.path()), Duration::from_secs(2));
        assert_eq!(cpu_of(&STORE_THREADS, &tasks.path().join("none")), Duration::ZERO);
    }
}
