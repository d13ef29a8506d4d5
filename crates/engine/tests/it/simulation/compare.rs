//! Comparison of the engine and the tables with the model.

use super::model::{EarlierCarrier, Model};
use super::report_channels::Telling;
use super::setup::ACCOUNTS;
use super::world::World;
use crate::memory::MessageFacts;
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::origin::Alias;
use hermod_domain::time::Timestamp;
use hermod_engine::erase::ERASED_NUMBER;
use hermod_engine::ops::Report;
use hermod_engine::progress;
use hermod_engine::retention::PURGED_PER_STEP_MAX;
use hermod_engine::tables::Tables;
use std::collections::BTreeMap;

/// Comparisons of memory after which all tables are compared once.
const TABLES_COMPARED_EVERY: u64 = 4;

impl World {
    /// Compares the changes of a batch with the model.
    pub(super) fn compare(&mut self, reports: &[Report]) {
        let tables = Tables::new(self.tables.clone());
        for message in self.model.expiring(self.model.now) {
            let key = self.model.messages[&message].key(message);
            let stored = progress::load(&tables, key).expect("parts can be read");
            if stored.as_ref() != Some(&self.model.messages[&message].progress) {
                self.model.expire(message, stored.as_ref());
            }
        }
        for message in std::mem::take(&mut self.model.touched) {
            let entry = &self.model.messages[&message];
            let stored = progress::load(&tables, entry.key(message)).expect("parts can be read");
            let expected = (!entry.has_ended()).then(|| entry.progress.clone());
            assert_eq!(stored, expected, "message {message}");
        }
        for (account, balance) in &self.model.balances {
            assert_eq!(self.state.balances.of(*account).balance.as_micros(), *balance, "account {account}");
        }
        self.model.reports.check_batch(reports);
        let now = self.model.now;
        self.model.webhooks.find_new(&self.tables, now);
        self.model.mo.find_unassigned(&self.tables);
        if self.batches.is_multiple_of(self.compare_every) {
            self.compare_memory();
        }
        if self.batches.is_multiple_of(self.compare_every * TABLES_COMPARED_EVERY) {
            self.compare_tables();
        }
    }

    /// Compares the engine's memory with the tables.
    fn compare_memory(&self) {
        let tables = Tables::new(self.tables.clone());
        let differences = self.state.differences(&tables).expect("the tables can be read");
        assert!(differences.is_empty(), "memory and tables differ: {differences:#?}");
    }

    /// Compares all tables with the model, and the engine's memory with the tables.
    pub(super) fn compare_all(&self) {
        self.compare_memory();
        self.compare_tables();
        let differences = self.tables.dump().differences(&self.replayed.dump());
        assert!(differences.is_empty(), "tables and replayed changes differ: {differences:#?}");
    }

    fn compare_tables(&self) {
        let model = &self.model;
        let facts: BTreeMap<_, _> =
            model.messages.keys().map(|message| (*message, model.facts(*message))).collect();
        assert_same("messages", &self.tables.message_facts(), &facts);
        let open: Vec<MessageId> = model.open().map(|(message, _)| message).collect();
        assert_eq!(self.tables.messages_with_parts(), open, "messages that have not ended");
        let exceptions = model.messages.iter();
        let exceptions =
            exceptions.map(|(message, entry)| (*message, (entry.has_failed_over, entry.unknown_at)));
        let exceptions = exceptions.filter(|(_, exception)| *exception != (false, None)).collect();
        assert_same("exceptions of messages", &self.tables.exceptions(), &exceptions);
        let earlier = model.messages.iter().flat_map(|(message, entry)| {
            let row =
                |EarlierCarrier { carrier, submitted, cost }: &EarlierCarrier| (*carrier, *submitted, *cost);
            (1..).zip(entry.earlier.iter().map(row)).map(|(no, row)| ((*message, no), row))
        });
        assert_same("earlier carriers", &self.tables.earlier_carriers(), &earlier.collect());
        let refusals = model.messages.iter();
        let refusals =
            refusals.flat_map(|(message, entry)| entry.refused_by.iter().map(|by| (*message, *by)));
        assert!(self.tables.refusals().into_iter().eq(refusals), "refusals differ");
        let events = model.webhooks.events.iter().map(|(key, event)| (*key, event.row)).collect();
        assert_same("webhook events", &self.tables.events(), &events);
        let reports = self.tables.reports();
        assert!(reports.keys().eq(model.reports.waiting.keys()), "reports differ");
        for (key, message) in reports {
            if let Telling::Became(about, _) = model.reports.waiting[&key].telling {
                assert_eq!(about, message, "report {key:?}");
            }
        }
        let given_up = model.reports.given_up.iter().map(|(id, (connection, _))| (*connection, *id));
        assert!(self.tables.given_up_reports().into_iter().eq(given_up), "given-up reports differ");
        assert_same("MO messages", &self.tables.mo_messages(), &model.mo.received);
        assert_same("unassigned MO messages", &self.tables.unassigned_messages(), &model.mo.unassigned());
        for account in ACCOUNTS {
            let balance = model.balances.get(&account).copied().unwrap_or(0);
            let proved = self.tables.posted(account) - self.tables.costs(account);
            assert_eq!(proved, balance, "postings less costs of account {account}");
        }
    }
}

/// Panics with the rows that differ.
fn assert_same<K, V>(what: &str, stored: &BTreeMap<K, V>, expected: &BTreeMap<K, V>)
where
    K: Ord + std::fmt::Debug,
    V: PartialEq + std::fmt::Debug,
{
    if stored == expected {
        return;
    }
    let keys = stored.keys().chain(expected.keys());
    let differ = keys.filter(|key| stored.get(key) != expected.get(key));
    let lines: Vec<String> = differ
        .take(5)
        .map(|key| format!("{key:?}: stored {:?}, expected {:?}", stored.get(key), expected.get(key)))
        .collect();
    panic!("{what} differ: {lines:#?}");
}

impl Model {
    fn facts(&self, message: MessageId) -> MessageFacts {
        let entry = &self.messages[&message];
        let has_origin = matches!(entry.report_target, super::model::ReportTarget::Customer { .. });
        MessageFacts {
            carrier: entry.carrier,
            to: if entry.is_erased { ERASED_NUMBER } else { entry.to.number() },
            has_text: entry.has_text,
            settled_at: entry.settled_at,
            carrier_cost: entry.carrier_cost,
            billable: entry.billable,
            names_recipient: has_origin && !entry.is_erased,
            has_quote: has_origin && entry.has_text,
        }
    }

    /// Returns the message that has this alias.
    pub(super) fn named(&self, account: AccountId, alias: Alias) -> Option<MessageId> {
        let mut named = self.messages.iter().filter(|(_, entry)| entry.account == account);
        named.find(|(_, entry)| entry.alias == Some(alias)).map(|(message, _)| *message)
    }

    pub(super) fn purge_inbound(&mut self, account: AccountId, before: Timestamp) -> u64 {
        self.mo.purge(account, before, usize::try_from(PURGED_PER_STEP_MAX).expect("a few"))
    }
}
