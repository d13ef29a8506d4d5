//! The variants of all changes by name: a variant that is not listed here does not compile, and one that is listed needs
//! a sample.

use hermod_engine::steps::StepKind;
use hermod_engine::tables::*;

macro_rules! changes {
    ($($table:ident($change:ident) { $($variant:ident),* $(,)? })*) => {
        pub(super) const CHANGES: &[&str] =
            &[$($(concat!(stringify!($table), ".", stringify!($variant))),*),*];

        pub(super) fn change_name(change: &Change) -> &'static str {
            match change {
                $(Change::$table(change) => match change {
                    $($change::$variant { .. } => concat!(stringify!($table), ".", stringify!($variant)),)*
                },)*
            }
        }
    };
}

changes! {
    Alias(AliasChange) { Last, Name }
    AuditLog(AuditLogChange) { Add }
    Balance(BalanceChange) { Put }
    CarrierId(CarrierIdChange) { CreateDay, RetireDay, DeleteRetired, DropRetiredDay, Add, Put }
    CatalogueRow(CatalogueRowChange) { Put, Delete, PutProvisioned }
    Conversation(ConversationChange) { Put, Delete }
    CustomerRequest(CustomerRequestChange) { Put, Delete }
    DayTotals(DayTotalsChange) { Put }
    DeliveryFigure(DeliveryFigureChange) { Put, DeleteBefore }
    Erasure(ErasureChange) {
        Message, UnnamedParts, Inbound, Others, CarrierId, Response, Keep,
    }
    GivenUpReport(GivenUpReportChange) { Put, DeleteBetween, DeleteRange }
    Inbound(InboundChange) { Counter, Add }
    Key(KeyChange) { AddToLog, ClearLog, DeleteLogUpTo, Bucket, DeleteBucket, AddSegment, DeleteSegment }
    Ledger(LedgerChange) { Add, DeleteRefunds, RolledUp }
    Message(MessageChange) { Add, Status, End, Carrier, Expiry }
    MessageException(MessageExceptionChange) { FailedOver, Unknown, LateReceipts, Refused, Delete }
    MoPart(MoPartChange) {
        Seen, DeleteSeen, AddUnfinished, UnfinishedSince, UnfinishedSize, DeleteUnfinished, AddPart, DeleteParts,
    }
    OptOut(OptOutChange) { Add, Delete }
    ParkedReceipt(ParkedReceiptChange) { Put, ParkedAt, Ambiguous, Delete, Loss, DeleteLossesBefore }
    Part(PartChange) { Add, State, DueTime, Expiry, Move, Delete, SetLate }
    Purge(PurgeChange) {
        Mark, DeleteTexts, Origin, DeleteMessages, DeleteTimelines, DeleteAlias, DeleteInboundUpTo,
    }
    Report(ReportChange) { Add, Delete }
    Review(ReviewChange) { Add, Met, Reopen, Decision, Delete }
    SetAside(SetAsideChange) { Parts, Message, Delete }
    Step(StepChange) { Reserved, Keep }
    UnassignedInbound(UnassignedInboundChange) { Add, Delete }
    UnnamedPart(UnnamedPartChange) { Put, Delete }
    UserToken(UserTokenChange) { Put, Delete, DeleteExpired }
    WebhookAttempt(WebhookAttemptChange) { Put, DeleteUpTo, DeleteWithoutEvent }
    WebhookEvent(WebhookEventChange) {
        Last, Add, Attempts, DueTime, PutOff, End, Restore, EndedAttempts, DeleteEndedBy,
    }
}

macro_rules! steps {
    ($($variant:ident),* $(,)?) => {
        pub(super) const STEPS: &[&str] = &[$(stringify!($variant)),*];

        pub(super) fn step_name(kind: &StepKind) -> &'static str {
            match kind {
                $(StepKind::$variant { .. } => stringify!($variant),)*
            }
        }
    };
}

steps![
    Accepted,
    Sent,
    Resent,
    NotSent,
    CarrierAccepted,
    NoCarrierId,
    CarrierIdReused,
    Throttled,
    TemporaryError,
    Rejected,
    Refused,
    InDoubt,
    LateResponse,
    Moved,
    FailedOver,
    Receipt,
    LateReceipt,
    UnreadableReceipt,
    Unknown,
    Expired,
    Cancelled,
    Reported,
    WebhookAttempt,
    State,
    Ended,
    ReportAnswered,
];
