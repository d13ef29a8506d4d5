//! Mail to users: an operation queues a mail here, and the mail edge sends it. The queue is in memory; a mail that is lost with
//! the process can be requested again, because each is about something that a page shows too.

use super::inbox::Inbox;
use metrics::counter;
use std::fmt;
use tokio::sync::mpsc;

/// Mails that wait for their first attempt.
const WAITING_MAX: usize = 200;

/// A mail to one person.
#[derive(Clone, PartialEq, Eq)]
pub struct Mail {
    /// The address, which is plain ASCII without spaces and brackets.
    pub to: String,
    pub subject: String,
    /// Plain text. It may have a one-time link, so it is never printed.
    pub text: String,
}

impl fmt::Debug for Mail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mail").field("subject", &self.subject).finish_non_exhaustive()
    }
}

/// Too many mails wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too many mails wait to be sent; retry in a few minutes")]
pub struct MailQueueFull;

/// The mails to send.
#[derive(Debug, Default)]
pub struct MailQueue {
    /// None if this gateway sends no mail.
    queue: Option<Inbox<Mail>>,
}

impl MailQueue {
    /// Returns a queue that is served by the mail edge.
    pub fn open() -> MailQueue {
        MailQueue { queue: Some(Inbox::of(WAITING_MAX)) }
    }

    /// Whether this gateway sends mail.
    pub fn is_open(&self) -> bool {
        self.queue.is_some()
    }

    /// Queues a mail that can be left out. Half of the queue is kept for invitations and passwords.
    pub fn send_if_quiet(&self, mail: Mail) -> Result<(), MailQueueFull> {
        match &self.queue {
            Some(queue) if queue.room() <= WAITING_MAX / 2 => Err(MailQueueFull),
            Some(_) | None => self.send(mail),
        }
    }

    /// Queues a mail. Without mail in the settings it is dropped.
    pub fn send(&self, mail: Mail) -> Result<(), MailQueueFull> {
        let Some(queue) = &self.queue else { return Ok(()) };
        queue.put(mail).map_err(|_| {
            counter!("hermod_mails_total", "result" => "dropped").increment(1);
            MailQueueFull
        })
    }

    /// Returns the receiving end, once.
    pub(crate) fn receiver(&self) -> Option<mpsc::Receiver<Mail>> {
        self.queue.as_ref()?.receiver()
    }
}
