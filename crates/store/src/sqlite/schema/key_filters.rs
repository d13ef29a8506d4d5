//! Filters of past days' idempotency keys, in parts, so that building one takes little memory however many keys a day has.

/// `upto` is the highest filter key that a part is about, as a signed number; -1 is the highest there is, and stands in a
/// day's last part. A filter of before is the only part of its day; one that is too short to be read is built again.
pub(super) const PARTS: &str = "
ALTER TABLE key_filter RENAME TO key_filter_in_one;
CREATE TABLE key_filter (
    day         INTEGER NOT NULL,
    part        INTEGER NOT NULL,
    upto        INTEGER NOT NULL,
    filter      BLOB    NOT NULL,
    PRIMARY KEY (day, part)
) STRICT;
INSERT INTO key_filter (day, part, upto, filter)
    SELECT day, 0, -1, filter FROM key_filter_in_one WHERE length(filter) > 20;
DROP TABLE key_filter_in_one;
";
