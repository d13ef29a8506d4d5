//! Seeded random numbers and mutations that are independent of a format, shared by all mutators. The tests
//! of other crates include this file.

#[expect(clippy::disallowed_methods, reason = "a setting for test runs")]
pub(crate) fn setting(name: &str, otherwise: u64) -> u64 {
    let value = std::env::var(name).ok();
    value.map_or(otherwise, |value| value.parse().expect("a number"))
}

/// Prints the seed and the mutation if the test fails.
pub(crate) struct Breadcrumb {
    pub(crate) seed: u64,
    pub(crate) mutation: u64,
}

impl Drop for Breadcrumb {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!(
                "failed at mutation {} of seed {}: run with SEED={}",
                self.mutation, self.seed, self.seed
            );
        }
    }
}

pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit.max(1) as u64).expect("below a usize")
    }

    pub(crate) fn octet(&mut self) -> u8 {
        self.next().to_be_bytes()[0]
    }
}

/// Applies one change: flips a bit or a byte, or cuts, truncates, doubles, inserts or copies a piece.
pub(crate) fn mutate(octets: &mut Vec<u8>, other: &[u8], chance: &mut Chance) {
    let at = chance.below(octets.len() + 1);
    let upto = at + chance.below((octets.len() - at).min(32) + 1);
    match chance.below(8) {
        0 if at < octets.len() => octets[at] ^= 1 << chance.below(8),
        1 if at < octets.len() => octets[at] = [0, 1, 0x7f, 0x80, 0xfe, 0xff][chance.below(6)],
        2 => drop(octets.drain(at..upto)),
        3 => octets.truncate(at),
        4 => {
            let again = octets[at..upto].to_vec();
            octets.splice(at..at, again);
        }
        5 => {
            let random: Vec<u8> = (0..chance.below(16)).map(|_| chance.octet()).collect();
            octets.splice(at..at, random);
        }
        6 => octets.splice(at.., other[other.len().min(at)..].iter().copied()).for_each(drop),
        _ if at < octets.len() => octets[at] = chance.octet(),
        _ => octets.push(chance.octet()),
    }
}
