//! Proving the books from raw rows. Nothing here trusts a figure that the gateway keeps: every balance, state and link
//! between tables is worked out again and compared. It reads one snapshot, so it may run beside a live gateway.

use crate::embedded::schema;
use crate::fault::StoreFault;
use rusqlite::Connection;
use std::path::Path;

/// Violations of one rule that are listed; the rest are only counted.
const LISTED_PER_RULE_MAX: usize = 20;

/// What an audit found.
#[derive(Clone, Debug, Default)]
pub struct AuditReport {
    pub messages: u64,
    pub accounts: u64,
    /// Parts of messages that have not ended.
    pub open_parts: u64,
    /// Resends of parts that were in doubt, ever.
    pub resends: u64,
    pub violations: Vec<Violation>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    pub rule: &'static str,
    pub detail: String,
}

impl AuditReport {
    pub fn is_clean(&self) -> bool {
        self.violations.is_empty()
    }
}

/// A rule: its query returns one row of text for each violation.
struct Rule {
    name: &'static str,
    query: &'static str,
}

/// States as stored: 0 queued, 1 submitted, 2 enroute, 3 delivered, 4 expired, 5 undeliverable, 6 rejected.
const RULES: &[Rule] = &[
    Rule {
        name: "balance = ledger - costs",
        query: "WITH costs AS (SELECT account, sum(cost) AS cost FROM message GROUP BY account),
             posted AS (SELECT account, sum(balance) AS posted FROM ledger GROUP BY account),
             everyone AS (SELECT account FROM balance UNION SELECT account FROM costs UNION SELECT account FROM posted)
             SELECT 'account ' || e.account || ': balance ' || ifnull(b.balance, 0) || ', ledger ' || ifnull(p.posted, 0)
                 || ', costs ' || ifnull(c.cost, 0)
             FROM everyone e LEFT JOIN balance b USING (account) LEFT JOIN costs c USING (account)
                 LEFT JOIN posted p USING (account)
             WHERE ifnull(b.balance, 0) <> ifnull(p.posted, 0) - ifnull(c.cost, 0)",
    },
    Rule {
        name: "credit used = ledger",
        query: "SELECT 'account ' || b.account FROM balance b
             WHERE b.credit_used <> (SELECT ifnull(sum(credit_used), 0) FROM ledger l WHERE l.account = b.account)",
    },
    Rule {
        name: "a refund is a message's own cost, for a message that never left",
        query: "SELECT 'ledger entry ' || l.id FROM ledger l LEFT JOIN message m ON m.id = l.message
             WHERE l.kind = 2 AND (m.id IS NULL OR m.account <> l.account OR m.cost <> l.balance OR m.state NOT IN (4, 6))",
    },
    Rule {
        name: "a message that has not ended has all its parts",
        query: "SELECT 'message ' || m.id FROM message m WHERE m.state IN (0, 1, 2) AND m.parts <>
             (SELECT count(*) FROM part p
              WHERE p.carrier = m.carrier AND p.account = m.account AND p.message = m.id AND p.no BETWEEN 1 AND m.parts)",
    },
    Rule {
        name: "every part belongs to a message that has not ended",
        query: "SELECT 'part ' || p.no || ' of message ' || p.message FROM part p LEFT JOIN message m ON m.id = p.message
             WHERE m.id IS NULL OR m.account <> p.account OR m.carrier <> p.carrier OR m.state NOT IN (0, 1, 2)",
    },
    Rule {
        name: "a part's state fits a message that has not ended",
        query: "SELECT 'part ' || no || ' of message ' || message || ': state ' || state FROM part
             WHERE state NOT BETWEEN 0 AND 7",
    },
    Rule {
        name: "a message that has ended says when, one that has not does not",
        query: "SELECT 'message ' || id FROM message WHERE (state IN (3, 4, 5, 6)) <> (settled_at IS NOT NULL)",
    },
    Rule { name: "costs are not negative", query: "SELECT 'message ' || id FROM message WHERE cost < 0" },
    Rule {
        name: "the timeline is about messages that exist",
        query: "SELECT 'message ' || t.message FROM timeline t LEFT JOIN message m ON m.id = t.message WHERE m.id IS NULL",
    },
];

/// Audits the store in a data folder.
pub fn audit(folder: &Path) -> Result<AuditReport, StoreFault> {
    let connection = schema::open_existing(folder)?;
    let snapshot = connection.unchecked_transaction()?;
    let mut report = AuditReport {
        messages: count(&snapshot, "SELECT count(*) FROM message")?,
        accounts: count(&snapshot, "SELECT count(*) FROM balance")?,
        open_parts: count(&snapshot, "SELECT count(*) FROM part")?,
        resends: count(&snapshot, "SELECT count(*) FROM timeline WHERE what = 'resent'")?,
        violations: Vec::new(),
    };
    for Rule { name, query } in RULES {
        check(&snapshot, name, query, &mut report)?;
    }
    for day in schema::bucket_days(&snapshot, "key")? {
        let query = format!(
            "SELECT 'key of message ' || k.message FROM key_{day} k LEFT JOIN message m ON m.id = k.message
             WHERE m.id IS NULL"
        );
        check(&snapshot, "every idempotency key has its message", &query, &mut report)?;
        let query =
            format!("SELECT 'message ' || message FROM key_{day} GROUP BY message HAVING count(*) > 1");
        check(&snapshot, "a message has at most one idempotency key", &query, &mut report)?;
    }
    for day in schema::bucket_days(&snapshot, "remote")? {
        let query = format!(
            "SELECT 'carrier id of message ' || r.message FROM remote_{day} r LEFT JOIN message m ON m.id = r.message
             WHERE r.verdict IS NULL AND (m.id IS NULL OR m.account <> r.account OR r.part NOT BETWEEN 1 AND m.parts)"
        );
        check(&snapshot, "every carrier id stands for a part of its account", &query, &mut report)?;
    }
    check_pages(&snapshot, &mut report)?;
    Ok(report)
}

fn check(
    connection: &Connection,
    rule: &'static str,
    query: &str,
    report: &mut AuditReport,
) -> Result<(), StoreFault> {
    let mut statement = connection.prepare(query)?;
    let mut rows = statement.query([])?;
    let mut found = 0;
    while let Some(row) = rows.next()? {
        found += 1;
        if found <= LISTED_PER_RULE_MAX {
            report.violations.push(Violation { rule, detail: row.get(0)? });
        }
    }
    if found > LISTED_PER_RULE_MAX {
        let detail = format!("and {} more", found - LISTED_PER_RULE_MAX);
        report.violations.push(Violation { rule, detail });
    }
    Ok(())
}

/// The database's own check of its pages and indexes.
fn check_pages(connection: &Connection, report: &mut AuditReport) -> Result<(), StoreFault> {
    let mut statement = connection.prepare("PRAGMA quick_check(20)")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let detail: String = row.get(0)?;
        if detail != "ok" {
            report.violations.push(Violation { rule: "the file is sound", detail });
        }
    }
    Ok(())
}

fn count(connection: &Connection, query: &str) -> Result<u64, StoreFault> {
    let number: i64 = connection.query_row(query, [], |row| row.get(0))?;
    Ok(number.cast_unsigned())
}
