//! Random numbers from a fixed seed, so that every demo tells the same story.

/// SplitMix64: small, and good enough for a story.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn seeded(seed: u64) -> Random {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`, which is not 0.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    pub(super) fn between(&mut self, from: u64, to: u64) -> u64 {
        from + self.below(to - from + 1)
    }

    /// Whether something that happens this often in a thousand happens now.
    pub(super) fn happens(&mut self, per_thousand: u64) -> bool {
        self.below(1_000) < per_thousand
    }

    pub(super) fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        let count = u64::try_from(choices.len()).expect("a short list");
        &choices[usize::try_from(self.below(count)).expect("less than its length")]
    }
}
