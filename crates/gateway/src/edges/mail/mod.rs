//! Sends the queued mails to users over SMTP. A mail that cannot be sent is tried again with increasing delays and then given up;
//! others do not wait for it.

mod message;
mod smtp;
#[cfg(test)]
mod tests;

use crate::clock::Moment;
use crate::config::{self, MailTls};
use crate::gateway::Gateway;
use crate::live_status::{AlarmKind, Mail};
use crate::secrets::{Secret, read_line};
use crate::workers::Workers;
use metrics::counter;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// The delay after each failure. After the last one the mail is given up; an hour later the link in it would be of no use.
const RETRIES: [Duration; 5] = [
    Duration::from_secs(5),
    Duration::from_secs(30),
    Duration::from_secs(120),
    Duration::from_secs(600),
    Duration::from_secs(1_800),
];
/// Mails that wait for another attempt. Further ones are given up.
const WAITING_MAX: usize = 500;
/// Failed attempts in a row after which there is an alarm.
const ALARM_AFTER: u32 = 3;
/// The environment variable with the password.
const PASSWORD_VARIABLE: &str = "HERMOD_MAIL_PASSWORD";

/// How to reach the mail server.
#[derive(Clone, Debug)]
pub struct MailSettings {
    server: String,
    port: u16,
    tls: MailTls,
    ca: Option<PathBuf>,
    user: Option<String>,
    password_file: Option<PathBuf>,
    sender: String,
}

impl MailSettings {
    /// Returns the settings; none if no server is configured.
    pub fn new(config: &config::MailSection) -> Option<MailSettings> {
        let config::MailSection { server, port, tls, ca, user, password_file, sender } = config.clone();
        Some(MailSettings {
            server: server?,
            port: port.unwrap_or(tls.port()),
            tls,
            ca,
            user,
            password_file,
            sender: sender?,
        })
    }

    /// Reads the password, at every connection.
    fn password(&self) -> Result<Secret, String> {
        read_line(self.password_file.as_deref(), PASSWORD_VARIABLE, "password")?.ok_or_else(|| {
            format!("there is no password: set [mail] password_file or the variable {PASSWORD_VARIABLE}")
        })
    }
}

/// Why a mail was not sent.
#[derive(Clone, Debug, PartialEq, Eq)]
enum SendError {
    /// Another attempt may succeed.
    Temporary(String),
    /// The server rejects this mail: another attempt would fail too.
    Rejected(String),
}

/// A mail that waits for another attempt.
struct Waiting {
    mail: Mail,
    /// Attempts that failed.
    failures: usize,
    due: Moment,
}

/// Sends mails until the gateway stops.
pub fn serve(gateway: Arc<Gateway>, settings: MailSettings, workers: &Workers) {
    let Some(queue) = gateway.mail.receiver() else { return };
    let stopping = workers.stopping();
    workers.spawn_named("mail", async move {
        tokio::select! {
            () = send_all(&gateway, &settings, queue) => {}
            () = stopping.cancelled() => {}
        }
    });
}

async fn send_all(gateway: &Gateway, settings: &MailSettings, mut queue: mpsc::Receiver<Mail>) {
    let mut waiting: Vec<Waiting> = Vec::new();
    let mut failures_in_a_row = 0;
    loop {
        let next =
            waiting.iter().enumerate().min_by_key(|(_, one)| one.due).map(|(place, one)| (place, one.due));
        let one = tokio::select! {
            biased;
            () = sleep_until(gateway, next.map(|(_, due)| due)) => {
                waiting.swap_remove(next.map_or(0, |(place, _)| place))
            }
            received = queue.recv() => match received {
                Some(mail) => Waiting { mail, failures: 0, due: gateway.clock.moment() },
                None => return,
            },
        };
        let sent = smtp::send(&gateway.clock, settings, &one.mail).await;
        note(gateway, &sent, &mut failures_in_a_row);
        if let Err(SendError::Temporary(_)) = sent
            && let Some(wait) = RETRIES.get(one.failures).filter(|_| waiting.len() < WAITING_MAX)
        {
            let due = gateway.clock.moment().plus(*wait);
            waiting.push(Waiting { failures: one.failures + 1, due, mail: one.mail });
        } else if sent.is_err() {
            counter!("hermod_mails_total", "result" => "given-up").increment(1);
        }
    }
}

async fn sleep_until(gateway: &Gateway, due: Option<Moment>) {
    match due {
        Some(due) => gateway.clock.sleep_until(due).await,
        None => std::future::pending().await,
    }
}

/// Counts an attempt, logs a failure without address and text, and raises or clears the alarm.
fn note(gateway: &Gateway, sent: &Result<(), SendError>, failures_in_a_row: &mut u32) {
    let (result, error) = match sent {
        Ok(()) => ("sent", None),
        Err(SendError::Temporary(error)) => ("failed", Some(error)),
        Err(SendError::Rejected(error)) => ("rejected", Some(error)),
    };
    counter!("hermod_mails_total", "result" => result).increment(1);
    let Some(error) = error else {
        *failures_in_a_row = 0;
        gateway.alarms.clear(AlarmKind::MailFailing, "");
        return;
    };
    *failures_in_a_row += 1;
    tracing::warn!(error, failures = *failures_in_a_row, "A mail was not sent");
    if *failures_in_a_row >= ALARM_AFTER {
        let detail = format!("mails to users are not sent: {error}");
        gateway.alarms.raise(AlarmKind::MailFailing, "", "", &detail, gateway.clock.now());
    }
}
