//! Tests of the engine alone, on tables in memory.

mod memory;
mod simulation;
