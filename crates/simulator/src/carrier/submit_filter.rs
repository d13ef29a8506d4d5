//! Which submits a rule of a script is about: by destination, by text, and by whose turn it is.

use std::time::Duration;

use super::text::{self, Alphabet};

/// Which submits a rule applies to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubmitFilter {
    pub(super) destination_starts: Option<String>,
    pub(super) destination_ends: Option<String>,
    pub(super) text_contains: Option<String>,
    pub(super) turn: Occurrence,
}

/// Which of the submits that reach a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Occurrence {
    Each,
    First(u64),
    Nth(u64),
    Every(u64),
    /// The first so many of every so many.
    Burst {
        count: u64,
        of: u64,
    },
    /// About this many in a thousand, by the carrier's seed.
    PerMille(u16),
    /// Those that come in this stretch of time, counted from when the script began to play.
    During {
        from: Duration,
        to: Duration,
    },
}

impl SubmitFilter {
    pub fn always() -> SubmitFilter {
        SubmitFilter {
            destination_starts: None,
            destination_ends: None,
            text_contains: None,
            turn: Occurrence::Each,
        }
    }

    pub fn first(count: u64) -> SubmitFilter {
        SubmitFilter::always().turn(Occurrence::First(count))
    }

    pub fn nth(number: u64) -> SubmitFilter {
        SubmitFilter::always().turn(Occurrence::Nth(number))
    }

    /// Every `k`-th; `every(1)` is each.
    pub fn every(k: u64) -> SubmitFilter {
        SubmitFilter::always().turn(Occurrence::Every(k.max(1)))
    }

    /// The first `count` of every `of`.
    pub fn burst(count: u64, of: u64) -> SubmitFilter {
        SubmitFilter::always().turn(Occurrence::Burst { count, of: of.max(1) })
    }

    pub fn per_mille(chance: u16) -> SubmitFilter {
        SubmitFilter::always().turn(Occurrence::PerMille(chance))
    }

    /// While the script has played for `from` or longer, and not yet for `to`.
    pub fn during(from: Duration, to: Duration) -> SubmitFilter {
        SubmitFilter::always().turn(Occurrence::During { from, to })
    }

    /// Destinations that start with these digits; a plus is ignored, as carriers are sent none.
    pub fn to(prefix: &str) -> SubmitFilter {
        let digits = prefix.trim_start_matches('+').to_owned();
        SubmitFilter { destination_starts: Some(digits), ..SubmitFilter::always() }
    }

    /// Destinations that end with these digits.
    pub fn to_ending(digits: &str) -> SubmitFilter {
        SubmitFilter { destination_ends: Some(digits.to_owned()), ..SubmitFilter::always() }
    }

    /// Texts (of one part) that contain this.
    pub fn text(contains: &str) -> SubmitFilter {
        SubmitFilter { text_contains: Some(contains.to_owned()), ..SubmitFilter::always() }
    }

    /// Of the submits this is about, only the first `count`.
    #[must_use]
    pub fn only_first(self, count: u64) -> SubmitFilter {
        self.turn(Occurrence::First(count))
    }

    /// Of the submits this is about, only the `number`-th.
    #[must_use]
    pub fn only_nth(self, number: u64) -> SubmitFilter {
        self.turn(Occurrence::Nth(number))
    }

    /// Of the submits this is about, only the first `count` of every `of`.
    #[must_use]
    pub fn only_burst(self, count: u64, of: u64) -> SubmitFilter {
        self.turn(Occurrence::Burst { count, of: of.max(1) })
    }

    /// Of the submits this is about, only about `chance` in a thousand.
    #[must_use]
    pub fn only_per_mille(self, chance: u16) -> SubmitFilter {
        self.turn(Occurrence::PerMille(chance))
    }

    fn turn(self, turn: Occurrence) -> SubmitFilter {
        SubmitFilter { turn, ..self }
    }
}

/// What a rule looks at in a submit. The text is decoded only when a rule asks for it.
#[derive(Debug, Clone, Copy)]
pub(super) struct SubmitContent<'a> {
    pub(super) destination: &'a [u8],
    pub(super) data_coding: u8,
    pub(super) alphabet: Alphabet,
    pub(super) text: &'a [u8],
    /// How long the script has played.
    pub(super) played: Duration,
}

impl SubmitFilter {
    /// The submit is one this rule is about; whether it is its turn is counted by the plan.
    pub(super) fn matches(&self, content: &SubmitContent<'_>) -> bool {
        let SubmitFilter { destination_starts, destination_ends, text_contains, turn: _ } = self;
        let destination = content.destination.strip_prefix(b"+").unwrap_or(content.destination);
        let to = destination_starts.as_ref().is_none_or(|digits| destination.starts_with(digits.as_bytes()))
            && destination_ends.as_ref().is_none_or(|digits| destination.ends_with(digits.as_bytes()));
        let says = |words: &String| {
            text::decode(content.data_coding, content.alphabet, content.text).contains(words)
        };
        to && text_contains.as_ref().is_none_or(says)
    }
}
