//! The numbers that webhook events have, and when new events are due.

use crate::ops::EventId;
use crate::tables::{TableError, Tables};
use hermod_domain::time::Timestamp;
use std::time::Duration;

/// How far apart the times are that operations of neighbouring batches are told. More than that is a clock that was set.
const TIMES_APART_MAX: Duration = Duration::from_secs(5);

/// The numbers of events, and when new ones are due: at once, but never before one that was written earlier. So whoever
/// reads in the order of both has not passed by what comes to be later.
pub struct EventNumbers {
    last: u64,
    due: Timestamp,
}

impl EventNumbers {
    pub fn load(tables: &Tables<'_>) -> Result<EventNumbers, TableError> {
        Ok(EventNumbers { last: tables.read()?.last_event()?.0, due: Timestamp::EPOCH })
    }

    pub fn next(&mut self, now: Timestamp) -> (EventId, Timestamp) {
        self.last += 1;
        let set_back = self.due.since(now) > TIMES_APART_MAX;
        self.due = if set_back { now } else { self.due.max(now) };
        (EventId(self.last), self.due)
    }

    /// Returns the number that was given last.
    pub fn last(&self) -> EventId {
        EventId(self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_later_stands_behind_unless_the_clock_was_set() {
        let at = Timestamp::from_millis;
        let mut numbering = EventNumbers { last: 0, due: Timestamp::EPOCH };
        for (number, (now, due)) in
            [(100_000, 100_000), (99_990, 100_000), (95_000, 100_000), (94_999, 94_999), (95_100, 95_100)]
                .into_iter()
                .enumerate()
        {
            let expect = (EventId(u64::try_from(number).unwrap() + 1), at(due));
            assert_eq!(numbering.next(at(now)), expect, "told {now}");
        }
    }
}
