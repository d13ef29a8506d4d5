//! Messages from handsets as carriers bring them: which were brought before, which wait for their other parts, whose
//! they are, and how they are brought on over SMPP.

pub(super) const TABLES: &str = "
-- How it came, for SMPP (see wire.rs); and how many of its parts never did.
ALTER TABLE inbound ADD COLUMN wire BLOB;
ALTER TABLE inbound ADD COLUMN missing INTEGER NOT NULL DEFAULT 0;

-- Of a report that brings a message from a handset: whose, and its number there. `told` is 200 then.
ALTER TABLE report ADD COLUMN account INTEGER;
ALTER TABLE report ADD COLUMN inbound INTEGER;

-- What carriers have brought lately, by digest: they bring again what they got no answer for.
CREATE TABLE inbound_seen (
    carrier     INTEGER NOT NULL,
    digest      BLOB    NOT NULL,
    until       INTEGER NOT NULL,
    PRIMARY KEY (carrier, digest)
) WITHOUT ROWID, STRICT;
CREATE INDEX inbound_seen_until ON inbound_seen (until);

-- Messages of which parts are still to come.
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

-- Messages that are nobody's.
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

-- Who wrote to a handset last, from a number whose owner nothing else says.
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

/// The table has the name that commands and metrics use.
pub(super) const UNASSIGNED: &str = "ALTER TABLE unowned_inbound RENAME TO unassigned_inbound;";
