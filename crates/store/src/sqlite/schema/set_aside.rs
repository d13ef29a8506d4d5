//! The table of rows that make no sense.

/// One row for each part that was taken out of the queues because its row, or its message's row, cannot be read: the
/// columns of `part` as they were. Or one for a message whose own row cannot be read; then the columns of a part are NULL.
pub(super) const TABLE: &str = "
CREATE TABLE set_aside (
    id          INTEGER PRIMARY KEY,
    at          INTEGER NOT NULL,
    reason      TEXT    NOT NULL,
    carrier     INTEGER NOT NULL,
    account     INTEGER NOT NULL,
    message     INTEGER NOT NULL,
    no          INTEGER,
    state       INTEGER,
    doubts      INTEGER,
    resend      INTEGER,
    attempts    INTEGER,
    due_at      INTEGER,
    expires_at  INTEGER
) STRICT;
CREATE INDEX set_aside_message ON set_aside (message);
";
