//! What a batch changes in the tables, as data.

use crate::tables::{
    AliasChange, BalanceChange, CarrierIdChange, CatalogueRowChange, ConversationChange, DayTotalsChange,
    DeliveryFigureChange, ErasureChange, GivenUpReportChange, InboundChange, KeyChange, LedgerChange,
    MessageChange, MoPartChange, OptOutChange, ParkedReceiptChange, PartChange, PurgeChange, ReportChange,
    ReviewChange, SetAsideChange, StoredTables, TableError, TimelineLine, UnassignedInboundChange,
    UnnamedPartChange, WebhookAttemptChange, WebhookEventChange,
};
use std::cell::RefCell;

/// A change of one table.
#[derive(Clone)]
pub enum Change {
    CarrierId(CarrierIdChange),
    Key(KeyChange),
    Purge(PurgeChange),
    Erasure(ErasureChange),
    Review(ReviewChange),
    Ledger(LedgerChange),
    TimelineLine(TimelineLine),
    SetAside(SetAsideChange),
    Report(ReportChange),
    WebhookEvent(WebhookEventChange),
    UnnamedPart(UnnamedPartChange),
    CatalogueRow(CatalogueRowChange),
    ParkedReceipt(ParkedReceiptChange),
    MoPart(MoPartChange),
    WebhookAttempt(WebhookAttemptChange),
    Inbound(InboundChange),
    UnassignedInbound(UnassignedInboundChange),
    GivenUpReport(GivenUpReportChange),
    DeliveryFigure(DeliveryFigureChange),
    Conversation(ConversationChange),
    OptOut(OptOutChange),
    Alias(AliasChange),
    DayTotals(DayTotalsChange),
    Balance(BalanceChange),
    Message(MessageChange),
    Part(PartChange),
}

impl Change {
    fn apply(&self, stored: &dyn StoredTables) -> Result<(), TableError> {
        match self {
            Change::CarrierId(change) => stored.change_carrier_id(change),
            Change::Key(change) => stored.change_keys(change),
            Change::Purge(change) => stored.change_by_purging(change),
            Change::Erasure(change) => stored.change_erasure(change),
            Change::Review(change) => stored.change_review(change),
            Change::Ledger(change) => stored.change_ledger(change),
            Change::TimelineLine(line) => stored.add_timeline_line(line),
            Change::SetAside(change) => stored.change_set_aside(change),
            Change::Report(change) => stored.change_report(change),
            Change::WebhookEvent(change) => stored.change_webhook_event(change),
            Change::UnnamedPart(change) => stored.change_unnamed_part(change),
            Change::CatalogueRow(change) => stored.change_catalogue_row(change),
            Change::ParkedReceipt(change) => stored.change_parked_receipt(change),
            Change::MoPart(change) => stored.change_mo_parts(change),
            Change::WebhookAttempt(change) => stored.change_webhook_attempt(change),
            Change::Inbound(change) => stored.change_inbound(change),
            Change::UnassignedInbound(change) => stored.change_unassigned_inbound(change),
            Change::GivenUpReport(change) => stored.change_given_up_report(change),
            Change::DeliveryFigure(change) => stored.change_delivery_figures(change),
            Change::Conversation(change) => stored.change_conversation(change),
            Change::OptOut(change) => stored.change_opt_out(change),
            Change::Alias(change) => stored.change_alias(change),
            Change::DayTotals(change) => stored.change_day_totals(change),
            Change::Balance(change) => stored.change_balance(change),
            Change::Message(change) => stored.change_message(change),
            Change::Part(change) => stored.change_part(change),
        }
    }
}

/// Changes in the order in which they were decided. Applying them cannot conflict: what must be unique was decided before.
#[derive(Default)]
pub struct Changes {
    pending: Vec<Change>,
}

impl Changes {
    fn apply(&mut self, stored: &dyn StoredTables) -> Result<(), TableError> {
        self.pending.drain(..).try_for_each(|change| change.apply(stored))
    }
}

/// The tables as a batch sees them: what is stored, and the batch's own changes over it.
///
/// Changes are gathered. They are applied before anything is read, and at the end of the batch.
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

    /// Applies what has been gathered. Nothing is written after that.
    pub fn finish(self) -> Result<(), TableError> {
        self.apply()
    }

    /// Applies what has been gathered.
    pub fn apply(&self) -> Result<(), TableError> {
        self.changes.borrow_mut().apply(&*self.stored)
    }
}
