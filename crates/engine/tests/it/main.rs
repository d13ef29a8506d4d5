//! Tests of the engine alone, on tables in memory.

mod change_log;
mod key_steps;
mod memory;
mod read_ahead;
mod removed_entries;
mod simulation;
mod steps;
