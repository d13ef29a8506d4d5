//! Picks the rule that decides about a submit: counts the submits that reach each rule, and draws chance from a seed.

use std::time::Duration;

use super::script::ScriptRules;
use super::submit_filter::{SubmitContent, SubmitOccurrence};

/// For each rule of a list, the number of submits that reached it.
#[derive(Debug, Default)]
pub(super) struct RuleCounters(Vec<u64>);

impl RuleCounters {
    /// Returns the value of the first rule that matches, or the default.
    pub(super) fn pick<'r, T>(
        &mut self,
        rules: &'r ScriptRules<T>,
        content: &SubmitContent<'_>,
        random: &mut SeededRandom,
    ) -> &'r T {
        self.0.resize(rules.rules.len(), 0);
        for (rule, reached) in rules.rules.iter().zip(&mut self.0) {
            if !rule.when.matches_content(content) {
                continue;
            }
            *reached += 1;
            let matches = match rule.when.submits {
                SubmitOccurrence::All => true,
                SubmitOccurrence::First(count) => *reached <= count,
                SubmitOccurrence::Nth(number) => *reached == number,
                SubmitOccurrence::Every(k) => reached.is_multiple_of(k.get()),
                SubmitOccurrence::Burst { count, of } => (*reached - 1) % of < count,
                SubmitOccurrence::PerMille(chances) => random.next() % 1000 < u64::from(chances),
                SubmitOccurrence::During { from, to } => (from..to).contains(&content.script_time),
            };
            if matches {
                return &rule.then;
            }
        }
        &rules.default
    }
}

/// A seeded random generator (SplitMix64): small, and the same on every machine.
#[derive(Debug)]
pub(super) struct SeededRandom(pub(super) u64);

impl SeededRandom {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a time from `least` to `most`.
    pub(super) fn between(&mut self, least: Duration, most: Duration) -> Duration {
        let span = u64::try_from(most.saturating_sub(least).as_micros()).unwrap_or(u64::MAX - 1);
        least + Duration::from_micros(self.next() % (span + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_times_are_within_their_bounds_and_spread() {
        let mut random = SeededRandom(1);
        let (least, most) = (Duration::from_secs(1), Duration::from_secs(30));
        let drawn: Vec<Duration> = (0..1000).map(|_| random.between(least, most)).collect();
        assert!(drawn.iter().all(|time| (least..=most).contains(time)));
        let early = drawn.iter().filter(|time| **time < Duration::from_secs(15)).count();
        assert!((400..600).contains(&early), "{early} of 1000 in the first half");
        assert_eq!(random.between(most, most), most);
    }
}
