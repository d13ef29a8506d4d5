//! The rule that makes decisions correct: a row is either in memory or its table row is current. What the books hold must
//! equal what a fresh load from the tables gives.

use crate::batch::{Books, Known};
use crate::progress;
use crate::tables::{Place, TableError, Tables};
use std::fmt::Debug;

impl Books {
    /// Returns how what is held in memory differs from what the tables say; nothing, unless there is a defect. Only between
    /// batches.
    pub fn differences(&self, tables: &Tables<'_>) -> Result<Vec<String>, TableError> {
        let fresh = Books::load(tables, self.in_doubt_wait, 0)?;
        let mut differences = Vec::new();
        let mut compare = |what: &str, memory: &dyn Debug, stored: &dyn Debug| {
            let (memory, stored) = (format!("{memory:?}"), format!("{stored:?}"));
            if memory != stored {
                differences.push(format!("{what}: {memory} in memory, {stored} in the tables"));
            }
        };
        compare("balances", &self.balances.rows(), &fresh.balances.rows());
        compare("aliases", &self.aliases.rows(), &fresh.aliases.rows());
        compare("queues", &self.queues.rows(), &fresh.queues.rows());
        compare("parked receipts", &self.parked.rows(), &fresh.parked.rows());
        compare("unfinished MO messages", &self.joining.rows(), &fresh.joining.rows());
        for (account, totals) in fresh.today.rows() {
            compare("day totals", &self.today.of(account, totals.day), &totals);
        }
        for (message, known) in self.standing.iter() {
            let Known { account, carrier, progress, .. } = known;
            let place = Place { carrier: *carrier, account: *account, message: *message };
            compare("progress", &Some(progress), &progress::load(tables, place)?.as_ref());
        }
        Ok(differences)
    }
}
