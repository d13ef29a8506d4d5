//! The order in which parts that wait for a time come due.

/// Partial: only parts that are deferred cost a write. The condition is that of the queries, word for word,
/// and `state` stands in it so that they need not look at the rows.
pub(super) const INDEX: &str = "
CREATE INDEX part_due ON part (carrier, account, due_at, message, no, state)
    WHERE due_at > 0 AND state IN (0, 2);
";
