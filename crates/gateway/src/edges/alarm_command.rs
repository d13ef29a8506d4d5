//! Runs the operator's command for each notification about an alarm: the alarm is JSON on its standard input and in variables. The
//! command has no other variables than PATH: those of the gateway may hold secrets.

use crate::app::{AlarmNotification, serve_notifications};
use crate::clock::within;
use crate::gateway::Gateway;
use crate::workers::Workers;
use rustix::process::{Pid, Signal, kill_process_group};
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, Command};
use tokio::sync::mpsc;

/// A command that takes longer is killed.
const COMMAND_WAIT: Duration = Duration::from_secs(30);
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Runs `command`, a program and its arguments, for every notification until the workers stop. One at a time.
pub fn serve(
    gateway: &Arc<Gateway>,
    command: Vec<String>,
    notifications: mpsc::Receiver<AlarmNotification>,
    workers: &Workers,
) {
    let command: Arc<[String]> = command.into();
    serve_notifications(gateway.clock.clone(), "command", notifications, workers, move |notification, _| {
        let command = command.clone();
        async move { run(&command, &notification).await }
    });
}

/// Runs the command once. Fails if it does not start, does not end in time, or returns another status than 0.
async fn run(command: &[String], notification: &AlarmNotification) -> Result<(), String> {
    let Some((program, arguments)) = command.split_first() else { return Ok(()) };
    let mut child = Command::new(program)
        .args(arguments)
        .env_clear()
        .env("PATH", PATH)
        .envs(notification.variables())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .map_err(|error| format!("{program} cannot be started: {error}"))?;
    let mut group = ProcessGroup::of(&child);
    let stdin = child.stdin.take();
    let body = notification.body();
    let ended = within(COMMAND_WAIT, async {
        if let Some(mut stdin) = stdin {
            // A command need not read it.
            let _ = stdin.write_all(body.as_bytes()).await;
        }
        child.wait().await
    });
    match ended.await {
        Ok(Ok(status)) => {
            group.0 = None;
            outcome(program, status)
        }
        Ok(Err(error)) => Err(format!("{program}: {error}")),
        Err(_) => Err(format!("{program} took longer than {} s and was killed", COMMAND_WAIT.as_secs())),
    }
}

/// The processes of a command. They are killed with it, unless it has ended.
struct ProcessGroup(Option<Pid>);

impl ProcessGroup {
    /// The child is the first process of its group.
    fn of(child: &Child) -> ProcessGroup {
        ProcessGroup(child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)))
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            // They may have ended.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

fn outcome(program: &str, status: ExitStatus) -> Result<(), String> {
    if status.success() { Ok(()) } else { Err(format!("{program} failed: {status}")) }
}

#[cfg(test)]
#[path = "alarm_command_tests.rs"]
mod tests;
