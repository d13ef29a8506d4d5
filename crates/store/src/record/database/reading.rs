//! Reads of the record, beside the follower.

use crate::error::StoreError;
use crate::record::database::requests::FoundRequests;
use crate::record::database::schema;
use crate::record::database::search::Found;
use crate::record::database::statistics::Currencies;
use crate::record::database::text::Candidates;
use crate::record::database::{counting, erasing, requests, search, statistics, text, timeline};
use crate::record::tally::{Collected, SharedCollected};
use crate::record::{
    Count, Figures, MessageFilter, MessageHistory, RecordedMessage, RequestFilter, RequestGroup, Resolution,
    Scope, SearchLimits, StatisticRow, StatisticsQuery, TextQuery,
};
use crate::sql::Connection;
use crate::sql::read_results::NumberPage;
use crate::sql::readers::Readers;
use arc_swap::ArcSwapOption;
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::money::Currency;
use hermod_domain::time::Timestamp;
use hermod_engine::tables::TableError;
use std::path::Path;
use std::sync::Arc;

/// The readers of the record, and the figures that are not in its tables yet.
pub(crate) struct RecordReaders {
    /// None while the record is not open, or is being checked.
    readers: ArcSwapOption<Readers>,
    collected: SharedCollected,
}

impl RecordReaders {
    /// Returns the readers of a record that is not open yet.
    pub(crate) fn new(collected: SharedCollected) -> RecordReaders {
        RecordReaders { readers: ArcSwapOption::empty(), collected }
    }

    /// Runs a read in one snapshot. Fails with [`StoreError::RecordUnavailable`] until the follower has opened the record. The second argument has the figures that the snapshot lacks.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection, &Collected) -> Result<T, TableError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let collected = self.collected.clone();
        let readers = self.readers.load_full().ok_or(StoreError::RecordUnavailable)?;
        readers
            .run(move |connection| {
                let guard = collected.lock();
                let snapshot = connection.snapshot()?;
                // The snapshot begins with the first read.
                snapshot.prepare_cached("SELECT sequence FROM position")?.query_row([], |_| Ok(()))?;
                let collected = guard.clone();
                drop(guard);
                read(&snapshot, &collected)
            })
            .await
    }

    /// Makes later reads fail. Returns whether no read is running any more, so that the file may be replaced.
    pub(crate) fn try_close(&self) -> bool {
        self.readers.load().as_ref().is_none_or(|readers| readers.try_close())
    }

    /// Allows reads, after the follower has opened the record.
    pub(crate) fn open(&self, folder: &Path) -> Result<(), StoreError> {
        let readers = Readers::open_with(|| schema::open_for_reading(folder))?;
        self.readers.store(Some(Arc::new(readers)));
        Ok(())
    }

    /// Makes later reads fail with [`StoreError::RecordUnavailable`], after [`RecordReaders::try_close`].
    pub(crate) fn forget(&self) {
        self.readers.store(None);
    }
}

/// Defines a method of [`RecordReaders`] for each read: `fn name(arguments) -> Rows = |connection, collected| function(..)`. The
/// closure gets a connection and the figures that its tables lack.
macro_rules! reads {
    ($(fn $name:ident($($argument:ident: $of:ty),* $(,)?) -> $rows:ty = |$connection:ident, $collected:pat_param| $read:expr;)+) => {
        impl RecordReaders {$(
            pub(crate) async fn $name(&self, $($argument: $of),*) -> Result<$rows, StoreError> {
                self.read(move |$connection, $collected| $read).await
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
    fn statistics_by_currency(query: StatisticsQuery, currencies: Currencies) -> Vec<(StatisticRow, Option<Currency>)>
        = |connection, collected| statistics::statistics_by_currency(connection, collected, &query, &currencies);
    fn account_figures(accounts: Vec<AccountId>, range: (Resolution, Timestamp, Timestamp)) -> Vec<Figures>
        = |connection, collected| statistics::of_accounts(connection, collected, &accounts, range);
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
