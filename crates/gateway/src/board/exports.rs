//! The exports of the record that are running: a few at a time for each account.

use hermod_store::record::Scope;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Exports at a time of one account. Those over all accounts count as one account.
pub const EXPORTS_MAX: u32 = 2;

/// The exports that are running.
#[derive(Clone, Default)]
pub struct Exports(Arc<Mutex<HashMap<Scope, u32>>>);

/// One running export. It ends when this is dropped.
pub struct ExportSlot {
    exports: Exports,
    scope: Scope,
}

/// There are [`EXPORTS_MAX`] exports already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyExports;

impl Exports {
    /// Begins an export of the messages of one account, or of all.
    pub fn begin(&self, scope: Scope) -> Result<ExportSlot, TooManyExports> {
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = running.entry(scope).or_default();
        if *count >= EXPORTS_MAX {
            return Err(TooManyExports);
        }
        *count += 1;
        Ok(ExportSlot { exports: self.clone(), scope })
    }
}

impl Drop for ExportSlot {
    fn drop(&mut self) {
        let mut running = self.exports.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = running.get_mut(&self.scope) {
            *count -= 1;
            if *count == 0 {
                running.remove(&self.scope);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermod_domain::ids::AccountId;

    #[test]
    fn two_exports_of_an_account_run_at_a_time() {
        let exports = Exports::default();
        let [alice, bob] = [1, 2].map(|id| Scope::Account(AccountId::new(id)));
        let first = exports.begin(alice).unwrap();
        let _second = exports.begin(alice).unwrap();
        assert!(exports.begin(alice).is_err());
        assert!(exports.begin(bob).is_ok() && exports.begin(Scope::All).is_ok());
        drop(first);
        assert!(exports.begin(alice).is_ok());
    }
}
