//! Reports: what customers are still to be status over SMPP, about messages they sent and messages that handsets sent them.
//! A row is written in the transaction of the change it tells, and goes when the customer has answered.

use hermod_domain::ids::{AccountId, ConnectionId, MessageId};
use hermod_domain::origin::{Alias, Origin};
use hermod_domain::phone::Msisdn;
use hermod_domain::receipt::ReportStatus;
use hermod_domain::sender::Sender;
use hermod_domain::time::Timestamp;
use std::sync::Arc;
use std::time::Duration;

/// How long a report waits for somebody to take it before it is given up.
pub const REPORT_KEPT: Duration = Duration::from_secs(72 * 3600);
/// Reports of one connection that wait in memory. Further ones wait in the tables and are read when their turn comes.
pub const REPORTS_IN_MEMORY_MAX: usize = 4_096;

/// How long reports that were given up are listed, at least.
pub const GIVEN_UP_KEPT: Duration = Duration::from_secs(30 * 86_400);

/// In the order in which reports came to be, within a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReportId(pub u64);

/// One thing a customer is to be status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    pub id: ReportId,
    pub account: AccountId,
    pub connection: ConnectionId,
    pub message: MessageId,
    /// When the message became what is status, or came in.
    pub at: Timestamp,
    pub content: ReportContent,
}

/// What a report is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReportContent {
    /// What became of a message that was sent.
    Dlr(DlrReport),
    /// A message from a handset: the number it has among its account's. Its text is read when it is brought, see
    /// `ReceiverPort::inbound`.
    Inbound(u64),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DlrReport {
    /// The message's name on the bind it came in on, where that is not its id.
    pub alias: Option<Alias>,
    pub origin: Arc<Origin>,
    pub status: ReportStatus,
    pub err: u16,
    pub parts: u8,
    /// Of those, how many were delivered.
    pub delivered: u8,
}

impl Report {
    /// What became of a message that was sent, if it is about that.
    pub fn of_message(&self) -> Option<&DlrReport> {
        match &self.content {
            ReportContent::Dlr(news) => Some(news),
            ReportContent::Inbound(_) => None,
        }
    }
}

/// What came of offering a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportOutcome {
    /// The customer has it.
    Accepted,
    /// Not now: try again on the schedule of [`hermod_domain::retry`].
    RetryLater,
    /// The customer refused it for good, with this status.
    Refused(u32),
    /// It was never sent: it goes back to where it was.
    NotSent,
}

/// A report nobody took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenUpReport {
    pub id: ReportId,
    pub account: AccountId,
    pub connection: ConnectionId,
    pub message: MessageId,
    /// Nothing: it would have brought a message from a handset, which can still be polled.
    pub status: Option<ReportStatus>,
    /// When it came to be.
    pub at: Timestamp,
    /// When it was given up.
    pub given_up_at: Timestamp,
    pub reason: ReportGiveUpReason,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportGiveUpReason {
    /// Nobody took it for [`REPORT_KEPT`].
    TooOld,
    /// The customer's software refused it with this status.
    Refused(u32),
}

/// Who must send a message, and to whom, for a caller to cancel it. A party that is not given is not compared (SMPP 3.4,
/// 4.9.1: addresses of a `cancel_sm`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExpectedParties {
    pub from: Option<Sender>,
    pub to: Option<Msisdn>,
}

impl ExpectedParties {
    /// Returns whether a message has these parties.
    pub fn include(&self, from: &Sender, to: Msisdn) -> bool {
        self.from.is_none_or(|expected| expected == *from) && self.to.is_none_or(|expected| expected == to)
    }
}

/// What came of a customer's wish to take a message back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CancelOutcome {
    /// It was still waiting: it is `rejected` now, and its cost went back.
    Cancelled,
    /// A carrier has it or may have it, or it has ended.
    TooLate,
    /// The account has no such message, or not from or to there.
    NotFound,
}

/// Reports of a connection that need not be status any more.
#[derive(Clone, Debug)]
pub struct FinishedReports {
    pub connection: ConnectionId,
    /// In order.
    pub accepted: Vec<ReportId>,
    /// With the status they were refused with.
    pub refused: Vec<(ReportId, u32)>,
    pub now: Timestamp,
}

impl FinishedReports {
    pub fn is_empty(&self) -> bool {
        self.accepted.is_empty() && self.refused.is_empty()
    }

    pub fn into_pieces(self) -> impl Iterator<Item = FinishedReports> {
        let FinishedReports { connection, accepted, refused, now } = self;
        let accepted = accepted.into_iter().map(move |id| FinishedReports {
            connection,
            accepted: vec![id],
            refused: Vec::new(),
            now,
        });
        accepted.chain(refused.into_iter().map(move |one| FinishedReports {
            connection,
            accepted: Vec::new(),
            refused: vec![one],
            now,
        }))
    }
}
