//! Commands of the links to carriers: a link opens, reports what it learned, and closes.

use crate::batch::Batch;
use crate::commands::{Command, OnFullDisk};
use crate::entry_uses;
use crate::mo;
use crate::ops::{
    CarrierIdQuery, LinkBatch, LinkId, LinkKind, LinkNumber, NumberedEntry, ReceiptRecord, RecordedReceipt,
    SubmitResponse, Usage,
};
use crate::read_ahead::ReadPlan;
use crate::receipt;
use crate::submit_response;
use crate::tables::TableError;
use hermod_domain::ids::CarrierId;
use serde::{Deserialize, Serialize};

/// Registers a link. Parts are given to it once it reports free slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenLink {
    pub carrier: CarrierId,
    pub link: LinkId,
    pub number: LinkNumber,
    pub kind: LinkKind,
}

impl Command for OpenLink {
    type Outcome = ();

    const ON_FULL_DISK: OnFullDisk = OnFullDisk::Run;
    const IGNORES_REPORTS: bool = true;

    fn execute(&self, batch: &mut Batch<'_>) -> Result<(), TableError> {
        match self.kind {
            LinkKind::Sends => batch.state.lanes.link_opened(self.carrier, self.link, self.number),
            // Not added to the lanes, so slots that it reports are ignored.
            LinkKind::ReceivesOnly => {}
        }
        Ok(())
    }
}

/// Removes a link. It gets no further parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CloseLink {
    pub carrier: CarrierId,
    pub link: LinkId,
}

impl Command for CloseLink {
    type Outcome = ();

    const ON_FULL_DISK: OnFullDisk = OnFullDisk::Run;
    const IGNORES_REPORTS: bool = true;

    fn execute(&self, batch: &mut Batch<'_>) -> Result<(), TableError> {
        batch.state.lanes.link_closed(self.carrier, self.link);
        Ok(())
    }
}

impl Command for LinkBatch {
    type Outcome = ();

    const ON_FULL_DISK: OnFullDisk = OnFullDisk::Keep;
    const IGNORES_REPORTS: bool = true;

    fn plan_reads<'c>(&'c self, plan: &mut ReadPlan<'c>) {
        let (carrier, ids, day) = (self.carrier, self.ids, self.now.day());
        self.responses.iter().for_each(|record| plan.add_response(carrier, record, day));
        for ReceiptRecord { remote, source, .. } in &self.receipts {
            if let Some(remote) = remote {
                plan.add_receipt(CarrierIdQuery { carrier, ids, remote, source: *source });
            }
        }
    }

    fn execute(&self, batch: &mut Batch<'_>) -> Result<(), TableError> {
        let LinkBatch { carrier, ids, link, responses, receipts, inbound, slots, now } = self;
        batch.advance_to(*now);
        let entry = NumberedEntry::Carrier(*carrier);
        if entry_uses::is_removed(batch, entry) {
            // The link is being closed. What it received gets no response.
            return Ok(());
        }
        if !inbound.is_empty() {
            entry_uses::note(batch, entry, Usage::InboundMessage);
        }
        if !receipts.is_empty() {
            entry_uses::note(batch, entry, Usage::Receipt);
        }
        if responses.iter().any(|record| record.response == SubmitResponse::Throttled) {
            // The carrier throttles the link: slots that it granted before are void.
            batch.state.lanes.revoke(*carrier, *link);
        }
        for record in responses {
            submit_response::apply(batch, *carrier, *ids, Some(*link), record)?;
        }
        for record in receipts {
            let outcome = receipt::record(batch, *carrier, *ids, record)?;
            let recorded = RecordedReceipt { sequence: record.sequence, outcome };
            batch.results.handouts.entry(*link).or_default().recorded.push(recorded);
        }
        for record in inbound {
            mo::receive(batch, *carrier, &record.part)?;
            batch.results.handouts.entry(*link).or_default().received.push(record.sequence);
        }
        batch.state.lanes.grant(*carrier, *link, *slots);
        Ok(())
    }
}
