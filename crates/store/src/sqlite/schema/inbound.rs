//! Migrations 7 and 17. MO messages: duplicates, concatenated parts, unassigned messages, conversations, and their delivery over
//! SMPP.

pub(super) const TABLES: &str = "
-- `wire`: addresses and encoding for delivery over SMPP (see mo_blobs.rs). `missing`: parts that never arrived.
ALTER TABLE inbound ADD COLUMN wire BLOB;
ALTER TABLE inbound ADD COLUMN missing INTEGER NOT NULL DEFAULT 0;

-- For a report that delivers an MO message: its account, and its number there. `told` is then 200.
ALTER TABLE report ADD COLUMN account INTEGER;
ALTER TABLE report ADD COLUMN inbound INTEGER;

-- Digests of recent MO messages. A carrier sends a message again if it got no response.
CREATE TABLE inbound_seen (
    carrier     INTEGER NOT NULL,
    digest      BLOB    NOT NULL,
    until       INTEGER NOT NULL,
    PRIMARY KEY (carrier, digest)
) WITHOUT ROWID, STRICT;
CREATE INDEX inbound_seen_until ON inbound_seen (until);

-- Concatenated messages with missing parts.
CREATE TABLE inbound_group (
    id          INTEGER PRIMARY KEY,
    carrier     INTEGER NOT NULL,
    source      TEXT    NOT NULL,
    dest        TEXT    NOT NULL,
    reference   INTEGER NOT NULL,
    total       INTEGER NOT NULL,
    ends        BLOB    NOT NULL,
    parts       INTEGER NOT NULL,
    octets      INTEGER NOT NULL,
    since       INTEGER NOT NULL,
    UNIQUE (carrier, source, dest, reference, total)
) STRICT;
CREATE INDEX inbound_group_since ON inbound_group (since);
CREATE INDEX inbound_group_oldest ON inbound_group (carrier, since);

CREATE TABLE inbound_part (
    grp         INTEGER NOT NULL,
    no          INTEGER NOT NULL,
    coding      INTEGER NOT NULL,
    alphabet    INTEGER NOT NULL,
    header      BLOB    NOT NULL,
    octets      BLOB    NOT NULL,
    PRIMARY KEY (grp, no)
) WITHOUT ROWID, STRICT;

-- Unassigned messages: no account owns the number.
CREATE TABLE unowned_inbound (
    message     INTEGER PRIMARY KEY,
    carrier     INTEGER NOT NULL,
    source      TEXT    NOT NULL,
    dest        TEXT    NOT NULL,
    text        TEXT    NOT NULL,
    wire        BLOB    NOT NULL,
    missing     INTEGER NOT NULL,
    received_at INTEGER NOT NULL
) STRICT;

-- The account that last wrote to a handset from a shared number.
CREATE TABLE conversation (
    handset     INTEGER NOT NULL,
    number      TEXT    NOT NULL,
    account     INTEGER NOT NULL,
    connection  INTEGER NOT NULL,
    message     INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    PRIMARY KEY (handset, number)
) WITHOUT ROWID, STRICT;
";

/// Renames the table to the name that commands and metrics use.
pub(super) const UNASSIGNED: &str = "ALTER TABLE unowned_inbound RENAME TO unassigned_inbound;";
