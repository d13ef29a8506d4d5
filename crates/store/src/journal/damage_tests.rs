//! Damages files of the journal: needed batches are never dropped silently.
