//! Reports: DLRs and MO messages that wait for delivery over a customer's binds. A row is written in the transaction of
//! the change that it reports, and is deleted when the customer has accepted it.

use hermod_domain::ids::{AccountId, ConnectionId, MessageId};
use hermod_domain::origin::{Alias, Origin};
use hermod_domain::receipt::ReportStatus;
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;

/// How long a report is offered before it is given up.
pub const REPORT_KEPT: Duration = Duration::from_secs(72 * 3600);
/// Reports of one connection that wait in memory. Further ones wait in the tables and are read in order.
pub const REPORTS_IN_MEMORY_MAX: usize = 4_096;

/// How long given-up reports are listed, at least.
pub const GIVEN_UP_KEPT: Duration = Duration::from_secs(30 * 86_400);

/// The id of a report. Ids rise in the order of creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ReportId(pub u64);

/// One report to a customer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    pub id: ReportId,
    pub account: AccountId,
    pub connection: ConnectionId,
    pub message: MessageId,
    /// When the message got the status that is reported, or was received.
    pub at: Timestamp,
    pub content: ReportContent,
}

/// What a report delivers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReportContent {
    /// The status of a message that the customer sent.
    Dlr(DlrReport),
    /// An MO message, by its number in its account. Its text is read when it is sent: see `ReceiverPort::inbound`.
    Inbound(u64),
}

/// The status of a message, as a DLR reports it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DlrReport {
    /// The message's short id on the bind that submitted it, if that is not its id.
    pub alias: Option<Alias>,
    #[serde(with = "crate::shared")]
    pub origin: Arc<Origin>,
    pub status: ReportStatus,
    pub err: u16,
    pub parts: u8,
    /// How many parts were delivered.
    pub delivered: u8,
}

impl Report {
    /// Returns the DLR, if the report is one.
    pub fn dlr(&self) -> Option<&DlrReport> {
        match &self.content {
            ReportContent::Dlr(dlr) => Some(dlr),
            ReportContent::Inbound(_) => None,
        }
    }
}

/// The result of sending a report to a customer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReportOutcome {
    /// The customer accepted it.
    Accepted,
    /// A temporary failure: send again on the schedule of [`hermod_domain::retry`].
    RetryLater,
    /// The customer refused it for good, with this status.
    Refused(u32),
    /// It was not sent: it returns to its place in the outbox.
    NotSent,
}

/// A report that was given up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenUpReport {
    pub id: ReportId,
    pub account: AccountId,
    pub connection: ConnectionId,
    pub message: MessageId,
    /// None if it was an MO message, which can still be polled.
    pub status: Option<ReportStatus>,
    /// When the report was created.
    pub at: Timestamp,
    /// When it was given up.
    pub given_up_at: Timestamp,
    pub reason: ReportGiveUpReason,
}

/// Why a report was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReportGiveUpReason {
    /// It was not accepted within [`REPORT_KEPT`].
    TooOld,
    /// The customer refused it with this status.
    Refused(u32),
}

/// Reports of a connection that the customer has answered finally.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FinishedReports {
    pub connection: ConnectionId,
    /// Accepted reports, in order.
    pub accepted: Vec<ReportId>,
    /// Refused reports, with the status of each.
    pub refused: Vec<(ReportId, u32)>,
    /// The customer's answers to DLRs, for the record.
    pub answered: Vec<AnsweredReport>,
    pub now: Timestamp,
}

/// A customer's final answer to a DLR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnsweredReport {
    pub report: ReportId,
    pub message: MessageId,
    /// The `command_status` of its response: 0 if it accepted the report.
    pub status: u32,
}

impl FinishedReports {
    /// Reports that were dropped in favour of later ones.
    pub fn superseded(connection: ConnectionId, dropped: Vec<ReportId>, now: Timestamp) -> FinishedReports {
        FinishedReports { connection, accepted: dropped, refused: Vec::new(), answered: Vec::new(), now }
    }

    pub fn is_empty(&self) -> bool {
        self.accepted.is_empty() && self.refused.is_empty()
    }

    /// Splits the reports into one command each.
    pub fn into_pieces(self) -> impl Iterator<Item = FinishedReports> {
        let FinishedReports { connection, accepted, refused, answered, now } = self;
        let answer_to = move |id| answered.iter().filter(|one| one.report == id).copied().collect();
        let one = move |accepted, refused, answered| FinishedReports {
            connection,
            accepted,
            refused,
            answered,
            now,
        };
        let accepted = accepted.into_iter().map(|id| (id, vec![id], Vec::new()));
        let refused = refused.into_iter().map(|(id, status)| (id, Vec::new(), vec![(id, status)]));
        accepted.chain(refused).map(move |(id, accepted, refused)| one(accepted, refused, answer_to(id)))
    }
}
