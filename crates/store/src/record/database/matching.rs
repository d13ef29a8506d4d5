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

/// A range of keys without any.
const NO_KEYS: (i64, i64) = (1, 0);

/// A filter within a scope, as messages are compared with it.
pub(super) struct Matcher<'c> {
    connection: &'c Connection,
    scope: Scope,
    filter: &'c MessageFilter,
    recipients: Option<WantedRecipients>,
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
        if self.recipients.as_ref().is_some_and(|wanted| !wanted.include(to)) {
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

/// The recipients that a filter wants.
enum WantedRecipients {
    /// The first and the last key; an empty range if no number can match.
    Keys(i64, i64),
    /// Those with this rest after a division by a power of ten. No key finds them: an index by the last digits would be one more
    /// key of each message.
    Ending { power: u64, rest: u64 },
}

impl WantedRecipients {
    fn include(&self, to: Msisdn) -> bool {
        match *self {
            WantedRecipients::Keys(first, last) => (first..=last).contains(&SearchKey::of_recipient(to).key),
            // A shorter number has fewer digits than are wanted.
            WantedRecipients::Ending { power, rest } => {
                to.number() % power == rest && to.number() >= power / 10
            }
        }
    }
}

fn recipients_of(filter: &MessageFilter) -> Option<WantedRecipients> {
    let (first, last) = match filter.recipient.as_ref()? {
        RecipientFilter::Exact(to) => {
            let key = SearchKey::of_recipient(*to).key;
            (key, key)
        }
        RecipientFilter::Prefix(prefix) => SearchKey::recipients_with(prefix).unwrap_or(NO_KEYS),
        RecipientFilter::Suffix(digits) => match ending(digits) {
            Some((power, rest)) => return Some(WantedRecipients::Ending { power, rest }),
            None => NO_KEYS,
        },
    };
    Some(WantedRecipients::Keys(first, last))
}

/// Returns the power of ten and the rest after a division by it of the numbers that end with digits; none if they are no digits, or too
/// many.
fn ending(digits: &str) -> Option<(u64, u64)> {
    let power = 10_u64.checked_pow(u32::try_from(digits.len()).ok()?)?;
    let rest = digits.bytes().all(|octet| octet.is_ascii_digit()).then(|| digits.parse().ok())??;
    Some((power, rest))
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
    exact.or_else(|| match recipients_of(filter)? {
        WantedRecipients::Keys(first, last) => Some((KeyKind::Recipient, first, last)),
        WantedRecipients::Ending { .. } => None,
    })
}
