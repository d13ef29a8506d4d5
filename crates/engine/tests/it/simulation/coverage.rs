//! Counts of commands and outcomes over all runs.

use hermod_engine::commands::AnyCommand;
use std::collections::BTreeMap;

/// Commands that the simulation does not run.
const NOT_SIMULATED: [&str; 14] = [
    "AppendToAuditLog",
    "Audited",
    "ChangeCatalogue",
    "DecideReview",
    "EndCustomerRequest",
    "EndUserToken",
    "EraseResponses",
    "ForgetReviews",
    "ForgetUserTokens",
    "KeepErasure",
    "MakeCustomerRequest",
    "PutUserToken",
    "Screen",
    "SetUnreadableAside",
];

/// Outcomes and events that must happen, beside the commands.
const MUST_HAPPEN: [&str; 17] = [
    "accepted",
    "over a control",
    "key used before",
    "opted out",
    "cancelled",
    "cancelled by the operator",
    "stopped by the operator",
    "moved",
    "moved after no response",
    "failed over",
    "webhook delivered",
    "webhook given up",
    "webhook replayed",
    "records purged",
    "messages erased",
    "MO received",
    "receipts ambiguous",
];

/// Counts by name.
#[derive(Clone, Default)]
pub(super) struct Coverage(BTreeMap<&'static str, u64>);

impl Coverage {
    pub(super) fn count(&mut self, what: &'static str, times: u64) {
        *self.0.entry(what).or_default() += times;
    }

    pub(super) fn add(&mut self, other: &Coverage) {
        other.0.iter().for_each(|(what, times)| self.count(what, *times));
    }

    /// Panics if a command that the simulation claims to run was not run, or one that it does not was.
    pub(super) fn check(&self) {
        let has = |what: &str| self.0.get(what).is_some_and(|times| *times > 0);
        for command in AnyCommand::NAMES {
            assert_eq!(has(command), !NOT_SIMULATED.contains(command), "{command} was run");
        }
        let missing: Vec<_> = MUST_HAPPEN.iter().filter(|what| !has(what)).collect();
        assert!(missing.is_empty(), "never happened: {missing:?}");
    }

    pub(super) fn print(&self) {
        let lines: Vec<String> = self.0.iter().map(|(what, times)| format!("{what} {times}")).collect();
        println!("Counts: {}", lines.join(", "));
    }
}
