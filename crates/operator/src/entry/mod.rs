//! What the entries of all kinds have in common: names, fields, checks, and the draft of a change until it is carried out. The
//! file of each subject has the type of its entries; `setup` puts the kinds together.

pub(crate) mod audit_entries;
pub mod carry_out;
pub(crate) mod checks;
pub(crate) mod documents;
pub(crate) mod draft;
pub mod export;
pub mod fields;
pub mod hex_codes;
pub(crate) mod last_applied;
pub(crate) mod mentioned_fields;
pub mod names;
pub mod plan;
pub(crate) mod three_way;
pub(crate) mod values;
pub mod views;
