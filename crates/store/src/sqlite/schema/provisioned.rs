//! The table of what provision files said when they were last applied.

/// One row per entry that a provision file mentioned or removed. The gateway compares the next file with it, so that only
/// what changed in the file is applied. Secrets stand in it in their stored form: sealed, or as a hash.
pub(super) const TABLE: &str = "
CREATE TABLE provisioned (
    kind        TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    body        TEXT    NOT NULL,
    PRIMARY KEY (kind, name)
) WITHOUT ROWID, STRICT;
";
