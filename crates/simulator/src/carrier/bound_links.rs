//! The bound links of each system_id, and those lost without an unbind, which many carriers count as bound for a while.

use std::collections::BTreeMap;
use std::time::Duration;

/// Lost links that are remembered; the oldest are forgotten first.
const LINGERING_MAX: usize = 10_000;

#[derive(Debug, Default)]
pub(super) struct BoundLinks {
    /// system_id by link.
    bound: BTreeMap<u64, Vec<u8>>,
    /// system_id of links lost without an unbind, and when.
    lingering: Vec<(Vec<u8>, Duration)>,
}

/// The number of links of one system_id.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BindCount {
    pub bound: usize,
    /// Links lost without an unbind that still count as bound.
    pub lingering: usize,
}

impl BoundLinks {
    pub(super) fn add(&mut self, link: u64, system_id: &[u8]) {
        self.bound.insert(link, system_id.to_vec());
    }

    pub(super) fn remove(&mut self, link: u64, unbound: bool, at: Duration) {
        let Some(system_id) = self.bound.remove(&link) else { return };
        if !unbound {
            if self.lingering.len() >= LINGERING_MAX {
                self.lingering.remove(0);
            }
            self.lingering.push((system_id, at));
        }
    }

    /// Counts the links of a system_id; lost ones count for `linger` after their loss.
    pub(super) fn count(&mut self, system_id: &[u8], linger: Duration, at: Duration) -> BindCount {
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
    fn lost_links_count_as_bound_for_a_while_and_unbound_links_do_not() {
        let secs = Duration::from_secs;
        let mut links = BoundLinks::default();
        for link in 1..=3 {
            links.add(link, b"hermod");
        }
        links.add(4, b"other");
        links.remove(1, true, secs(1));
        links.remove(2, false, secs(1));
        links.remove(2, false, secs(1));
        assert_eq!(links.count(b"hermod", secs(5), secs(5)), BindCount { bound: 1, lingering: 1 });
        assert_eq!(links.count(b"hermod", secs(5), secs(6)), BindCount { bound: 1, lingering: 0 });
        assert_eq!(links.count(b"unknown", secs(5), secs(5)), BindCount::default());
    }
}
