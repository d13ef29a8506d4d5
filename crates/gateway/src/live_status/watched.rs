//! How often messages were over the limit of a control in mode `watch`, since the gateway started. Several nodes send each other their counts.

use hermod_domain::ids::AccountId;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

/// Bounded by the number of accounts and controls.
#[derive(Default)]
pub struct WatchedControls(Mutex<HashMap<(AccountId, Arc<str>), Counted>>);

#[derive(Default)]
struct Counted {
    all: u64,
    /// Those that are to be sent to the other nodes.
    unshared: u64,
}

impl WatchedControls {
    /// Counts a message over the limit of a control.
    pub fn count(&self, account: AccountId, control: &Arc<str>) {
        let mut controls = self.0.lock();
        let counted = controls.entry((account, control.clone())).or_default();
        counted.all += 1;
        counted.unshared += 1;
    }

    /// Returns how often a control was exceeded.
    pub fn times(&self, account: AccountId, control: &Arc<str>) -> u64 {
        self.0.lock().get(&(account, control.clone())).map_or(0, |counted| counted.all)
    }

    /// Returns what is to be sent to the other nodes.
    pub fn take_new(&self) -> Vec<(AccountId, String, u64)> {
        let mut controls = self.0.lock();
        let new = controls.iter_mut().filter(|(_, counted)| counted.unshared > 0);
        new.map(|((account, control), counted)| {
            (*account, control.to_string(), std::mem::take(&mut counted.unshared))
        })
        .collect()
    }

    /// Adds what another node says.
    pub fn count_elsewhere(&self, counts: Vec<(AccountId, String, u64)>) {
        let mut controls = self.0.lock();
        for (account, control, times) in counts {
            let counted = controls.entry((account, control.into())).or_default();
            counted.all = counted.all.saturating_add(times);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_on_all_nodes_are_counted_once() {
        let [here, there] = [(); 2].map(|()| WatchedControls::default());
        let (account, control) = (AccountId::new(1), Arc::from("day"));
        here.count(account, &control);
        there.count(account, &control);
        there.count(account, &control);
        here.count_elsewhere(there.take_new());
        there.count_elsewhere(here.take_new());
        assert_eq!((here.times(account, &control), there.times(account, &control)), (3, 3));
        assert_eq!((here.take_new(), there.take_new()), (vec![], vec![]), "each message is sent once");
        assert_eq!(here.times(AccountId::new(2), &control), 0);
    }
}
