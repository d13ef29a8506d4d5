//! The table of customers' requests, and the reason of a review.

/// Migration 20. The customers' requests to the operator; what a customer is told about a review; reviews by account.
pub(super) const TABLE: &str = "
CREATE TABLE customer_request (
    id          INTEGER PRIMARY KEY,
    account     INTEGER NOT NULL,
    kind        INTEGER NOT NULL,
    subject     TEXT NOT NULL,
    connection  INTEGER,
    details     TEXT NOT NULL,
    author      TEXT NOT NULL,
    made_at     INTEGER NOT NULL,
    state       INTEGER NOT NULL,
    ended_at    INTEGER,
    ended_by    TEXT NOT NULL,
    reason      TEXT NOT NULL
) STRICT;
CREATE INDEX customer_request_account ON customer_request (account, id);
CREATE INDEX customer_request_state ON customer_request (state, id);
ALTER TABLE review ADD COLUMN reason TEXT NOT NULL DEFAULT '';
CREATE INDEX review_account ON review (account, id);
";
