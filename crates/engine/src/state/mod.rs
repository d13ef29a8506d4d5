//! What the engine keeps in memory between batches, one kind per file. Each is loaded from its rows, saves reads for
//! the decisions, and decides nothing itself.

pub mod aliases;
pub mod audit_log;
pub mod balances;
pub mod carrier_id_days;
pub mod carrier_ids;
pub mod concat_references;
pub mod day_totals;
pub mod deferred;
pub mod delivery_figures;
pub mod entry_uses;
pub mod event_numbers;
pub mod idempotency_keys;
pub mod lanes;
pub mod last_ids;
pub mod mo_parts;
pub mod opt_outs;
pub mod overlay;
pub mod parked_receipts;
pub mod queues;
pub mod recent;
pub mod report_target;
pub mod velocity;
