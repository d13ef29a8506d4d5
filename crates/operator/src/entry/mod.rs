//! What all entries of the setup have in common.

pub(crate) mod audit_entries;
pub(crate) mod checks;
pub(crate) mod documents;
pub(crate) mod draft;
pub(crate) mod email_address;
pub mod export;
pub mod fields;
pub mod hex_codes;
pub(crate) mod last_applied;
pub(crate) mod mentioned_fields;
pub mod names;
pub mod plan;
pub(crate) mod three_way;
pub(crate) mod unreachable_entries;
pub(crate) mod values;
pub mod views;
