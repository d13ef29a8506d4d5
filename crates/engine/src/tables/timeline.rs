//! The table of what happened to a message beyond its ordinary course.

/// Reads and writes what happened to a message beyond its ordinary course.
pub trait TimelineRows {}
