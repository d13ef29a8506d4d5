//! Who is bound, and who was lost without an unbind: many carriers take such a link for bound a while longer.

use std::collections::BTreeMap;
use std::time::Duration;

/// Lost links remembered at most; the oldest are forgotten first.
const LINGERING_MAX: usize = 10_000;

#[derive(Debug, Default)]
pub(super) struct BoundLinks {
    /// By link.
    bound: BTreeMap<u64, Vec<u8>>,
    /// Lost without an unbind, and when.
    lingering: Vec<(Vec<u8>, Duration)>,
}

/// How many links of one system_id there are already.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BindCount {
    pub bound: usize,
    /// Links lost without an unbind that are still taken for bound.
    pub lingering: usize,
}

impl BoundLinks {
    pub(super) fn enter(&mut self, link: u64, system_id: &[u8]) {
        self.bound.insert(link, system_id.to_vec());
    }

    /// A link is gone, in good order or not.
    pub(super) fn leave(&mut self, link: u64, unbound: bool, at: Duration) {
        let Some(system_id) = self.bound.remove(&link) else { return };
        if !unbound {
            if self.lingering.len() >= LINGERING_MAX {
                self.lingering.remove(0);
            }
            self.lingering.push((system_id, at));
        }
    }

    /// Who is there beside a newcomer, where lost links count as bound for `linger`.
    pub(super) fn company(&mut self, system_id: &[u8], linger: Duration, at: Duration) -> BindCount {
        self.lingering.retain(|(_, lost)| *lost + linger > at);
        BindCount {
            bound: self.bound.values().filter(|id| *id == system_id).count(),
            lingering: self.lingering.iter().filter(|(id, _)| id == system_id).count(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_links_linger_and_unbound_ones_do_not() {
        let secs = Duration::from_secs;
        let mut bound_links = BoundLinks::default();
        for link in 1..=3 {
            bound_links.enter(link, b"hermod");
        }
        bound_links.enter(4, b"other");
        bound_links.leave(1, true, secs(1));
        bound_links.leave(2, false, secs(1));
        bound_links.leave(2, false, secs(1));
        assert_eq!(bound_links.company(b"hermod", secs(5), secs(5)), BindCount { bound: 1, lingering: 1 });
        assert_eq!(bound_links.company(b"hermod", secs(5), secs(6)), BindCount { bound: 1, lingering: 0 });
        assert_eq!(bound_links.company(b"nobody", secs(5), secs(5)), BindCount::default());
    }
}
