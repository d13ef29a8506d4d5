//! Tables in memory. Their reads have the order, limits and conditions of the store's SQL. A change panics where it would
//! conflict, or would hit no row: applying a change cannot conflict.

mod aliases;
mod audit_log;
mod balances;
mod carrier_ids;
mod catalogue;
mod columns;
mod conversations;
mod customer_requests;
mod day_totals;
mod delivery_figures;
mod dump;
mod erasure;
mod given_up_reports;
mod idempotency_keys;
mod inbound;
mod inspect;
mod jobs;
mod ledger;
mod message_exceptions;
mod messages;
mod mo_parts;
mod opt_outs;
mod parked_receipts;
mod parts;
mod parts_tests;
mod purging;
mod reports;
mod reviews;
mod set_aside;
mod table;
mod tests;
mod timeline;
mod unassigned_inbound;
mod unnamed_parts;
mod user_tokens;
mod webhook_attempts;
mod webhook_events;

pub(crate) use dump::Dump;
pub(crate) use inspect::{EventRow, EventStanding, MessageFacts, MoRow};

use hermod_domain::audit::AuditRow;
use hermod_engine::block_filter::FilterBlock;
use hermod_engine::ops::{
    Balance, CustomerRequest, DayTotals, DeliveryFigures, GivenUpReport, ReceiptLoss, TokenDigest, UserToken,
};
use hermod_engine::tables::{Conversation, InboundCounter, KeyBucketRow, KeyEntry, PartRow};
use std::cell::{Cell, Ref, RefCell, RefMut};
use std::rc::Rc;
use table::Table;

/// All tables. A clone has the same rows, so an engine can be dropped and another one built on them.
#[derive(Clone, Default)]
pub(crate) struct MemoryTables {
    rows: Rc<RefCell<Rows>>,
    reads: Rc<Cell<usize>>,
}

/// The rows of all tables at one time.
#[derive(Clone)]
pub(crate) struct Snapshot(Rows);

impl MemoryTables {
    /// Keeps all changes so far.
    pub(crate) fn commit(&self) {
        self.write().commit();
    }

    /// Takes back all changes since the last commit, as a crash does.
    pub(crate) fn roll_back(&self) {
        self.write().roll_back();
    }

    /// Returns a copy of all rows.
    pub(crate) fn snapshot(&self) -> Snapshot {
        Snapshot(self.read().clone())
    }

    /// Puts the rows of a snapshot in place of all rows.
    pub(crate) fn restore(&self, snapshot: &Snapshot) {
        *self.write() = snapshot.0.clone();
    }

    /// Returns all rows as text.
    pub(crate) fn dump(&self) -> Dump {
        self.read().dump()
    }

    /// Returns how often a table was read.
    pub(crate) fn reads(&self) -> usize {
        self.reads.get()
    }

    fn count_read(&self) {
        self.reads.set(self.reads.get() + 1);
    }

    fn read(&self) -> Ref<'_, Rows> {
        self.count_read();
        self.rows.borrow()
    }

    fn write(&self) -> RefMut<'_, Rows> {
        self.rows.borrow_mut()
    }
}

/// Names each table once: for its rows, and for operations on all tables.
macro_rules! tables {
    ($($table:ident: $key:ty => $row:ty,)*) => {
        #[derive(Clone, Default)]
        struct Rows {
            $($table: Table<$key, $row>,)*
        }

        impl Rows {
            fn commit(&mut self) {
                $(self.$table.commit();)*
            }

            fn roll_back(&mut self) {
                $(self.$table.roll_back();)*
            }

            fn dump(&self) -> Dump {
                let mut dump = Dump::default();
                $(dump.add(stringify!($table), self.$table.dump());)*
                dump
            }
        }
    };
}

// The keys are those of the store's tables, in the same order of columns.
tables! {
    alias: (u32, u32) => i64,
    alias_counter: u32 => u32,
    audit_log: u64 => AuditRow,
    audit_head: u8 => hermod_engine::tables::SealedEnd,
    balance: u32 => Balance,
    carrier_id_day: i64 => (),
    retired_carrier_id_day: i64 => (),
    carrier_id: carrier_ids::Key => carrier_ids::Row,
    catalogue: (String, u32) => catalogue::Row,
    provisioned: (String, String) => String,
    conversation: (u64, String) => Conversation,
    customer_request: u64 => CustomerRequest,
    daily: (u32, i64) => DayTotals,
    erasure: (hermod_domain::erasure::NumberDigest, u32) => i64,
    delivery: (i64, u32, String, String) => DeliveryFigures,
    given_up: u64 => GivenUpReport,
    key_log: i64 => Vec<KeyEntry>,
    key_bucket: u32 => KeyBucketRow,
    key_block: (u32, u32) => Vec<KeyEntry>,
    key_filter: (u32, u32) => Vec<FilterBlock>,
    inbound: (u32, u64) => inbound::Row,
    inbound_counter: u32 => InboundCounter,
    ledger: i64 => ledger::Row,
    message: i64 => messages::Row,
    message_exception: i64 => message_exceptions::Row,
    carrier_refusal: (i64, u32) => (),
    inbound_seen: (u32, [u8; 16]) => i64,
    inbound_group: u64 => mo_parts::Group,
    inbound_part: (u64, u8) => mo_parts::Part,
    opt_out: (u32, u64) => opt_outs::Row,
    parked: (u32, Vec<u8>, Vec<u8>) => parked_receipts::Row,
    receipt_loss: (i64, u32) => ReceiptLoss,
    part: parts::Key => PartRow,
    late_part: parts::Key => PartRow,
    retention: u8 => i64,
    report: (u32, u64) => reports::Row,
    review: u64 => reviews::Row,
    review_sequence: () => u64,
    set_aside: i64 => set_aside::Row,
    step_counter: () => u64,
    timeline: u64 => timeline::Row,
    unassigned_inbound: i64 => unassigned_inbound::Row,
    unnamed: (u32, u64, i64, u8) => unnamed_parts::Row,
    user_token: TokenDigest => UserToken,
    webhook: webhook_events::Key => webhook_events::Waiting,
    webhook_past: webhook_events::Key => webhook_events::Ended,
    webhook_counter: () => u64,
    webhook_attempt: (u32, u8, u64, u32) => webhook_attempts::Row,
}
