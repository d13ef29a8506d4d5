//! A process of the cluster. It ends with this command in any case: the kernel signals it when this process is gone, for which
//! `setpriv` asks (util-linux, which every Debian has).

use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{self, Command, ExitStatus, Stdio};
use std::time::Duration;

use crate::shell::{self, Failure, Outcome};

/// The longest wait for a process to stop. It only bounds a hang.
const STOP_WAIT: Duration = Duration::from_secs(300);

/// What to run, and how it stops.
pub(crate) struct Program<'a> {
    pub(crate) name: &'a str,
    pub(crate) file: &'a Path,
    pub(crate) args: &'a [&'a str],
    /// None: as this user.
    pub(crate) user: Option<&'a str>,
    /// Stops it in order.
    pub(crate) stop: &'static str,
    /// Sent by the kernel when this process is gone.
    pub(crate) end: &'static str,
}

pub(crate) struct Child {
    name: String,
    process: process::Child,
    stop: &'static str,
    pub(crate) log: PathBuf,
}

impl Child {
    /// Starts a program. Its output goes to a file in this folder.
    pub(crate) fn start(program: &Program<'_>, folder: &Path) -> Result<Child, Failure> {
        let Program { name, file, args, user, stop, end } = program;
        let log = folder.join(format!("{name}.log"));
        let cannot = |cause: std::io::Error| Failure(format!("cannot start {name}: {cause}"));
        let output = File::options().create(true).append(true).open(&log).map_err(cannot)?;
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", end]);
        if let Some(user) = user {
            command.args(["--reuid", user, "--regid", user, "--init-groups"]);
        }
        command.arg("--").arg(file).args(*args);
        // A group of its own: Ctrl-C is for this command, which stops the others.
        command.current_dir("/").process_group(0).stdin(Stdio::null());
        command.stdout(output.try_clone().map_err(cannot)?).stderr(output);
        let process = command.spawn().map_err(cannot)?;
        Ok(Child { name: (*name).to_owned(), process, stop, log })
    }

    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// Returns how the process ended; none while it runs.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.process.try_wait().ok().flatten()
    }

    /// Fails with the end of the log if the process has ended.
    pub(crate) fn require_running(&mut self) -> Outcome {
        match self.ended() {
            None => Ok(()),
            Some(status) => Err(Failure(format!("{} ended ({status}): {}", self.name, self.last_lines()))),
        }
    }

    fn last_lines(&self) -> String {
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(3)..].join("\n")
    }

    pub(crate) fn signal(&self, signal: &str) -> Outcome {
        shell::run(shell::command("kill", &[&format!("-{signal}"), &self.id().to_string()]))
    }

    /// Stops the process and waits for its end. It must end with code 0.
    pub(crate) fn stop(mut self) -> Outcome {
        if self.ended().is_none() {
            self.signal(self.stop)?;
        }
        let name = self.name.clone();
        shell::wait_until(&format!("the end of {name}"), STOP_WAIT, || Ok(self.ended().is_some()))?;
        self.require_end()
    }

    /// Fails unless the process has ended with code 0.
    pub(crate) fn require_end(&mut self) -> Outcome {
        match self.ended() {
            Some(status) if status.success() => Ok(()),
            _ => self.require_running(),
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // For a command that failed. The process may have ended already.
        if self.ended().is_none() {
            let _ = self.signal(self.stop);
            let _ = shell::wait_until("its end", STOP_WAIT, || Ok(self.ended().is_some()));
            let _ = self.process.kill();
            let _ = self.process.wait();
        }
    }
}
