//! Plain values of the engine: what commands carry and return, what lists show, and the limits of both. They know nothing of
//! tables. A value that a command carries is one whole fact: it lists everything that is written together.

mod catalogue;
mod delivery;
mod hidden;
mod inbound;
mod link;
mod message;
mod money;
mod policy;
mod queue;
mod receipt;
mod report;
mod retention;
mod set_aside;
mod webhook;

pub use catalogue::{CatalogueChange, CatalogueRefusal, CatalogueRow, ProvisionedRow};
pub use delivery::{DELIVERY_DAYS_KEPT, DELIVERY_ROWS_MAX, DELIVERY_TIMES, DeliveryFigures, DeliveryRow};
pub use hidden::CustomerTlvs;
pub use inbound::{
    CONVERSATION_KEPT, Inbound, InboundRecord, JOINED_OCTETS_MAX, JOINING_WAIT, MoMessage, MoRecord,
    PART_REPEATS_KNOWN, REPEATS_KNOWN, UNFINISHED_PARTS_PER_CARRIER_MAX, UNOWNED_KEPT, UnassignedMo,
};
pub use link::{Answer, AnswerRecord, Handout, Job, LinkBatch, LinkId, LinkKind};
pub use message::{AcceptOutcome, Acceptance, KeyClaim, MessageRecord, Replay};
pub use money::{
    Balance, DailyLimit, DailyLimits, DayTotals, LedgerEntry, LedgerKind, LedgerRow, PostOutcome,
    PostRefusal, Statement, StatementLine,
};
pub use policy::{
    APPROVAL_LASTS, OPEN_REVIEWS_COUNTED_MAX, OpenReviews, OptOut, REVIEW_CASE_KEPT, REVIEW_CASES_OPEN_MAX,
    ReviewCase, ReviewState, Screened, Screening,
};
pub use queue::{CarrierQueue, Elsewhere, Move, WaitingMessage, WaitingPlace};
pub use receipt::{
    Asked, LATE_LINES_MAX, PARKED_KEPT, PARKED_PER_CARRIER_MAX, ParkedReceipt, REMATCH_ROWS_MAX, ReceiptFate,
    ReceiptLoss, ReceiptRecord, Recorded, Rematched, TiedId,
};
pub use report::{
    Cancelled, Delivery, ExpectedParties, GIVEN_UP_KEPT, GivenUp, GivenUpWhy, MessageNews, News, REPORT_KEPT,
    REPORTS_IN_MEMORY_MAX, Report, ReportEnds, ReportId,
};
pub use retention::{Purged, Retention};
pub use set_aside::{SetAside, SetAsideCount, StoredPart};
pub use webhook::{
    ANSWER_KEPT_BYTES_MAX, AfterAttempt, AttemptOutcome, DlrEvent, ENDPOINTS_WOKEN_MAX, Endpoint, EventId,
    FAILED_PASSED_OVER_MAX, FailingEndpoint, GiveUpReason, RECEIVER_AWAY_MAX, REPLAYED_AT_ONCE_MAX,
    ReplayProgress, SettledAttempt, WEBHOOK_ATTEMPTS_KEPT, WEBHOOKS_COUNTED_MAX, WEBHOOKS_KEPT,
    WEBHOOKS_TAKEN_MAX, WebhookAttempt, WebhookContent, WebhookEvent, WebhookFigures, WebhookFilter,
    WebhookPage, WebhookRecord, WebhookReplay, WebhookState, WebhookStatus,
};

/// Rows a page of any list has at most, whatever was asked for.
pub const PAGE_ROWS_MAX: u32 = 1_000;
