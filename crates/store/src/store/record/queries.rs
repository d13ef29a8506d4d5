//! Reads of the record: searches, histories of messages, statistics and the request log.

use crate::backend::record::{Found, FoundRequests};
use crate::backend::{Needle, TextMatches, add_lines, has_gap};
use crate::error::StoreError;
use crate::record::{
    Count, MessageFilter, MessageHistory, MessagePage, RequestFilter, RequestGroup, RequestPage, Scope,
    SearchLimits, StatisticRow, StatisticsQuery, TextPage, TextQuery,
};
use crate::store::Store;
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::time::Timestamp;
use std::time::Duration;

/// The longest time range of a text search.
const TEXT_RANGE_MAX: Duration = Duration::from_secs(7 * 86_400);

/// Each fails with [`StoreError::RecordOff`] if the store keeps no record.
impl Store {
    /// Returns a page of the messages that a filter finds, newest first.
    pub async fn search_messages(
        &self,
        scope: Scope,
        filter: MessageFilter,
        limits: SearchLimits,
    ) -> Result<MessagePage, StoreError> {
        let Found { rows, next, searched_to } = self.record()?.backend.search(scope, filter, limits).await?;
        Ok(MessagePage { rows, next, searched_to, status: self.record_status() })
    }

    /// Counts the messages that a filter finds. A search that would have to look at too many rows returns how many it
    /// found until then.
    pub async fn count_messages(&self, scope: Scope, filter: MessageFilter) -> Result<Count, StoreError> {
        self.record()?.backend.count(scope, filter).await
    }

    /// Returns everything that happened to one message; none if there is none with this id in the scope. Where steps are
    /// missing, it has the lines of the store's own timeline. If the record does not have the message yet, this waits until
    /// the record has everything that was committed before.
    pub async fn message_history(
        &self,
        scope: Scope,
        id: MessageId,
    ) -> Result<Option<MessageHistory>, StoreError> {
        let (record, status) = (&self.record()?.backend, self.record_status());
        let mut found = record.history(scope, id).await?;
        if found.is_none() && !status.lag.is_zero() && status.catching_up == 0 {
            self.flush_record().await?;
            found = record.history(scope, id).await?;
        }
        let Some(mut history) = found else { return Ok(None) };
        history.status = self.record_status();
        if has_gap(&history) {
            add_lines(&mut history, self.inner.access.backend.record_lines(id).await?);
        }
        Ok(Some(history))
    }

    /// Searches the texts of one account's messages, newest first, in one slice: it ends after a limited number of texts
    /// or a limited time. The next slice begins `before` the message in [`TextPage::next`].
    pub async fn search_text(
        &self,
        account: AccountId,
        query: TextQuery,
        before: Option<MessageId>,
        rows: u32,
    ) -> Result<TextPage, StoreError> {
        if query.until.since(query.from) > TEXT_RANGE_MAX {
            return Err(StoreError::TextRangeTooLong);
        }
        let record = &self.record()?.backend;
        let (from, needle) = (query.from, Needle::new(&query.text));
        let candidates = record.text_candidates(account, query, before).await?;
        let TextMatches { ids, looked_at, next } =
            self.inner.access.backend.record_texts(account, candidates, needle, rows).await?;
        let rows = record.messages(account, ids).await?;
        let searched_to = next.map_or(from, MessageId::accepted_at);
        Ok(TextPage { rows, next, searched_to, looked_at, status: self.record_status() })
    }

    /// Returns the figures of each interval and value, oldest first, at most
    /// [`STATISTICS_ROWS_MAX`](crate::record::STATISTICS_ROWS_MAX).
    pub async fn statistics(
        &self,
        scope: Scope,
        query: StatisticsQuery,
    ) -> Result<Vec<StatisticRow>, StoreError> {
        self.record()?.backend.statistics(scope, query).await
    }

    /// Returns a page of the request log, newest first: lines with numbers below `before`.
    pub async fn request_log(
        &self,
        scope: Scope,
        filter: RequestFilter,
        before: Option<u64>,
        rows: u32,
    ) -> Result<RequestPage, StoreError> {
        let FoundRequests { rows, next, .. } =
            self.record()?.backend.request_log(scope, filter, before, rows).await?;
        Ok(RequestPage { rows, next, status: self.record_status() })
    }

    /// Returns the rejected requests of a time range grouped by code, the most frequent first, each with its last example.
    pub async fn refusal_groups(
        &self,
        scope: Scope,
        from: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<RequestGroup>, StoreError> {
        self.record()?.backend.refusal_groups(scope, from, until).await
    }
}
