//! The audit's rules, each a query over raw rows.

/// A rule. Its query returns one row of text per violation.
pub(super) struct Rule {
    pub name: &'static str,
    pub query: &'static str,
}

/// The rule about what was purged. Where texts are depends on the database, so they have a query of their own.
pub(super) const PURGED_ROWS_RULE: &str = "purged messages and texts are deleted";

/// Stored message states: 0 queued, 1 submitted, 2 enroute, 3 delivered, 4 expired, 5 undeliverable, 6 rejected.
pub(super) const RULES: &[Rule] = &[
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
        name: "a refund equals the cost of its message, which was not sent",
        query: "SELECT 'ledger entry ' || l.id FROM ledger l LEFT JOIN message m ON m.id = l.message
             WHERE l.kind = 2 AND (m.id IS NULL OR m.account <> l.account OR m.cost <> l.balance OR m.state NOT IN (4, 6))",
    },
    Rule {
        name: "a message that is not final has all its parts",
        query: "SELECT 'message ' || m.id FROM message m WHERE m.state IN (0, 1, 2) AND
             CASE m.whole WHEN 1 THEN 1 ELSE m.parts END <>
             (SELECT count(*) FROM open_part p
              WHERE p.carrier = m.carrier AND p.account = m.account AND p.message = m.id AND p.no BETWEEN 1 AND m.parts)
             AND NOT EXISTS (SELECT 1 FROM set_aside s WHERE s.message = m.id AND s.no IS NOT NULL)",
    },
    Rule {
        name: "no row is set aside",
        query: "SELECT CASE WHEN no IS NULL THEN '' ELSE 'part ' || no || ' of ' END || 'message ' || message
                 || ' of account ' || account || ', carrier ' || carrier || ': ' || reason FROM set_aside",
    },
    Rule {
        name: "a part without a carrier id belongs to a message of its account",
        query: "SELECT 'message ' || u.message FROM unnamed u LEFT JOIN message m ON m.id = u.message
             WHERE m.id IS NULL OR m.account <> u.account OR m.dest <> u.dest OR u.part NOT BETWEEN 1 AND m.parts",
    },
    Rule {
        name: "every part belongs to a message that is not final",
        query: "SELECT 'part ' || p.no || ' of message ' || p.message FROM open_part p LEFT JOIN message m ON m.id = p.message
             WHERE m.id IS NULL OR m.account <> p.account OR m.carrier <> p.carrier OR m.state NOT IN (0, 1, 2)",
    },
    Rule {
        name: "a part's state is one of a message that is not final",
        query: "SELECT 'part ' || no || ' of message ' || message || ': state ' || state FROM open_part
             WHERE state NOT BETWEEN 0 AND 7",
    },
    Rule {
        name: "a message has an end time if and only if it is final",
        query: "SELECT 'message ' || id FROM message WHERE (state IN (3, 4, 5, 6)) <> (settled_at IS NOT NULL)",
    },
    Rule {
        name: "a message's codes are valid",
        query: "SELECT 'message ' || id FROM message
             WHERE state NOT BETWEEN 0 AND 6 OR encoding NOT BETWEEN 0 AND 2 OR parts NOT BETWEEN 1 AND 255
                 OR whole NOT IN (0, 1) OR id <= 0",
    },
    Rule { name: "costs are not negative", query: "SELECT 'message ' || id FROM message WHERE cost < 0" },
    Rule {
        name: "a carrier's cost has an amount and terms",
        query: "SELECT 'message ' || id FROM message
             WHERE (carrier_cost IS NULL) <> (cost_terms IS NULL) OR carrier_cost < 0 OR cost_terms < 0
             UNION ALL SELECT 'message ' || message || ', move ' || no FROM earlier_cost
             WHERE (carrier_cost IS NULL) <> (cost_terms IS NULL) OR carrier_cost < 0 OR cost_terms < 0",
    },
    Rule {
        name: "what a carrier can bill is known of messages that are final, and fits their parts",
        query: "WITH billed AS (
                 SELECT id, state, settled_at, billable, billable % 65536 AS submitted,
                     billable % 65536 - billable / 65536 AS delivered, CASE whole WHEN 1 THEN 1 ELSE parts END AS submits
                 FROM message)
             SELECT 'message ' || id FROM billed
             WHERE (billable IS NULL) <> (settled_at IS NULL) OR billable < 0
                 OR delivered NOT BETWEEN 0 AND submits OR (state = 3) <> (delivered = submits)",
    },
    Rule {
        name: "what an earlier carrier can bill belongs to a message",
        query: "SELECT 'message ' || e.message || ', move ' || e.no FROM earlier_cost e LEFT JOIN message m ON m.id = e.message
             WHERE m.id IS NULL OR e.no < 1 OR e.submitted < 0 OR e.doubts < 1",
    },
    Rule {
        name: "every line of the timeline has its message",
        query: "SELECT 'message ' || t.message FROM timeline t LEFT JOIN message m ON m.id = t.message WHERE m.id IS NULL",
    },
    Rule {
        name: "step ids are reserved before they are used",
        query: "SELECT 'line ' || rowid || ' of the timeline' FROM timeline
             WHERE rowid > (SELECT reserved FROM step_counter)
             UNION ALL SELECT 'step_counter has ' || counters || ' rows'
             FROM (SELECT count(*) AS counters FROM step_counter) AS c WHERE counters <> 1",
    },
    Rule {
        name: "exceptional facts belong to messages that exist",
        query: "SELECT 'message ' || e.message FROM message_exception e LEFT JOIN message m ON m.id = e.message
             WHERE m.id IS NULL OR e.failed_over NOT IN (0, 1) OR e.late_receipts < 0
             UNION SELECT 'message ' || r.message FROM carrier_refusal r LEFT JOIN message m ON m.id = r.message
             WHERE m.id IS NULL",
    },
    Rule {
        name: "a ledger entry's amounts fit its kind",
        query: "SELECT 'ledger entry ' || id || ': kind ' || kind FROM ledger WHERE NOT CASE kind
                 WHEN 1 THEN balance > 0 AND credit_used = 0 AND message IS NULL
                 WHEN 2 THEN credit_used = 0 AND message IS NOT NULL
                 WHEN 3 THEN balance <> 0 AND credit_used = 0 AND message IS NULL
                 WHEN 4 THEN balance > 0 AND credit_used = balance AND message IS NULL
                 WHEN 5 THEN balance >= 0 AND credit_used <= 0 AND balance - credit_used > 0 AND message IS NULL
                 WHEN 6 THEN balance < 0 AND credit_used = 0 AND message IS NULL AND at % 86400000 = 0
                 WHEN 7 THEN balance > 0 AND credit_used = 0 AND message IS NULL AND at % 86400000 = 0
                 ELSE FALSE END",
    },
    Rule {
        name: "a day's spend = its messages' costs, kept or rolled up",
        query: "WITH costs AS (
                 SELECT account, ((id >> 18) + 1735689600000) / 86400000 AS day, cost FROM message
                 UNION ALL SELECT account, at / 86400000, -balance FROM ledger WHERE kind = 6),
             counted AS (SELECT account, day, sum(cost) AS spend FROM costs GROUP BY 1, 2),
             wrong AS (
                 SELECT * FROM (SELECT account, day, spend FROM daily WHERE spend <> 0 EXCEPT SELECT * FROM counted) AS a
                 UNION ALL
                 SELECT * FROM (SELECT * FROM counted EXCEPT SELECT account, day, spend FROM daily) AS b)
             SELECT DISTINCT 'account ' || account || ', day ' || day FROM wrong",
    },
    Rule {
        name: "a day's count = its messages, unless some are purged",
        query: "WITH counted AS (
                 SELECT account, ((id >> 18) + 1735689600000) / 86400000 AS day, count(*) AS messages
                 FROM message GROUP BY 1, 2),
             kept AS (
                 SELECT account, day, messages FROM daily
                 WHERE ((day * 86400000 - 1735689600000) << 18) >= (SELECT upto FROM retention WHERE what = 2)),
             wrong AS (
                 SELECT * FROM (SELECT * FROM kept EXCEPT SELECT * FROM counted) AS a
                 UNION ALL
                 SELECT c.* FROM counted c LEFT JOIN daily d USING (account, day)
                 WHERE d.messages IS NULL OR c.messages > d.messages)
             SELECT DISTINCT 'account ' || account || ', day ' || day FROM wrong",
    },
    Rule {
        name: PURGED_ROWS_RULE,
        query: "SELECT 'message ' || id FROM message WHERE id < (SELECT upto FROM retention WHERE what = 2)
                 AND NOT EXISTS (SELECT 1 FROM set_aside s WHERE s.message = message.id)
             UNION ALL SELECT 'mark ' || what FROM (SELECT count(*) AS what FROM retention) AS marks WHERE what <> 3",
    },
    Rule {
        name: "no more was refunded than was charged",
        query: "SELECT 'account ' || account FROM ledger WHERE kind IN (6, 7) GROUP BY account HAVING sum(balance) > 0",
    },
    Rule {
        name: "a parked receipt has a verdict and an id",
        query: "SELECT 'receipt parked for carrier ' || carrier FROM parked
             WHERE verdict NOT BETWEEN 1 AND 7 OR length(key) = 0 OR raw = key OR ambiguous NOT IN (0, 1)",
    },
    Rule {
        name: "delivery times do not exceed delivered parts",
        query: "SELECT 'carrier ' || carrier || ', day ' || day FROM delivery
             WHERE within_5s + within_15s + within_1m + within_5m + within_1h + longer > delivered
                 OR sent < 0 OR delivered < 0 OR failed < 0 OR expired < 0 OR rejected < 0 OR time_ms < 0",
    },
    Rule {
        name: "a report belongs to a message that was submitted on its connection",
        query: "SELECT 'report ' || r.id FROM report r LEFT JOIN message m ON m.id = r.message
             WHERE r.inbound IS NULL
                 AND (m.id IS NULL OR m.origin IS NULL OR m.connection <> r.connection OR r.delivered > m.parts)",
    },
    Rule {
        name: "a report that delivers an MO message has that message",
        query: "SELECT 'report ' || r.id FROM report r
                 LEFT JOIN inbound i ON i.account = r.account AND i.id = r.inbound
             WHERE (r.told = 200) <> (r.inbound IS NOT NULL)
                 OR (r.told = 200 AND (i.message IS NULL OR i.message <> r.message OR i.wire IS NULL))",
    },
    Rule {
        name: "a report's status matches its message",
        query: "SELECT 'report ' || r.id || ': ' || r.told FROM report r JOIN message m ON m.id = r.message
             WHERE r.told NOT IN (2, 3, 5, 7, 8, 101, 106, 200)
                 OR (r.told IN (2, 3, 5, 8) AND (m.settled_at IS NULL OR m.dlr <> r.told))
                 OR (r.told = 2 AND r.delivered <> m.parts)",
    },
    Rule {
        name: "no status is reported twice",
        query: "SELECT 'message ' || message FROM (SELECT message, told FROM report UNION ALL SELECT message, told FROM given_up) AS told
             GROUP BY message, CASE WHEN told > 100 THEN 100 WHEN told = 7 THEN 7 ELSE 2 END HAVING count(*) > 1",
    },
    Rule {
        name: "a given-up report belongs to a message",
        query: "SELECT 'report ' || g.id FROM given_up g LEFT JOIN message m ON m.id = g.message
             WHERE g.given_up_at < g.at OR (g.told <> 200 AND (m.id IS NULL OR m.account <> g.account
                 OR m.connection <> g.connection OR m.origin IS NULL))
             UNION ALL SELECT 'report ' || r.id FROM report r JOIN given_up g ON g.id = r.id",
    },
    Rule {
        name: "an alias names one message of its account",
        query: "SELECT 'alias ' || a.alias FROM alias a LEFT JOIN message m ON m.id = a.message
                 LEFT JOIN alias_counter c ON c.account = a.account
             WHERE m.id IS NULL OR m.account <> a.account OR m.origin IS NULL OR c.account IS NULL
                 OR a.alias NOT BETWEEN 268435456 AND 4294967295
             UNION ALL SELECT 'message ' || message FROM alias GROUP BY message HAVING count(*) > 1",
    },
    Rule {
        name: "an opted-out number is valid",
        query: "SELECT 'account ' || account || ': ' || number FROM opt_out
             WHERE number NOT BETWEEN 1000000 AND 999999999999999",
    },
    Rule {
        name: "inbound numbers have no gaps up to their counter",
        query: "WITH kept AS (SELECT account, min(id) AS first, max(id) AS last, count(*) AS messages FROM inbound GROUP BY account)
             SELECT 'account ' || k.account FROM kept k LEFT JOIN inbound_counter c USING (account)
             WHERE c.last IS DISTINCT FROM k.last OR k.first < 1 OR k.messages <> k.last - k.first + 1",
    },
    Rule {
        name: "ids of inbound messages are unique",
        query: "SELECT 'inbound message ' || i.message FROM inbound i JOIN message m ON m.id = i.message
             UNION ALL SELECT 'inbound message ' || message
             FROM (SELECT message FROM inbound UNION ALL SELECT message FROM unassigned_inbound) AS ids
             GROUP BY message HAVING count(*) > 1",
    },
    Rule {
        name: "an incomplete inbound message has the parts it counts",
        query: "SELECT 'inbound message ' || g.id FROM inbound_group g
             WHERE g.parts NOT BETWEEN 1 AND g.total - 1
                 OR g.parts <> (SELECT count(*) FROM inbound_part p WHERE p.grp = g.id AND p.no BETWEEN 1 AND g.total)
                 OR g.octets <> (SELECT sum(length(p.octets)) FROM inbound_part p WHERE p.grp = g.id)
             UNION ALL SELECT 'part ' || p.no || ' of inbound message ' || p.grp FROM inbound_part p
                 LEFT JOIN inbound_group g ON g.id = p.grp WHERE g.id IS NULL",
    },
    Rule {
        name: "a review is open, or has a decision time",
        query: "SELECT 'review case ' || id FROM review
             WHERE state NOT IN (0, 1, 2) OR (state = 0) <> (decided_at IS NULL) OR seen < 1 OR last_at < opened_at",
    },
    Rule {
        name: "what refers to an account, carrier or connection is noted as its use, and none was removed",
        query: "WITH referred (kind, id) AS (
                 SELECT 'account', account FROM message UNION SELECT 'connection', connection FROM message
                 UNION SELECT 'carrier', carrier FROM message UNION SELECT 'account', account FROM ledger
                 UNION SELECT 'account', account FROM inbound UNION SELECT 'account', account FROM opt_out
                 UNION SELECT 'account', account FROM review UNION SELECT 'account', account FROM customer_request
                 UNION SELECT 'connection', connection FROM customer_request WHERE connection IS NOT NULL
                 UNION SELECT 'connection', connection FROM report
                 UNION SELECT 'carrier', carrier FROM unassigned_inbound UNION SELECT 'carrier', carrier FROM parked)
             SELECT r.kind || ' ' || r.id FROM referred r
             LEFT JOIN entry_use u ON u.kind = r.kind AND u.id = r.id AND u.usage <> 'removed' WHERE u.id IS NULL
             UNION ALL SELECT u.kind || ' ' || u.id || ' was removed' FROM entry_use u
             JOIN catalogue c ON c.kind = u.kind AND c.id = u.id WHERE u.usage = 'removed'",
    },
];
