//! Parts that a carrier took without giving them a usable id.

pub(super) const TABLE: &str = "
-- Their receipts can be matched only by the recipient's number and the time. A row goes when a receipt was matched to it.
CREATE TABLE unnamed (
    carrier     INTEGER NOT NULL,
    dest        INTEGER NOT NULL,
    message     INTEGER NOT NULL,
    part        INTEGER NOT NULL,
    account     INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    PRIMARY KEY (carrier, dest, message, part)
) WITHOUT ROWID, STRICT;
";
