//! Compares messages with a filter. Cheap columns come first; keys and steps are only read for messages that match otherwise.

use crate::record::database::keys::{self, Chunk};
use crate::record::keys::{KeyKind, SearchKey};
use crate::record::pending::stored_steps;
use crate::record::{MessageFilter, RecipientFilter, Scope, StepNote};
use crate::sql::{Connection, Row};
use hermod_domain::ids::{AccountId, RemoteId};
use hermod_domain::lifecycle::MessageState;
use hermod_domain::numbers::Numbers;
use hermod_domain::phone::Msisdn;
use hermod_engine::erase::ERASED_NUMBER;
use hermod_engine::steps::StepKind;
use hermod_engine::tables::TableError;
use std::ops::Range;

/// A filter within a scope, as messages are compared with it.
pub(super) struct Matcher<'c> {
    connection: &'c Connection,
    scope: Scope,
    filter: &'c MessageFilter,
    /// The keys of the recipients; an empty range if no number can match.
    recipients: Option<(i64, i64)>,
    /// The ids that may match.
    pub(super) ids: Range<i64>,
    chunks: &'c [Chunk],
}

impl<'c> Matcher<'c> {
    pub(super) fn new(
        connection: &'c Connection,
        (scope, filter): (Scope, &'c MessageFilter),
        ids: Range<i64>,
        chunks: &'c [Chunk],
    ) -> Matcher<'c> {
        Matcher { connection, scope, filter, recipients: recipients_of(filter), ids, chunks }
    }

    /// Whether a row matches. It has the columns of a message.
    pub(super) fn matches(&self, row: &Row<'_>) -> Result<bool, TableError> {
        let MessageFilter {
            id,
            recipient: _,
            sender,
            state,
            country,
            network,
            carrier,
            connection,
            carrier_id: _,
            request: _,
            key: _,
            event: _,
            // Both are in the range of ids.
            from: _,
            until: _,
        } = self.filter;
        let row_id: i64 = row.get(0)?;
        if !self.scope.includes(AccountId::new(row.get(1)?))
            || !self.ids.contains(&row_id)
            || id.is_some_and(|id| id.as_i64() != row_id)
        {
            return Ok(false);
        }
        if let Some(connection) = connection
            && row.get::<u32>(2)? != connection.get()
        {
            return Ok(false);
        }
        if let Some(carrier) = carrier
            && row.get::<u32>(3)? != carrier.get()
        {
            return Ok(false);
        }
        if let Some(sender) = sender {
            let stored = row.get_ref(4)?.as_str()?;
            if stored.strip_prefix('+').unwrap_or(stored) != sender.address() {
                return Ok(false);
            }
        }
        if let Some(state) = state
            && MessageState::from_stored(row.get(9)?).map_err(TableError::unreadable)? != *state
        {
            return Ok(false);
        }
        let needs_number = self.recipients.is_some() || country.is_some() || network.is_some();
        if needs_number && !self.matches_number(row.get::<i64>(5)?.cast_unsigned()) {
            return Ok(false);
        }
        self.matches_keys(row_id)
    }

    fn matches_number(&self, number: u64) -> bool {
        let Some(to) = Msisdn::from_number(number).filter(|_| number != ERASED_NUMBER) else { return false };
        if let Some((first, last)) = self.recipients
            && !(first..=last).contains(&SearchKey::of_recipient(to).key)
        {
            return false;
        }
        let MessageFilter { country, network, .. } = self.filter;
        if country.is_none() && network.is_none() {
            return true;
        }
        let found = Numbers::embedded().find(to);
        country.is_none_or(|country| found.country == Some(country))
            && network.is_none_or(|network| found.network == Some(network))
    }

    /// Whether a message has the keys of the filter.
    fn matches_keys(&self, id: i64) -> Result<bool, TableError> {
        let MessageFilter { carrier_id, request, key, event, .. } = self.filter;
        for key in [key.as_ref().map(SearchKey::of_idempotency_key), event.map(SearchKey::of_event)] {
            if let Some(key) = key
                && !keys::has_key(self.connection, self.chunks, key, id)?
            {
                return Ok(false);
            }
        }
        if carrier_id.is_none() && request.is_none() {
            return Ok(true);
        }
        let mut columns =
            self.connection.prepare_cached("SELECT request, steps FROM message WHERE id = ?1")?;
        columns.query_row([id], |row| {
            let matches_request = match request {
                Some(request) => row.get_ref(0)?.as_str_or_null()? == Some(request),
                None => true,
            };
            let matches_id = match carrier_id {
                Some(wanted) if matches_request => has_carrier_id(row.get_ref(1)?.as_blob()?, wanted),
                _ => Ok(true),
            };
            Ok(matches_id.map(|matches_id| matches_request && matches_id))
        })?
    }
}

/// Whether the steps of a message name this id of a carrier. Where steps are missing, its key decides.
fn has_carrier_id(steps: &[u8], wanted: &RemoteId) -> Result<bool, TableError> {
    Ok(stored_steps(steps).map_err(TableError::unreadable)?.iter().any(|step| match &step.what {
        StepNote::Step(
            StepKind::CarrierAccepted { remote, .. } | StepKind::CarrierIdReused { remote, .. },
        ) => *remote == *wanted,
        StepNote::Gap | StepNote::More => true,
        StepNote::Step(_) | StepNote::Stored { .. } => false,
    }))
}

/// Returns the first and last key of the recipients that a filter wants.
fn recipients_of(filter: &MessageFilter) -> Option<(i64, i64)> {
    Some(match filter.recipient.as_ref()? {
        RecipientFilter::Exact(to) => {
            let key = SearchKey::of_recipient(*to).key;
            (key, key)
        }
        RecipientFilter::Prefix(prefix) => SearchKey::recipients_with(prefix).unwrap_or((1, 0)),
    })
}

/// Returns the kind and the range of the keys by which a filter is looked up, the most selective first; none if it has none.
pub(super) fn driver_of(filter: &MessageFilter) -> Option<(KeyKind, i64, i64)> {
    let MessageFilter { carrier_id, request, key, event, .. } = filter;
    let exact = [
        key.as_ref().map(SearchKey::of_idempotency_key),
        event.map(SearchKey::of_event),
        carrier_id.as_ref().map(SearchKey::of_carrier_id),
        request.as_deref().map(SearchKey::of_request),
    ];
    let exact = exact.into_iter().flatten().next().map(|SearchKey { kind, key }| (kind, key, key));
    exact.or_else(|| recipients_of(filter).map(|(first, last)| (KeyKind::Recipient, first, last)))
}
