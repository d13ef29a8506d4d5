//! The record in the databases that a store can use: its readers, the connection that writes it, and the reads of the store's
//! tables that it needs. One variant per backend, like [`crate::backend::Backend`].

use crate::backend::Backend;
use crate::error::StoreError;
use crate::read_results::NumberPage;
pub(crate) use crate::read_results::StorePosition;
use crate::record::pending::RecordPosition;
use crate::record::tally::{Collected, SharedCollected};
use crate::record::{
    Count, MessageFilter, MessageHistory, RecordedMessage, RequestFilter, RequestGroup, Scope, SearchLimits,
    StatisticRow, StatisticsQuery, TextQuery,
};
use crate::sqlite::record::reading::RecordReaders;
use crate::sqlite::record::source::RecordSource;
use crate::sqlite::record::text::Candidates;
use crate::sqlite::record::writing::RecordConnection;
use crate::sqlite::record::{
    counting, erasing, open_messages, requests, schema, search, statistics, text, timeline,
};
#[cfg(test)]
use crate::sqlite::schema as store_schema;
use hermod_domain::erasure::ErasureScope;
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::time::Timestamp;
use hermod_engine::tables::TableError;
use std::path::Path;

pub(crate) use crate::sqlite::record::checking::RecordCheck;
pub(crate) use crate::sqlite::record::erasing::erase_in_unused;
pub(crate) use crate::sqlite::record::purging::RecordRetention;
pub(crate) use crate::sqlite::record::requests::FoundRequests;
pub(crate) use crate::sqlite::record::search::Found;
pub(crate) use crate::sqlite::record::source::Slice;
pub(crate) use crate::sqlite::record::writing::{Flush, Flushed};

/// The record as it is read.
pub(crate) enum RecordBackend {
    Sqlite(RecordReaders),
}

/// The record as the follower writes it, and the store's tables as it reads them.
pub(crate) enum RecordWriting {
    /// The record is none until it is opened, and while it cannot be.
    Sqlite { record: Option<RecordConnection>, source: RecordSource },
}

/// Prepares the record of a store that is open. The follower opens its file, because the store does not need it.
pub(crate) fn prepare(
    folder: &Path,
    store: &Backend,
    collected: SharedCollected,
) -> Result<(RecordBackend, RecordWriting), StoreError> {
    let source = match store {
        Backend::Sqlite(database) => RecordSource::open(folder, Some(database.shared_progress()))?,
        Backend::Postgres(database) => RecordSource::of(database.reader()?),
    };
    Ok((RecordBackend::Sqlite(RecordReaders::new(collected)), RecordWriting::Sqlite { record: None, source }))
}

/// Opens the record for its writer only, beside a store that no process has open.
pub(crate) fn open_writing_alone(
    folder: &Path,
    position: StorePosition,
) -> Result<RecordWriting, StoreError> {
    let mut writing = RecordWriting::Sqlite { record: None, source: RecordSource::open(folder, None)? };
    writing.open(folder, position)?;
    Ok(writing)
}

/// Prepares the record of a store that no process has open.
#[cfg(test)]
pub(crate) fn prepare_beside_closed(
    folder: &Path,
    collected: SharedCollected,
) -> Result<(StorePosition, RecordBackend, RecordWriting), StoreError> {
    let found = store_schema::journal_position(&store_schema::open_for_reading(folder)?)?;
    let position = StorePosition { id: found.history.0, sequence: found.last };
    let writing = RecordWriting::Sqlite { record: None, source: RecordSource::open(folder, None)? };
    Ok((position, RecordBackend::Sqlite(RecordReaders::new(collected)), writing))
}

/// Defines a method of [`RecordBackend`] for each read: `fn name(arguments) -> Rows = sqlite_function(its arguments)`. The
/// function gets a connection and the figures that its tables lack.
macro_rules! reads {
    ($(fn $name:ident($($argument:ident: $of:ty),* $(,)?) -> $rows:ty = |$connection:ident, $collected:pat_param| $read:expr;)+) => {
        impl RecordBackend {$(
            pub(crate) async fn $name(&self, $($argument: $of),*) -> Result<$rows, StoreError> {
                let RecordBackend::Sqlite(readers) = self;
                readers.read(move |$connection, $collected| $read).await
            }
        )+}
    };
}

reads! {
    fn search(scope: Scope, filter: MessageFilter, limits: SearchLimits) -> Found
        = |connection, collected| search::search(connection, collected, scope, &filter, limits);
    fn count(scope: Scope, filter: MessageFilter) -> Count
        = |connection, collected| counting::count(connection, collected, scope, &filter);
    fn history(scope: Scope, id: MessageId) -> Option<MessageHistory>
        = |connection, _| timeline::history(connection, scope, id);
    fn statistics(scope: Scope, query: StatisticsQuery) -> Vec<StatisticRow>
        = |connection, collected| statistics::statistics(connection, collected, scope, &query);
    fn request_log(scope: Scope, filter: RequestFilter, before: Option<u64>, rows: u32) -> FoundRequests
        = |connection, _| requests::search(connection, scope, &filter, before, rows);
    fn refusal_groups(scope: Scope, from: Timestamp, until: Timestamp) -> Vec<RequestGroup>
        = |connection, collected| requests::groups(connection, collected, scope, from, until);
    fn recipients(after: Option<MessageId>) -> NumberPage<MessageId>
        = |connection, _| erasing::recipients(connection, after);
    fn text_candidates(account: AccountId, query: TextQuery, before: Option<MessageId>) -> Candidates
        = |connection, _| text::candidates(connection, account, &query, before);
    fn messages(account: AccountId, ids: Vec<MessageId>) -> Vec<RecordedMessage>
        = |connection, _| text::messages(connection, account, &ids);
}

impl RecordBackend {
    /// Makes later reads fail. Returns whether no read is running any more.
    pub(crate) fn try_close(&self) -> bool {
        let RecordBackend::Sqlite(readers) = self;
        readers.try_close()
    }

    /// Allows reads, after the record was opened.
    pub(crate) fn open(&self, folder: &Path) -> Result<(), StoreError> {
        let RecordBackend::Sqlite(readers) = self;
        readers.open(folder)
    }

    /// Makes later reads fail with [`StoreError::RecordUnavailable`], after [`RecordBackend::try_close`].
    pub(crate) fn forget(&self) {
        let RecordBackend::Sqlite(readers) = self;
        readers.forget();
    }
}

/// What to do with a record that is not used any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Discard {
    /// Keep it under another name: it is damaged.
    SetAside,
    Delete,
}

impl RecordWriting {
    pub(crate) fn is_open(&self) -> bool {
        let RecordWriting::Sqlite { record, .. } = self;
        record.is_some()
    }

    /// Opens the record. Creates it if it does not exist, or if it cannot be used. Returns whether an unusable one was moved aside.
    pub(crate) fn open(&mut self, folder: &Path, position: StorePosition) -> Result<bool, StoreError> {
        let RecordWriting::Sqlite { record, .. } = self;
        let opened = RecordConnection::open(folder, position.id, position.sequence)?;
        Ok(record.insert(opened).is_replaced)
    }

    /// Begins the check that must succeed before the record is read, if it needs one.
    pub(crate) fn begin_check(&self, folder: &Path) -> Result<Option<RecordCheck>, StoreError> {
        self.record()?.needs_check.then(|| RecordCheck::start(folder)).transpose()
    }

    /// Closes the record. A damaged file may fail to close; its connection is gone in any case.
    pub(crate) fn close(&mut self) {
        let RecordWriting::Sqlite { record, .. } = self;
        drop(record.take());
    }

    /// Closes and removes the record. No reader may have it open.
    pub(crate) fn discard(&mut self, folder: &Path, discard: Discard) -> Result<(), StoreError> {
        self.close();
        match discard {
            Discard::SetAside => schema::set_aside(folder, "it is damaged"),
            Discard::Delete => schema::delete(folder),
        }
    }

    /// Notes that the check of the record has succeeded.
    pub(crate) fn note_checked(&mut self) {
        let RecordWriting::Sqlite { record, .. } = self;
        if let Some(record) = record {
            record.needs_check = false;
        }
    }

    fn record(&self) -> Result<&RecordConnection, TableError> {
        let RecordWriting::Sqlite { record, .. } = self;
        record.as_ref().ok_or_else(|| StoreError::RecordUnavailable.into())
    }

    pub(crate) fn position(&self) -> Result<RecordPosition, TableError> {
        self.record()?.position()
    }

    /// Reads back the figures that are not in the tables of the statistics.
    pub(crate) fn read_collected(&self) -> Result<Collected, TableError> {
        self.record()?.read_collected()
    }

    /// Writes one flush. Nothing is changed if it fails.
    pub(crate) fn flush(&mut self, flush: &Flush<'_>) -> Result<Flushed, TableError> {
        let RecordWriting::Sqlite { record, .. } = self;
        record.as_mut().ok_or(StoreError::RecordUnavailable)?.flush(flush)
    }

    /// Moves the collected figures to the tables of the statistics.
    pub(crate) fn fold(&self, collected: &SharedCollected, now: Timestamp) -> Result<(), TableError> {
        self.record()?.fold(collected, now)
    }

    /// Deletes some rows that are past their retention. Returns whether there may be more.
    pub(crate) fn purge(&self, keep: RecordRetention) -> Result<bool, TableError> {
        self.record()?.purge(keep)
    }

    /// Erases a number, and deletes a record that was moved aside. Returns in how many messages.
    pub(crate) fn erase(&self, folder: &Path, scope: &ErasureScope) -> Result<u64, StoreError> {
        schema::delete_unusable(folder)?;
        Ok(self.record()?.erase(scope)?)
    }

    /// Does the maintenance that the database needs between two flushes.
    pub(crate) fn after_flush(&self) -> Result<(), TableError> {
        self.record()?.checkpoint_if_due()
    }

    /// Completes the file before it is closed.
    pub(crate) fn finish(&self) -> Result<(), TableError> {
        self.record()?.finish()
    }

    /// Returns the newest message of the record.
    pub(crate) fn newest_recorded(&self) -> Result<Option<i64>, TableError> {
        open_messages::newest(self.record()?.connection())
    }

    /// Returns the next open messages of the record, from `first` to `last`.
    pub(crate) fn open_messages(&self, first: i64, last: i64, limit: usize) -> Result<Vec<i64>, TableError> {
        open_messages::list(self.record()?.connection(), first, last, limit)
    }

    /// Returns a message if the record has it as open.
    pub(crate) fn open_message(&self, id: i64) -> Result<Option<RecordedMessage>, TableError> {
        open_messages::find(self.record()?.connection(), id)
    }

    /// Whether the store's tables have this batch. Makes the writer flush if they do not.
    pub(crate) fn store_has(&self, sequence: u64) -> bool {
        let RecordWriting::Sqlite { source, .. } = self;
        source.has(sequence)
    }

    /// Returns the newest message of the store.
    pub(crate) fn newest_stored(&self) -> Result<Option<i64>, TableError> {
        let RecordWriting::Sqlite { source, .. } = self;
        source.newest()
    }

    /// Counts messages of the store, up to `limit`.
    pub(crate) fn count_stored(&self, first: i64, last: i64, limit: u32) -> Result<u64, TableError> {
        let RecordWriting::Sqlite { source, .. } = self;
        source.count(first, last, limit)
    }

    /// Reads the next messages of the store.
    pub(crate) fn stored_from(&self, first: i64, last: i64, limit: usize) -> Result<Slice, TableError> {
        let RecordWriting::Sqlite { source, .. } = self;
        source.messages_from(first, last, limit)
    }

    /// Reads these messages of the store.
    pub(crate) fn stored(&self, ids: &[i64]) -> Result<Slice, TableError> {
        let RecordWriting::Sqlite { source, .. } = self;
        source.messages(ids)
    }
}
