//! The numbers of webhook events, and the due times of new events.

use crate::ops::EventId;
use crate::tables::{TableError, Tables};
use hermod_domain::time::Timestamp;
use std::time::Duration;

/// How far apart the times of neighbouring batches can be. A larger difference means that the clock was set.
const TIMES_APART_MAX: Duration = Duration::from_secs(5);

/// Numbers events, and sets their due times: now, but never before an event that was written earlier. So a reader that
/// reads in the order of due time and number never misses a later event.
pub struct EventNumbers {
    last: u64,
    due: Timestamp,
}

impl EventNumbers {
    pub fn load(tables: &Tables<'_>) -> Result<EventNumbers, TableError> {
        Ok(EventNumbers { last: tables.read()?.last_event()?.0, due: Timestamp::EPOCH })
    }

    /// Returns the next number and its due time.
    pub fn next(&mut self, now: Timestamp) -> (EventId, Timestamp) {
        self.last += 1;
        let set_back = self.due.since(now) > TIMES_APART_MAX;
        self.due = if set_back { now } else { self.due.max(now) };
        (EventId(self.last), self.due)
    }

    /// Returns the last number.
    pub fn last(&self) -> EventId {
        EventId(self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_event_is_due_no_earlier_unless_the_clock_was_set_back() {
        let at = Timestamp::from_millis;
        let mut numbering = EventNumbers { last: 0, due: Timestamp::EPOCH };
        for (number, (now, due)) in
            [(100_000, 100_000), (99_990, 100_000), (95_000, 100_000), (94_999, 94_999), (95_100, 95_100)]
                .into_iter()
                .enumerate()
        {
            let expect = (EventId(u64::try_from(number).unwrap() + 1), at(due));
            assert_eq!(numbering.next(at(now)), expect, "at {now}");
        }
    }
}
