//! Tests of the SMPP crate through its public interface: golden vectors from other
//! implementations, properties for all inputs, and a mutator.

mod chance;
mod laws;
mod made;
mod mutator;
mod printed;
mod trace;
mod vectors;
