//! Plain values of the engine: what commands carry and return, what lists show, and their limits. They do not depend on
//! the tables. A value that a command carries lists everything that is written together.

mod catalogue;
mod customer_request;
mod delivery;
mod earlier_cost;
mod entry_use;
mod inbound;
mod link;
mod message;
mod money;
mod policy;
mod queue;
mod receipt;
mod report;
mod retention;
mod user_token;
mod webhook;

pub use catalogue::{CatalogueChange, CatalogueRefusal, CatalogueRow, ProvisionedRow};
pub use customer_request::{
    CUSTOMER_REQUESTS_KEPT_MAX, CustomerRequest, CustomerRequestEnd, MadeCustomerRequest, NewCustomerRequest,
    OPEN_CUSTOMER_REQUESTS_MAX,
};
pub use delivery::{DELIVERY_DAYS_KEPT, DELIVERY_ROWS_MAX, DELIVERY_TIMES, DeliveryFigures, DeliveryRow};
pub use earlier_cost::EarlierCost;
pub use entry_use::{EntryRemoved, EntryUse, NumberedEntry, Usage};
pub use inbound::{
    CONCATENATED_OCTETS_MAX, CONCATENATION_WAIT, CONVERSATION_KEPT, INBOUND_LOOKED_AT_MAX, Inbound,
    InboundParties, InboundRecord, MoMessage, MoRecord, PART_REPEATS_KNOWN, REPEATS_KNOWN, UNASSIGNED_KEPT,
    UNFINISHED_PARTS_PER_CARRIER_MAX, UnassignedMo,
};
pub use link::{Handout, Job, LinkBatch, LinkId, LinkKind, LinkNumber, ResponseRecord, SubmitResponse};
pub use message::{
    AcceptOutcome, Acceptance, CancelOutcome, Duplicate, ExpectedParties, KeyClaim, MessageRecord, SubmitNote,
};
pub use money::{
    Balance, DailyLimit, DailyLimits, DayTotals, LedgerEntry, LedgerKind, LedgerRow, PostOutcome,
    PostRefusal, Statement, StatementLine,
};
pub use policy::{
    APPROVAL_LASTS, OPEN_REVIEWS_COUNTED_MAX, OpenReviews, REVIEW_CASE_KEPT, REVIEW_CASES_OPEN_MAX, Screened,
    Screening,
};
pub use queue::{
    CarrierQueue, DeferredParts, Move, QueuePosition, SetAside, SetAsideCount, StoredPart, TargetCarrier,
    UnsentMessages, WaitingMessage,
};
pub use receipt::{
    AssignedId, CarrierIdQuery, LATE_LINES_MAX, PARKED_KEPT, PARKED_PER_CARRIER_MAX, ParkedReceipt,
    REMATCH_ROWS_MAX, ReceiptLoss, ReceiptOutcome, ReceiptRecord, RecordedReceipt, Rematched,
};
pub use report::{
    AnsweredReport, DlrReport, FinishedReports, GIVEN_UP_KEPT, GivenUpReport, REPORT_KEPT,
    REPORTS_IN_MEMORY_MAX, Report, ReportContent, ReportGiveUpReason, ReportId, ReportOutcome,
};
pub use retention::{Purged, Retention};
pub use user_token::{
    TokenChange, TokenDigest, TokenPurpose, USER_TOKENS_MAX, USER_TOKENS_OF_ALL_SORTS_MAX, UserToken,
};
pub use webhook::{
    AfterAttempt, AttemptOutcome, DlrEvent, ENDPOINTS_WOKEN_MAX, Endpoint, EventId, FAILED_PASSED_OVER_MAX,
    FailingEndpoint, GiveUpReason, RECEIVER_AWAY_MAX, REPLAYED_AT_ONCE_MAX, RESPONSE_KEPT_BYTES_MAX,
    ReplayProgress, SettledAttempt, WEBHOOK_ATTEMPTS_KEPT, WEBHOOKS_COUNTED_MAX, WEBHOOKS_KEPT,
    WEBHOOKS_TAKEN_MAX, WebhookAttempt, WebhookContent, WebhookEvent, WebhookFigures, WebhookFilter,
    WebhookPage, WebhookRecord, WebhookReplay, WebhookState, WebhookStatus,
};

use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// The most rows on a page of any list.
pub const PAGE_ROWS_MAX: u32 = 1_000;

/// Prints the length of a text that must not be printed.
pub(crate) struct Hidden<'a>(pub(crate) &'a str);

impl fmt::Debug for Hidden<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({} bytes)", self.0.len())
    }
}

/// Optional parameters of a customer's `submit_sm`, as received. They can hold texts, so they are not printed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CustomerTlvs(#[serde(with = "hermod_domain::octets")] pub Arc<[u8]>);

impl fmt::Debug for CustomerTlvs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({} octets)", self.0.len())
    }
}
