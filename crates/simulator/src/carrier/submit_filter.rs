//! Which submits a script rule applies to: by destination, text, count, chance or time.

use std::num::NonZeroU64;
use std::time::Duration;

use serde::Deserialize;

use super::text::{self, CodingZeroAlphabet};
use crate::duration::deserialize_duration;

/// Which submits a rule applies to. All conditions must hold.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SubmitFilter {
    /// A leading plus is ignored.
    pub(super) destination_prefix: Option<String>,
    pub(super) destination_suffix: Option<String>,
    /// Compared with the text of one part.
    pub(super) text_contains: Option<String>,
    pub(super) submits: SubmitOccurrence,
}

/// Which of the submits that meet the other conditions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum SubmitOccurrence {
    #[default]
    All,
    First(u64),
    Nth(u64),
    Every(NonZeroU64),
    /// The first `count` of every `of`.
    Burst {
        count: u64,
        of: NonZeroU64,
    },
    /// About this many in a thousand, by the carrier's seed.
    PerMille(u16),
    /// Those that arrive in this time, counted from the start of the script.
    During {
        #[serde(deserialize_with = "deserialize_duration")]
        from: Duration,
        #[serde(deserialize_with = "deserialize_duration")]
        to: Duration,
    },
}

impl SubmitFilter {
    pub fn always() -> SubmitFilter {
        SubmitFilter::default()
    }

    pub fn first(count: u64) -> SubmitFilter {
        SubmitFilter::always().only(SubmitOccurrence::First(count))
    }

    pub fn nth(number: u64) -> SubmitFilter {
        SubmitFilter::always().only(SubmitOccurrence::Nth(number))
    }

    /// Every `k`-th; `every(1)` is each.
    pub fn every(k: u64) -> SubmitFilter {
        SubmitFilter::always().only(SubmitOccurrence::Every(at_least_one(k)))
    }

    /// The first `count` of every `of`.
    pub fn burst(count: u64, of: u64) -> SubmitFilter {
        SubmitFilter::always().only_burst(count, of)
    }

    pub fn per_mille(chance: u16) -> SubmitFilter {
        SubmitFilter::always().only_per_mille(chance)
    }

    /// Submits that arrive from `from` until before `to`, counted from the start of the script.
    pub fn during(from: Duration, to: Duration) -> SubmitFilter {
        SubmitFilter::always().only(SubmitOccurrence::During { from, to })
    }

    pub fn to(prefix: &str) -> SubmitFilter {
        SubmitFilter { destination_prefix: Some(prefix.to_owned()), ..SubmitFilter::always() }
    }

    pub fn to_ending(digits: &str) -> SubmitFilter {
        SubmitFilter { destination_suffix: Some(digits.to_owned()), ..SubmitFilter::always() }
    }

    pub fn text(contains: &str) -> SubmitFilter {
        SubmitFilter { text_contains: Some(contains.to_owned()), ..SubmitFilter::always() }
    }

    #[must_use]
    pub fn only_first(self, count: u64) -> SubmitFilter {
        self.only(SubmitOccurrence::First(count))
    }

    #[must_use]
    pub fn only_burst(self, count: u64, of: u64) -> SubmitFilter {
        self.only(SubmitOccurrence::Burst { count, of: at_least_one(of) })
    }

    #[must_use]
    pub fn only_per_mille(self, chance: u16) -> SubmitFilter {
        self.only(SubmitOccurrence::PerMille(chance))
    }

    fn only(self, submits: SubmitOccurrence) -> SubmitFilter {
        SubmitFilter { submits, ..self }
    }

    /// Whether destination and text meet the conditions. `submits` is left to the rule counters.
    pub(super) fn matches_content(&self, content: &SubmitContent<'_>) -> bool {
        let SubmitFilter { destination_prefix, destination_suffix, text_contains, submits: _ } = self;
        let destination = content.destination.strip_prefix(b"+").unwrap_or(content.destination);
        let prefix = destination_prefix.as_ref().map(|digits| digits.trim_start_matches('+'));
        let text = || text::decode(content.data_coding, content.default_alphabet, content.text);
        prefix.is_none_or(|digits| destination.starts_with(digits.as_bytes()))
            && destination_suffix.as_ref().is_none_or(|digits| destination.ends_with(digits.as_bytes()))
            && text_contains.as_ref().is_none_or(|words| text().contains(words))
    }
}

fn at_least_one(number: u64) -> NonZeroU64 {
    NonZeroU64::new(number).unwrap_or(NonZeroU64::MIN)
}

/// The parts of a submit that filters look at. The text is decoded only when a filter needs it.
#[derive(Debug, Clone, Copy)]
pub(super) struct SubmitContent<'a> {
    pub(super) destination: &'a [u8],
    pub(super) data_coding: u8,
    pub(super) default_alphabet: CodingZeroAlphabet,
    pub(super) text: &'a [u8],
    /// Time since the start of the script.
    pub(super) script_time: Duration,
}
