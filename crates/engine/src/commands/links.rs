//! Commands of the links to carriers: a link opens, reports what it learned, and closes.

use crate::batch::Batch;
use crate::commands::{Command, OnFullDisk};
use crate::ops::{Answer, LinkBatch, LinkId, LinkKind, Recorded};
use crate::tables::TableError;
use hermod_domain::ids::CarrierId;

/// Registers a link. Parts are given to it once it reports free slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenLink {
    pub carrier: CarrierId,
    pub link: LinkId,
    pub kind: LinkKind,
}

impl Command for OpenLink {
    type Outcome = ();

    const ON_FULL_DISK: OnFullDisk = OnFullDisk::Run;

    fn execute(&self, batch: &mut Batch<'_>) -> Result<(), TableError> {
        match self.kind {
            LinkKind::Sends => batch.books.lanes.link_opened(self.carrier, self.link),
            // The lanes do not know it, so slots that it reports are ignored.
            LinkKind::ReceivesOnly => {}
        }
        Ok(())
    }
}

/// Removes a link. No part is given to it any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CloseLink {
    pub carrier: CarrierId,
    pub link: LinkId,
}

impl Command for CloseLink {
    type Outcome = ();

    const ON_FULL_DISK: OnFullDisk = OnFullDisk::Run;

    fn execute(&self, batch: &mut Batch<'_>) -> Result<(), TableError> {
        batch.books.lanes.link_closed(self.carrier, self.link);
        Ok(())
    }
}

impl Command for LinkBatch {
    type Outcome = ();

    const ON_FULL_DISK: OnFullDisk = OnFullDisk::Keep;

    fn execute(&self, batch: &mut Batch<'_>) -> Result<(), TableError> {
        let LinkBatch { carrier, ids, link, answers, receipts, inbound, slots, now } = self;
        batch.at(*now);
        if answers.iter().any(|record| record.answer == Answer::Throttled) {
            // "Slow down" is said to the link: what it had room for before that, it has not any more.
            batch.books.lanes.revoke(*carrier, *link);
        }
        for record in answers {
            batch.answer(*carrier, *ids, Some(*link), record)?;
        }
        for record in receipts {
            let fate = batch.receipt(*carrier, *ids, record)?;
            let recorded = Recorded { sequence: record.sequence, fate };
            batch.handouts.entry(*link).or_default().recorded.push(recorded);
        }
        for record in inbound {
            batch.receive_mo(*carrier, &record.part)?;
            batch.handouts.entry(*link).or_default().received.push(record.sequence);
        }
        batch.books.lanes.grant(*carrier, *link, *slots);
        Ok(())
    }
}
