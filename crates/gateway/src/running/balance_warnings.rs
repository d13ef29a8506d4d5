//! Mails low-balance warnings: each once when the available amount falls below it, and again only after it was above. What was
//! mailed is kept in a small file of the data folder, so that a restart repeats nothing.

use crate::app::{low_balance, mail_low_balance};
use crate::gateway::Gateway;
use crate::secrets::write_private;
use hermod_domain::catalogue::BalanceLevel;
use hermod_domain::time::Timestamp;
use hermod_store::StoreError;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

const FILE: &str = "balance-warnings.json";
/// A balance that swings around a warning, because of refunds, mails it at most this often.
const QUIET: Duration = Duration::from_secs(3_600);

/// What was mailed about an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Mailed {
    level: BalanceLevel,
    /// When each level was last mailed.
    low_at: Timestamp,
    urgent_at: Timestamp,
}

impl Default for Mailed {
    fn default() -> Mailed {
        let never = Timestamp::from_millis(0);
        Mailed { level: BalanceLevel::Enough, low_at: never, urgent_at: never }
    }
}

impl Mailed {
    /// Takes note of the present level. Returns whether to mail it.
    fn mails(&mut self, level: BalanceLevel, now: Timestamp) -> bool {
        let has_fallen = level > self.level;
        self.level = level;
        let last = match level {
            BalanceLevel::Enough => return false,
            BalanceLevel::Low => &mut self.low_at,
            BalanceLevel::Urgent => &mut self.urgent_at,
        };
        let is_due = has_fallen && now.since(*last) >= QUIET;
        if is_due {
            *last = now;
        }
        is_due
    }
}

/// What was mailed about each account, by name.
type State = BTreeMap<String, Mailed>;

pub(super) struct BalanceWarnings {
    folder: PathBuf,
    state: Mutex<State>,
}

impl BalanceWarnings {
    /// Reads what was mailed. Without the file, or with an unreadable one, warnings may be mailed once more.
    pub(super) fn read(folder: &Path) -> BalanceWarnings {
        let text = std::fs::read(folder.join(FILE)).unwrap_or_default();
        let state = serde_json::from_slice(&text).unwrap_or_default();
        BalanceWarnings { folder: folder.to_owned(), state: Mutex::new(state) }
    }

    /// Checks every account that has warnings. None while the gateway is held: the balances are those of a backup.
    pub(super) async fn check(&self, gateway: &Gateway) -> Result<(), StoreError> {
        if !gateway.mail.is_open() || gateway.is_held() {
            return Ok(());
        }
        let catalogue = gateway.catalogue();
        let before = self.state.lock().clone();
        let mut state = State::new();
        for (id, view) in catalogue.accounts() {
            let account = &view.account;
            if account.warn_below.is_none() && account.urgent_below.is_none() {
                continue;
            }
            let low = low_balance(gateway, id).await?;
            let mut mailed = before.get(&view.name).copied().unwrap_or_default();
            let level = low.map_or(BalanceLevel::Enough, |low| low.level);
            if mailed.mails(level, gateway.clock.now())
                && let Some(low) = low
            {
                mail_low_balance(gateway, id, &low);
            }
            state.insert(view.name.clone(), mailed);
        }
        if state != before {
            self.state.lock().clone_from(&state);
            self.write(state).await;
        }
        Ok(())
    }

    async fn write(&self, state: State) {
        let folder = self.folder.clone();
        let text = serde_json::to_vec(&state).expect("names and numbers");
        let written = tokio::task::spawn_blocking(move || write_private(&folder, FILE, &text)).await;
        if let Ok(Err(error)) = written {
            tracing::warn!(%error, "Could not write {FILE}; after a restart low-balance warnings may be mailed again");
        }
    }
}

#[cfg(test)]
#[path = "balance_warnings_tests.rs"]
mod tests;
