//! Tests of the engine alone, on tables in memory.

mod key_steps;
mod memory;
mod simulation;
mod steps;
