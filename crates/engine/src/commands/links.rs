//! Commands of the links to carriers: a link opens, reports what it learned, and closes.

use crate::batch::Batch;
use crate::commands::{Command, OnFullDisk};
use crate::ops::{LinkBatch, LinkId, LinkKind};
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
        batch.link_batch(self)
    }
}
