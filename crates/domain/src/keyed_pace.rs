//! A rate for each of very many keys (addresses, recipients, ranges of numbers) in a bounded amount of memory.
//!
//! For each key only one time is kept: when its allowance will be whole again. A key whose time has passed is as good
//! as new and can be forgotten, so what is held is bounded by what was used lately; beyond the bound the key that would
//! be whole soonest makes room, in the caller's favour.

use crate::expiring::Expiring;
use crate::time::Timestamp;
use std::hash::Hash;
use std::time::Duration;

/// So many at once, all of it back after the period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    pub most: u32,
    pub per: Duration,
}

impl Allowance {
    fn share_ms(self) -> i64 {
        let per = i64::try_from(self.per.as_millis()).unwrap_or(i64::MAX);
        (per / i64::from(self.most.max(1))).max(1)
    }

    fn whole_ms(self) -> i64 {
        self.share_ms().saturating_mul(i64::from(self.most))
    }
}

#[derive(Clone, Debug)]
pub struct KeyedPace<K> {
    /// When the allowance of a key is whole again.
    whole_at_ms: Expiring<K>,
}

impl<K: Copy + Eq + Hash> KeyedPace<K> {
    /// Holds so many keys at most.
    pub fn new(keys_max: usize) -> KeyedPace<K> {
        KeyedPace { whole_at_ms: Expiring::new(keys_max) }
    }

    /// Takes one from the key's allowance, or says how long until there is one.
    pub fn admit(&mut self, key: K, allowance: Allowance, now: Timestamp) -> Result<(), Duration> {
        let now_ms = now.as_millis();
        let whole_at = self.whole_at(key, allowance, now_ms);
        if let Some(wait) = wait(whole_at, allowance, now_ms) {
            // What the clock made too far away is brought near for good.
            self.whole_at_ms.update(key, whole_at);
            return Err(wait);
        }
        self.whole_at_ms.insert(key, whole_at.saturating_add(allowance.share_ms()), now_ms);
        Ok(())
    }

    /// How long until one can be taken from the key's allowance; `None` if that is now. Takes nothing.
    pub fn wait(&self, key: K, allowance: Allowance, now: Timestamp) -> Option<Duration> {
        let now_ms = now.as_millis();
        wait(self.whole_at(key, allowance, now_ms), allowance, now_ms)
    }

    /// What is left of the key's allowance, and how long until it is whole again.
    pub fn left(&self, key: K, allowance: Allowance, now: Timestamp) -> (u32, Duration) {
        let now_ms = now.as_millis();
        let spent_ms = self.whole_at(key, allowance, now_ms).saturating_sub(now_ms);
        let left = allowance.whole_ms().saturating_sub(spent_ms) / allowance.share_ms();
        (u32::try_from(left).unwrap_or(0), Duration::from_millis(spent_ms.unsigned_abs()))
    }

    /// Gives back what was taken for something that did not happen after all.
    pub fn give_back(&mut self, key: K, allowance: Allowance) {
        if let Some(whole_at) = self.whole_at_ms.get(key) {
            self.whole_at_ms.update(key, whole_at.saturating_sub(allowance.share_ms()));
        }
    }

    pub fn len(&self) -> usize {
        self.whole_at_ms.len()
    }

    pub fn is_empty(&self) -> bool {
        self.whole_at_ms.is_empty()
    }

    /// Never further away than one whole allowance: a clock that was set back must not lock a key out.
    fn whole_at(&self, key: K, allowance: Allowance, now_ms: i64) -> i64 {
        let kept = self.whole_at_ms.get(key).unwrap_or(now_ms);
        kept.clamp(now_ms, now_ms.saturating_add(allowance.whole_ms()))
    }
}

fn wait(whole_at_ms: i64, allowance: Allowance, now_ms: i64) -> Option<Duration> {
    let after = whole_at_ms.saturating_add(allowance.share_ms());
    let over = after.saturating_sub(now_ms).saturating_sub(allowance.whole_ms());
    (over > 0).then(|| Duration::from_millis(over.unsigned_abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREE_PER_MINUTE: Allowance = Allowance { most: 3, per: Duration::from_secs(60) };

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(1_750_000_000_000 + seconds * 1000)
    }

    /// `+` for admitted, otherwise the wait in seconds.
    fn told(pace: &mut KeyedPace<u32>, key: u32, seconds: i64) -> String {
        match pace.admit(key, THREE_PER_MINUTE, at(seconds)) {
            Ok(()) => "+".to_owned(),
            Err(wait) => wait.as_secs().to_string(),
        }
    }

    #[test]
    fn an_allowance_is_spent_at_once_and_comes_back_bit_by_bit() {
        let mut pace = KeyedPace::new(10);
        let answers: Vec<String> =
            [0, 0, 0, 0, 5, 20, 20, 100, 100, 100, 100].map(|second| told(&mut pace, 1, second)).into();
        assert_eq!(answers.join(" "), "+ + + 20 15 + 20 + + + 20");
        assert_eq!(told(&mut pace, 2, 100), "+", "another key has its own");
    }

    #[test]
    fn what_is_left_can_be_asked_without_taking_any() {
        let mut pace = KeyedPace::new(10);
        let left = |pace: &KeyedPace<u32>, second| {
            let (left, whole) = pace.left(1, THREE_PER_MINUTE, at(second));
            (left, whole.as_secs())
        };
        assert_eq!(left(&pace, 0), (3, 0));
        told(&mut pace, 1, 0);
        told(&mut pace, 1, 0);
        assert_eq!(left(&pace, 0), (1, 40));
        assert_eq!(left(&pace, 19), (1, 21));
        assert_eq!(left(&pace, 20), (2, 20));
    }

    #[test]
    fn what_was_given_back_can_be_taken_again() {
        let mut pace = KeyedPace::new(10);
        for _ in 0..3 {
            assert_eq!(told(&mut pace, 1, 0), "+");
        }
        pace.give_back(1, THREE_PER_MINUTE);
        assert_eq!(told(&mut pace, 1, 0), "+");
        assert_eq!(told(&mut pace, 1, 0), "20");
    }

    #[test]
    fn a_clock_set_back_does_not_lock_a_key_out() {
        let mut pace = KeyedPace::new(10);
        assert_eq!(told(&mut pace, 1, 100_000), "+");
        assert_eq!(told(&mut pace, 1, 0), "20", "spent, as far as anyone can tell");
        assert_eq!(told(&mut pace, 1, 20), "+");
    }

    #[test]
    fn room_is_made_for_a_tenth_even_where_only_one_key_is_whole_again() {
        let mut pace = KeyedPace::new(100);
        // Each becomes whole 20 seconds after it came: from second 20 on there is one of those at each admission.
        for second in 0..2_000 {
            told(&mut pace, u32::try_from(second).unwrap(), second / 5);
            assert!(pace.len() <= 100);
        }
        let (mut looks, mut before) = (0, pace.len());
        for second in 2_000..3_000 {
            told(&mut pace, u32::try_from(second).unwrap(), second / 5);
            looks += u32::from(pace.len() <= before);
            before = pace.len();
        }
        assert!(looks <= 100, "{looks} looks at every key in 1000 admissions");
    }

    #[test]
    fn memory_is_bounded_however_many_keys_come() {
        let mut pace = KeyedPace::new(100);
        for key in 0..10_000 {
            assert_eq!(told(&mut pace, key, 0), "+");
            assert!(pace.len() <= 100);
        }
        // Those who have used most of their allowance are kept longest.
        let mut pace = KeyedPace::new(100);
        for _ in 0..3 {
            told(&mut pace, 7, 0);
        }
        for key in 100..1_000 {
            told(&mut pace, key, 0);
        }
        assert_eq!(told(&mut pace, 7, 0), "20");
    }
}
