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
mod described;
mod dump;
mod earlier_costs;
mod entry_uses;
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
mod webhook_events;

pub(crate) use dump::Dump;
pub(crate) use inspect::{EventRow, EventStanding, MessageFacts, MoRow};

use described::Described;
use hermod_engine::block_filter::FilterBlock;
use hermod_engine::described_tables;
use hermod_engine::tables::{KeyBucketRow, KeyEntry, PartRow, RowChange, RowChanges, StoredRow, TableError};
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

/// Adds the described tables to the others. The keys of the others are those of the store's tables, in the same order of columns.
macro_rules! with_described {
    ($($variant:ident: $row:ty => $table:ident,)*) => {
        tables! {
            carrier_id_day: i64 => (),
            retired_carrier_id_day: i64 => (),
            carrier_id: carrier_ids::Key => carrier_ids::Row,
            erasure: (hermod_domain::erasure::NumberDigest, u32) => i64,
            key_log: i64 => Vec<KeyEntry>,
            key_bucket: u32 => KeyBucketRow,
            key_block: (u32, u32) => Vec<KeyEntry>,
            key_filter: (u32, u32) => Vec<FilterBlock>,
            message: i64 => messages::Row,
            inbound_seen: (u32, [u8; 16]) => i64,
            inbound_group: u64 => mo_parts::Group,
            inbound_part: (u64, u8) => mo_parts::Part,
            part: parts::Key => PartRow,
            late_part: parts::Key => PartRow,
            retention: u8 => i64,
            report: (u32, u64) => reports::Row,
            set_aside: i64 => set_aside::Row,
            step_counter: () => u64,
            timeline: u64 => timeline::Row,
            webhook: webhook_events::Key => webhook_events::Waiting,
            webhook_past: webhook_events::Key => webhook_events::Ended,
            webhook_counter: () => u64,
            $($table: <$row as StoredRow>::Key => Described<$row>,)*
        }

        $(
            impl RowChanges<$row> for MemoryTables {
                fn change_row(&self, change: &RowChange<$row>) -> Result<(), TableError> {
                    self.write().$table.change_row(change);
                    Ok(())
                }
            }
        )*
    };
}

described_tables!(with_described);
