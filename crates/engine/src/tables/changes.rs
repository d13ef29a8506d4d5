//! The changes of a batch, as data, and the tables as a batch sees them.

use crate::steps::MessageStep;
use crate::tables::{
    AliasChange, BalanceChange, CarrierIdChange, CatalogueRowChange, ConversationChange, DayTotalsChange,
    DeliveryFigureChange, ErasureChange, GivenUpReportChange, InboundChange, KeyChange, LedgerChange,
    MessageChange, MessageExceptionChange, MoPartChange, OptOutChange, ParkedReceiptChange, PartChange,
    PurgeChange, ReportChange, ReviewChange, SetAsideChange, StepChange, StoredTables, TableError,
    UnassignedInboundChange, UnnamedPartChange, WebhookAttemptChange, WebhookEventChange,
};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;

/// Names each kind of change once, with the method that applies it.
macro_rules! changes {
    ($($name:ident($change:ident) => $apply:ident),* $(,)?) => {
        /// A change of one table.
        #[derive(Clone, Serialize, Deserialize)]
        pub enum Change {
            $($name($change)),*
        }

        impl Change {
            fn apply(&self, stored: &dyn StoredTables) -> Result<(), TableError> {
                match self {
                    $(Change::$name(change) => stored.$apply(change)),*
                }
            }
        }

        $(
            impl From<$change> for Change {
                fn from(change: $change) -> Change {
                    Change::$name(change)
                }
            }
        )*
    };
}

changes! {
    Alias(AliasChange) => change_alias,
    Balance(BalanceChange) => change_balance,
    CarrierId(CarrierIdChange) => change_carrier_id,
    CatalogueRow(CatalogueRowChange) => change_catalogue_row,
    Conversation(ConversationChange) => change_conversation,
    DayTotals(DayTotalsChange) => change_day_totals,
    DeliveryFigure(DeliveryFigureChange) => change_delivery_figures,
    Erasure(ErasureChange) => change_erasure,
    GivenUpReport(GivenUpReportChange) => change_given_up_report,
    Inbound(InboundChange) => change_inbound,
    Key(KeyChange) => change_keys,
    Ledger(LedgerChange) => change_ledger,
    Message(MessageChange) => change_message,
    MessageException(MessageExceptionChange) => change_message_exceptions,
    MoPart(MoPartChange) => change_mo_parts,
    OptOut(OptOutChange) => change_opt_out,
    ParkedReceipt(ParkedReceiptChange) => change_parked_receipt,
    Part(PartChange) => change_part,
    Purge(PurgeChange) => change_by_purging,
    Report(ReportChange) => change_report,
    Review(ReviewChange) => change_review,
    SetAside(SetAsideChange) => change_set_aside,
    Step(StepChange) => change_steps,
    UnassignedInbound(UnassignedInboundChange) => change_unassigned_inbound,
    UnnamedPart(UnnamedPartChange) => change_unnamed_part,
    WebhookAttempt(WebhookAttemptChange) => change_webhook_attempt,
    WebhookEvent(WebhookEventChange) => change_webhook_event,
}

/// Changes in the order in which they were decided. Applying them cannot conflict: uniqueness was checked before.
#[derive(Default)]
pub struct Changes {
    pending: Vec<Change>,
}

impl Changes {
    fn apply(&mut self, stored: &dyn StoredTables) -> Result<(), TableError> {
        self.pending.drain(..).try_for_each(|change| change.apply(stored))
    }
}

/// The tables as a batch sees them: what is stored, with the batch's own changes.
///
/// Changes are collected, and applied before the next read and at the end of the batch.
pub struct Tables<'a> {
    stored: Box<dyn StoredTables + 'a>,
    changes: RefCell<Changes>,
}

impl<'a> Tables<'a> {
    pub fn new(stored: impl StoredTables + 'a) -> Tables<'a> {
        Tables { stored: Box::new(stored), changes: RefCell::default() }
    }

    /// Returns the stored tables, with all changes so far applied.
    pub fn read(&self) -> Result<&dyn StoredTables, TableError> {
        self.apply()?;
        Ok(&*self.stored)
    }

    pub fn write(&self, change: impl Into<Change>) {
        self.changes.borrow_mut().pending.push(change.into());
    }

    /// Applies the collected changes. Nothing can be written after that.
    pub fn finish(self) -> Result<(), TableError> {
        self.apply()
    }

    /// Applies the collected changes, and lets the store keep the steps that belong to timelines.
    pub fn keep_steps(&self, steps: &[MessageStep]) -> Result<(), TableError> {
        self.read()?.keep_steps(steps)
    }

    /// Applies the collected changes.
    pub fn apply(&self) -> Result<(), TableError> {
        self.changes.borrow_mut().apply(&*self.stored)
    }
}
