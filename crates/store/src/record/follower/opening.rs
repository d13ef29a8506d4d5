//! Opens the record, checks it before it is read, and replaces one that cannot be used.

use crate::error::StoreError;
use crate::record::RecordTrouble;
use crate::record::database::checking::RecordCheck;
use crate::record::database::schema;
use crate::record::database::writing::RecordConnection;
use crate::record::follower::Follower;
use crate::record::pending::PendingMessages;
use std::sync::Arc;
use std::time::Duration;

/// Pause between two looks whether a read of the record has ended, before its file is replaced.
const READS_POLL: Duration = Duration::from_millis(5);

/// What to do with a record that is not used any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Discard {
    /// Keep it under another name: it is damaged.
    SetAside,
    Delete,
}

impl Follower {
    /// Opens the record, and begins to catch up if it lacks something. It is read once it is checked.
    pub(super) fn open_record(&mut self) -> Result<(), StoreError> {
        let record = RecordConnection::open(&self.folder, self.store)?;
        self.is_replaced |= record.is_replaced;
        self.record = Some(record);
        self.begin_reading().inspect_err(|_| self.record = None)
    }

    fn begin_reading(&mut self) -> Result<(), StoreError> {
        self.resume()?;
        let needs_check = self.record()?.needs_check;
        self.check = needs_check.then(|| RecordCheck::start(&self.folder)).transpose()?;
        if self.check.is_none() { self.readers.open(&self.folder) } else { Ok(()) }
    }

    /// Allows reads once the record is checked. Fails if it is damaged.
    pub(super) fn end_check(&mut self) -> Result<(), StoreError> {
        let Some(result) = self.check.as_mut().and_then(RecordCheck::result) else { return Ok(()) };
        self.check = None;
        if let Err(error) = result {
            tracing::warn!(%error, "The check of the record has found damage");
            return self.replace(Discard::SetAside);
        }
        if let Some(record) = &mut self.record {
            record.needs_check = false;
        }
        // If it fails, the record is opened again.
        self.readers.open(&self.folder).inspect_err(|_| self.record = None)
    }

    /// Reads back what was counted, and begins to catch up if the store has other batches than the record.
    fn resume(&mut self) -> Result<(), StoreError> {
        *self.following.collected.lock() = Arc::new(self.record()?.read_collected()?);
        self.position = self.record()?.position()?;
        if self.position.sequence != self.store.sequence || !self.position.is_caught_up() {
            self.begin_catching_up(self.store.sequence)?;
        }
        Ok(())
    }

    /// Returns why the record cannot be used as usual.
    pub(super) fn trouble(&self) -> Option<RecordTrouble> {
        if self.has_failed {
            Some(RecordTrouble::Unusable)
        } else if self.is_replaced {
            Some(RecordTrouble::Rebuilding)
        } else if self.check.is_some() {
            Some(RecordTrouble::Checking)
        } else {
            None
        }
    }

    /// Begins a new record if this one is damaged.
    pub(super) fn repair(&mut self, error: &StoreError) {
        let is_damaged = error.is_file_damaged() || matches!(error, StoreError::Damaged(_));
        if is_damaged && let Err(error) = self.replace(Discard::SetAside) {
            tracing::error!(%error, "The damaged record cannot be replaced");
        }
    }

    /// Replaces the record by an empty one, which is filled from the store.
    #[expect(clippy::disallowed_methods, reason = "no event says that the last read has ended")]
    pub(super) fn replace(&mut self, discard: Discard) -> Result<(), StoreError> {
        self.check = None;
        while !self.readers.try_close() {
            std::thread::sleep(READS_POLL);
        }
        self.readers.forget();
        // A damaged file may fail to close; its connection is gone in any case.
        self.record = None;
        match discard {
            Discard::SetAside => schema::set_aside(&self.folder, "it is damaged")?,
            Discard::Delete => schema::delete(&self.folder)?,
        }
        // What was taken is in the store too.
        (self.pending, self.dropped) = (PendingMessages::default(), None);
        self.store.sequence = self.taken;
        self.is_replaced |= discard == Discard::SetAside;
        self.open_record()
    }
}
