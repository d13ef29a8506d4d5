//! The tables as the engine reads and writes them: one trait per table. A store implements all of them.
//!
//! A method says what is read or written, never how: no SQL, and no decision. All writes are changes (`change_*`), which are
//! data: a log of them makes the same tables again. A change names the whole key of its row and absolute values. Most
//! tables are described once (`described.rs`), and have no writes of their own.

mod aliases;
mod audit_log;
mod batch_tables;
mod carrier_ids;
mod catalogue;
mod change_log;
mod changes;
mod columns;
mod conversations;
mod delivery_figures;
mod described;
mod earlier_costs;
mod entry_uses;
mod erasure;
mod error;
mod given_up_reports;
mod idempotency_keys;
mod inbound;
mod message_exceptions;
mod messages;
mod mo_parts;
mod money;
mod opt_outs;
mod parked_receipts;
mod parts;
mod purging;
mod read_ahead;
mod reports;
mod reviews;
mod set_aside;
mod timeline;
mod unnamed_parts;
mod users;
mod webhook_attempts;
mod webhook_events;

pub use aliases::*;
pub use audit_log::*;
pub use batch_tables::Tables;
pub use carrier_ids::*;
pub use catalogue::*;
pub use change_log::{
    CHANGE_ENCODING, CHANGES_FINGERPRINT, ChangeLog, LogError, LoggedChanges, fingerprint, replay,
};
pub use changes::Change;
pub use columns::{Column, ColumnKind, ColumnReader, ColumnValue, OnlyRow, Stored};
pub use conversations::*;
pub use delivery_figures::*;
pub use described::{ColumnRange, RowChange, RowChanges, StoredRow, TableDescription};
pub use earlier_costs::*;
pub use entry_uses::*;
pub use erasure::*;
pub use error::{TableError, Unreadable};
pub use given_up_reports::*;
pub use idempotency_keys::*;
pub use inbound::*;
pub use message_exceptions::*;
pub use messages::*;
pub use mo_parts::*;
pub use money::*;
pub use opt_outs::*;
pub use parked_receipts::*;
pub use parts::*;
pub use purging::*;
pub use reports::*;
pub use reviews::*;
pub use set_aside::*;
pub use timeline::*;
pub use unnamed_parts::*;
pub use users::*;
pub use webhook_attempts::*;
pub use webhook_events::*;

/// Names each trait once: for the definition of [`StoredTables`], and for its implementation.
macro_rules! tables {
    ($($rows:ident,)*; $($row:ty,)*) => {
        /// All tables as they are stored.
        pub trait StoredTables: $($rows +)* $(RowChanges<$row> +)* {}

        impl<T: $($rows +)* $(RowChanges<$row> +)*> StoredTables for T {}
    };
}

macro_rules! with_described {
    ($($table:ident: $row:ty => $name:ident,)*) => {
        tables! {
            AliasRows,
            AuditLogRows,
            BalanceRows,
            CarrierIdRows,
            CatalogueRows,
            ConversationRows,
            CustomerRequestRows,
            DayTotalRows,
            DeliveryFigureRows,
            EarlierCostRows,
            EntryUseRows,
            ErasureRows,
            GivenUpReportRows,
            IdempotencyKeyRows,
            InboundRows,
            LedgerRows,
            MessageExceptionRows,
            MessageRows,
            MoPartRows,
            OptOutRows,
            ParkedReceiptRows,
            PartRows,
            PurgingRows,
            ReportRows,
            ReviewRows,
            SetAsideRows,
            TimelineRows,
            UnassignedInboundRows,
            UnnamedPartRows,
            UserTokenRows,
            WebhookEventRows,
            ;
            $($row,)*
        }
    };
}

crate::described_tables!(with_described);
