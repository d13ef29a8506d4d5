//! The steps of messages: what happened to each, in order. Steps are facts for observers; no decision reads them.
//!
//! The writer publishes the steps of a batch after its commit. The unusual ones are kept as lines of a timeline.

use crate::ops::{EarlierCost, EventId, LinkNumber, ReportId};
use hermod_domain::believed_cost::BelievedCost;
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId, MessageId, PartNo, RemoteId};
use hermod_domain::lifecycle::{Billable, DeliveryOutcome, MessageState};
use hermod_domain::money::Money;
use hermod_domain::receipt::{DlrCode, ReceiptWords, ReportStatus};
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// The id of a step. Ids rise in the order in which steps happened, and no id is used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StepId(pub u64);

/// One step of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageStep {
    pub id: StepId,
    pub message: MessageId,
    /// The first part, if the step concerns the whole message.
    pub part: PartNo,
    pub at: Timestamp,
    pub kind: StepKind,
}

/// What happened. Holds no text and no phone number, and its debug form prints no word of a carrier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StepKind {
    Accepted {
        account: AccountId,
        carrier: CarrierId,
        parts: u8,
    },
    /// The part was given to a link.
    Sent {
        carrier: CarrierId,
        link: LinkNumber,
    },
    /// The part was given to a link again, because it had no response.
    Resent {
        carrier: CarrierId,
        link: LinkNumber,
        resend: u8,
    },
    /// The link could not send the part: it waits again.
    NotSent {
        carrier: CarrierId,
    },
    /// The carrier accepted the part and gave it an id.
    CarrierAccepted {
        carrier: CarrierId,
        remote: RemoteId,
    },
    /// The carrier accepted the part without a usable id.
    NoCarrierId {
        carrier: CarrierId,
    },
    CarrierIdReused {
        carrier: CarrierId,
        remote: RemoteId,
    },
    Throttled {
        carrier: CarrierId,
    },
    TemporaryError {
        carrier: CarrierId,
        status: u32,
    },
    /// The carrier refused the part, which ended the message.
    Rejected {
        carrier: CarrierId,
        status: u32,
    },
    /// The carrier refused the part, and the message continues with another carrier.
    Refused {
        carrier: CarrierId,
        status: u32,
    },
    /// The part had no response.
    InDoubt {
        carrier: CarrierId,
        next: Option<NextResend>,
    },
    /// A response about a message that another carrier has by now.
    LateResponse {
        carrier: CarrierId,
        response: LateResponse,
    },
    /// The message moved to another carrier because its own could not send.
    Moved {
        from: CarrierId,
        to: CarrierId,
    },
    FailedOver {
        from: CarrierId,
        to: CarrierId,
    },
    /// A move: what the new carrier is believed to ask, and what the earlier one can bill.
    CarrierCost {
        cost: Option<BelievedCost>,
        earlier: Option<Box<EarlierCost>>,
    },
    Receipt {
        carrier: CarrierId,
        verdict: DeliveryOutcome,
        err: u16,
        /// As the carrier wrote it.
        words: ReceiptWords,
    },
    /// A late or repeated receipt, which changed nothing.
    LateReceipt {
        verdict: DeliveryOutcome,
        err: u16,
        word: Option<CarrierWord>,
    },
    /// A receipt with an unknown word, which changed nothing.
    UnreadableReceipt {
        verdict: DeliveryOutcome,
        err: u16,
        word: Option<CarrierWord>,
    },
    /// No receipt arrived in time: the message was reported UNKNOWN.
    Unknown,
    /// The validity of the waiting part ended.
    Expired,
    Cancelled {
        by: Canceller,
    },
    /// A report was queued for the binds of the message's connection.
    Reported {
        connection: ConnectionId,
        report: ReportId,
        status: ReportStatus,
    },
    /// A webhook event about the message was posted.
    WebhookAttempt {
        event: EventId,
        attempt: u32,
        /// The HTTP status of the response; none if there was none.
        status: Option<u16>,
        took_ms: u32,
    },
    /// The message has another state now, which is not final.
    State(MessageState),
    /// The message has ended.
    Ended {
        state: MessageState,
        code: DlrCode,
        err: u16,
        /// What was refunded.
        refund: Option<Money>,
        /// What its carrier can bill.
        billable: Billable,
    },
    /// The customer answered a report with this `command_status`.
    ReportAnswered {
        connection: ConnectionId,
        report: ReportId,
        status: u32,
    },
}

/// Who cancelled a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Canceller {
    Customer,
    Operator,
}

/// The next resend of a part in doubt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NextResend {
    pub number: u8,
    pub max: u8,
}

/// A response that arrived too late to change anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LateResponse {
    Accepted,
    AcceptedWithoutId,
    NotAccepted,
    Throttled,
    TemporaryError,
    Refused,
    NoResponse,
}

impl LateResponse {
    const fn text(self) -> &'static str {
        match self {
            LateResponse::Accepted => "accepted",
            LateResponse::AcceptedWithoutId => "accepted without an id",
            LateResponse::NotAccepted => "not accepted",
            LateResponse::Throttled => "throttled",
            LateResponse::TemporaryError => "temporary error",
            LateResponse::Refused => "refused",
            LateResponse::NoResponse => "no response",
        }
    }
}

/// A word of a receipt as the carrier wrote it. It can be anything, so it is not printed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CarrierWord(pub Box<str>);

impl fmt::Debug for CarrierWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CarrierWord({} bytes)", self.0.len())
    }
}

/// The line of a timeline about a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineText {
    pub what: &'static str,
    pub detail: Cow<'static, str>,
}

impl StepKind {
    /// Whether the step is kept in the timeline of its message: it is not part of the ordinary course.
    pub fn is_kept(&self) -> bool {
        self.timeline_text().is_some()
    }

    /// Returns the timeline's line about the step; none if it is part of the ordinary course of a message.
    pub fn timeline_text(&self) -> Option<TimelineText> {
        let (what, detail): (_, Cow<'static, str>) = match self {
            StepKind::Accepted { .. }
            | StepKind::Sent { .. }
            | StepKind::NotSent { .. }
            | StepKind::CarrierAccepted { .. }
            | StepKind::Throttled { .. }
            | StepKind::Rejected { .. }
            | StepKind::CarrierCost { .. }
            | StepKind::Receipt { .. }
            | StepKind::Expired
            | StepKind::Reported { .. }
            | StepKind::WebhookAttempt { .. }
            | StepKind::State(_)
            | StepKind::Ended { .. }
            | StepKind::ReportAnswered { .. } => return None,
            StepKind::Resent { resend, .. } => {
                ("resent", format!("resend {resend} after no response").into())
            }
            StepKind::NoCarrierId { .. } => ("no_carrier_id", "accepted without a usable message id".into()),
            StepKind::CarrierIdReused { remote, .. } => ("carrier_id_reused", remote.to_text().into()),
            StepKind::TemporaryError { status, .. } => {
                ("temporary_error", format!("status {status:#x}").into())
            }
            StepKind::Refused { carrier, status } => {
                ("refused", format!("carrier {carrier}: status {status:#x}").into())
            }
            StepKind::InDoubt { next: Some(NextResend { number, max }), .. } => {
                ("in_doubt", format!("no response; resend {number} of {max} follows").into())
            }
            StepKind::InDoubt { next: None, .. } => {
                ("in_doubt", "no response and no resend left; counts as submitted".into())
            }
            StepKind::LateResponse { carrier, response } => {
                ("late_response", format!("{}, by carrier {carrier}", response.text()).into())
            }
            StepKind::Moved { to: CarrierId::HELD, .. } => ("held", "by the operator".into()),
            StepKind::Moved { from: CarrierId::HELD, to } => ("released", format!("to carrier {to}").into()),
            StepKind::Moved { from, to } => ("moved", carrier_change(*from, *to).into()),
            StepKind::FailedOver { from, to } => ("failed_over", carrier_change(*from, *to).into()),
            StepKind::LateReceipt { verdict, err, word } => {
                ("late_receipt", receipt_text(*verdict, *err, word.as_ref()).into())
            }
            StepKind::UnreadableReceipt { verdict, err, word } => {
                ("unknown_receipt", receipt_text(*verdict, *err, word.as_ref()).into())
            }
            StepKind::Unknown => ("unknown", "no receipt came in time".into()),
            StepKind::Cancelled { by: Canceller::Customer } => ("cancelled", "by the customer".into()),
            StepKind::Cancelled { by: Canceller::Operator } => ("cancelled", "by the operator".into()),
        };
        Some(TimelineText { what, detail })
    }
}

fn carrier_change(from: CarrierId, to: CarrierId) -> String {
    format!("carrier {from} -> carrier {to}")
}

fn receipt_text(verdict: DeliveryOutcome, err: u16, word: Option<&CarrierWord>) -> String {
    let word = word.map(|CarrierWord(word)| format!(" word {word:?}")).unwrap_or_default();
    format!("{verdict:?} err {err}{word}")
}
