//! Proof of the SMPP crate from outside, through its public face: golden vectors from other
//! implementations, laws that hold for all inputs, and a mutator that tries to break it.

mod chance;
mod laws;
mod made;
mod mutator;
mod printed;
mod trace;
mod vectors;
