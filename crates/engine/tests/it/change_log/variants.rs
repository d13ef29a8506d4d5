//! The variants of all changes by name: a variant that is not listed here does not compile, and one that is listed needs
//! a sample.

use hermod_engine::described_tables;
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

macro_rules! with_described {
    ($($variant:ident: $row:ty => $table:ident,)*) => {
        changes! {
            CarrierId(CarrierIdChange) { CreateDay, RetireDay, DeleteRetired, DropRetiredDay, Add, Put }
            Erasure(ErasureChange) {
                Message, UnnamedParts, Inbound, Others, CarrierId, Response, Keep,
            }
            Key(KeyChange) { AddToLog, ClearLog, DeleteLogUpTo, Bucket, DeleteBucket, AddSegment, DeleteSegment }
            Message(MessageChange) { Add, Status, End, Carrier, Expiry }
            MoPart(MoPartChange) {
                Seen, DeleteSeen, AddUnfinished, UnfinishedSince, UnfinishedSize, DeleteUnfinished, AddPart, DeleteParts,
            }
            Part(PartChange) { Add, State, DueTime, Expiry, Move, Delete, SetLate }
            Purge(PurgeChange) {
                Mark, DeleteTexts, Origin, DeleteMessages, DeleteTimelines,
            }
            Report(ReportChange) { Add, Delete }
            SetAside(SetAsideChange) { Parts, Message, Delete }
            Step(StepChange) { Reserved, Keep }
            WebhookEvent(WebhookEventChange) {
                Last, Add, Attempts, DueTime, PutOff, End, Restore, EndedAttempts, DeleteEndedBy,
                DeleteAttemptsWithoutEvent,
            }
            $($variant(RowChange) { Add, Put, Merge, Delete, DeleteIn })*
        }
    };
}

described_tables!(with_described);

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
    CarrierCost,
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
