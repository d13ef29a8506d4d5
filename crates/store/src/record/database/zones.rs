//! The zone map of a search: by the statistics, the times in which a message can match a filter.

use crate::record::database::Budget;
use crate::record::database::intervals::{DAY, Intervals, floor};
use crate::record::tally::{Collected, Minute};
use crate::record::{Dimension, Figures, MessageFilter, Resolution, Scope, Value};
use crate::sql::Connection;
use hermod_domain::ids::MessageId;
use hermod_domain::lifecycle::MessageState;
use hermod_engine::tables::TableError;
use std::ops::Range;

/// What looking at one interval costs.
const COST: u32 = 8;

/// The times in which the values of a filter occur together.
pub(super) struct Zones<'c> {
    intervals: Intervals<'c>,
    values: Vec<(Dimension, Value)>,
    state: Option<MessageState>,
}

/// The next zone.
pub(super) enum Zone {
    /// The ids from the first on, below the last.
    Ids(Range<i64>),
    /// There is none.
    End,
    /// The budget ended. Nothing from this id on is left.
    Stopped(i64),
}

impl<'c> Zones<'c> {
    /// Returns the zones of a filter; none if it has no property that is counted.
    pub(super) fn of(
        connection: &'c Connection,
        collected: &'c Collected,
        scope: Scope,
        filter: &MessageFilter,
    ) -> Result<Option<Zones<'c>>, TableError> {
        let text = |text: String| Value::Text(text.into());
        let of_account = matches!(scope, Scope::Account(_));
        let connection_of = filter.connection.filter(|_| of_account);
        let values: Vec<(Dimension, Value)> = [
            filter.sender.map(|sender| (Dimension::Sender, text(sender.address().to_owned()))),
            filter.country.map(|country| (Dimension::Country, text(country.as_str().to_owned()))),
            filter.network.map(|network| (Dimension::Network, text(network.to_string()))),
            filter.carrier.map(|carrier| (Dimension::Carrier, Value::Id(carrier.get()))),
            connection_of.map(|connection| (Dimension::Connection, Value::Id(connection.get()))),
        ]
        .into_iter()
        .flatten()
        .collect();
        if values.is_empty() && filter.state.is_none() {
            return Ok(None);
        }
        let intervals = Intervals::new(connection, collected, scope)?;
        Ok(Some(Zones { intervals, values, state: filter.state }))
    }

    /// Returns the newest zone within a range of ids.
    pub(super) fn newest(&self, ids: &Range<i64>, budget: &mut Budget) -> Result<Zone, TableError> {
        if ids.is_empty() {
            return Ok(Zone::End);
        }
        let oldest = minute_of(ids.start);
        let mut minute = minute_of(ids.end - 1);
        while minute >= oldest {
            if !budget.take(COST) {
                return Ok(Zone::Stopped(first_id(minute + 1).min(ids.end)));
            }
            let zone = match self.common(minute)? {
                None => return Ok(Zone::End),
                Some(zone) if zone.end <= minute => {
                    minute = zone.end - 1;
                    continue;
                }
                Some(zone) => zone,
            };
            if self.has_state(&zone)? {
                let found = first_id(zone.start).max(ids.start)..first_id(zone.end).min(ids.end);
                return Ok(if found.is_empty() { Zone::End } else { Zone::Ids(found) });
            }
            minute = zone.start - 1;
        }
        Ok(Zone::End)
    }

    /// Returns the interval of a minute if all values occur in it, or an earlier interval that one of them does not begin
    /// after.
    fn common(&self, minute: i64) -> Result<Option<Range<i64>>, TableError> {
        let mut zone = self.intervals.containing(minute);
        for (dimension, value) in self.counted() {
            let Some(newest) = self.intervals.newest_with(dimension, value, minute)? else { return Ok(None) };
            if newest.end <= minute {
                return Ok(Some(newest));
            }
            zone = newest;
        }
        Ok(Some(zone))
    }

    fn counted(&self) -> impl Iterator<Item = (Dimension, &Value)> {
        let all = self.values.is_empty().then_some((Dimension::All, &Value::None));
        self.values.iter().map(|(dimension, value)| (*dimension, value)).chain(all)
    }

    /// Whether an interval can have a message in the wanted state.
    fn has_state(&self, zone: &Range<i64>) -> Result<bool, TableError> {
        let Some(state) = self.state else { return Ok(true) };
        let (resolution, start) = if zone.start >= self.intervals.first_hour {
            (Resolution::Hour, zone.start)
        } else {
            (Resolution::Day, floor(zone.start, DAY))
        };
        for (dimension, value) in self.counted() {
            // Ends count for the first carrier, also if the message moved to another one.
            let (dimension, value) = match dimension {
                Dimension::Carrier => (Dimension::All, &Value::None),
                _ => (dimension, value),
            };
            if count_of(state, &self.intervals.figures(dimension, value, resolution, start)?) == 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Returns how many messages have a state; of an open state, how many are open.
pub(super) fn count_of(state: MessageState, figures: &Figures) -> u64 {
    match state {
        MessageState::Queued | MessageState::Submitted | MessageState::Enroute => figures.open(),
        MessageState::Delivered => figures.delivered,
        MessageState::Expired => figures.expired,
        MessageState::Undeliverable => figures.undeliverable,
        MessageState::Rejected => figures.rejected,
    }
}

/// Returns the minute of a stored id.
pub(super) fn minute_of(id: i64) -> i64 {
    let id = MessageId::from_i64(id.max(0));
    id.map_or(i64::MAX / (2 * DAY), |id| Minute::of(id.accepted_at()).0)
}

/// Returns the lowest id of a minute as it is stored.
pub(super) fn first_id(minute: i64) -> i64 {
    MessageId::first_at(Minute(minute).start()).as_i64()
}
