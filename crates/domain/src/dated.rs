//! Values that apply during a time: prices, costs and exchange rates.

use crate::time::Timestamp;
use smallvec::SmallVec;

/// A value that applies during a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dated<T> {
    /// [`Timestamp::EPOCH`] if it always applied.
    pub from: Timestamp,
    /// The first time at which it does not apply any more.
    pub until: Option<Timestamp>,
    pub value: T,
}

/// The values of one thing, by start. An end gives way to a value that began earlier and has not ended, such as the standing
/// price behind a promotion.
#[derive(Clone, Debug)]
pub struct Versions<T>(SmallVec<[Dated<T>; 1]>);

/// Why a value cannot be added to the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionRefusal {
    SameStart,
    /// It ends before or when it begins.
    Empty,
}

impl<T> Default for Versions<T> {
    fn default() -> Versions<T> {
        Versions(SmallVec::new())
    }
}

impl<T> Versions<T> {
    pub fn add(&mut self, dated: Dated<T>) -> Result<(), VersionRefusal> {
        if dated.until.is_some_and(|until| until <= dated.from) {
            return Err(VersionRefusal::Empty);
        }
        match self.0.binary_search_by_key(&dated.from, |version| version.from) {
            Ok(_) => Err(VersionRefusal::SameStart),
            Err(index) => {
                self.0.insert(index, dated);
                Ok(())
            }
        }
    }

    /// Returns the value that applies at a time: of those that have begun and not ended, the one that began last.
    pub fn in_force(&self, at: Timestamp) -> Option<&Dated<T>> {
        let begun = self.0.partition_point(|version| version.from <= at);
        self.0[..begun].iter().rfind(|version| version.until.is_none_or(|until| at < until))
    }

    /// Returns all values, by start.
    pub fn iter(&self) -> impl Iterator<Item = &Dated<T>> {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400_000;

    fn day(day: i64) -> Timestamp {
        Timestamp::from_millis(day * DAY)
    }

    #[test]
    fn value_in_force_is_the_last_that_has_begun_and_not_ended() {
        let mut versions = Versions::default();
        // In no order; the promotion of the days 10 to 19 gives way to the standing value.
        for (from, until, value) in
            [(30, None, "raised"), (0, None, "standing"), (10, Some(20), "promotion"), (40, Some(50), "last")]
        {
            let dated = Dated { from: day(from), until: until.map(day), value };
            assert_eq!(versions.add(dated), Ok(()));
        }
        for (at, expect) in [
            (0, "standing"),
            (9, "standing"),
            (10, "promotion"),
            (19, "promotion"),
            (20, "standing"),
            (30, "raised"),
            (49, "last"),
            (50, "raised"),
        ] {
            assert_eq!(versions.in_force(day(at)).map(|dated| dated.value), Some(expect), "day {at}");
        }
        assert!(versions.in_force(Timestamp::from_millis(-1)).is_none());
        let starts: Vec<_> = versions.iter().map(|dated| dated.from).collect();
        assert_eq!(starts, [0, 10, 30, 40].map(day));
    }

    #[test]
    fn value_without_duration_or_with_the_start_of_another_is_refused() {
        let mut versions = Versions::default();
        let dated = |from, until| Dated { from: day(from), until, value: () };
        assert_eq!(versions.add(dated(5, Some(day(5)))), Err(VersionRefusal::Empty));
        assert_eq!(versions.add(dated(5, Some(day(4)))), Err(VersionRefusal::Empty));
        assert_eq!(versions.add(dated(5, None)), Ok(()));
        assert_eq!(versions.add(dated(5, Some(day(6)))), Err(VersionRefusal::SameStart));
    }
}
