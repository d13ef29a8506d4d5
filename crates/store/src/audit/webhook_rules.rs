//! The audit's rules about webhook events. A message may be purged before its events.

use super::rules::Rule;

pub(super) const WEBHOOK_RULES: &[Rule] = &[
    Rule {
        name: "a webhook event is a delivery report or an inbound message of its account",
        query: "WITH event AS (
                 SELECT account, kind, id, message, connection, told, err, form, inbound FROM webhook UNION ALL
                 SELECT account, kind, id, message, connection, told, err, form, inbound FROM webhook_past)
             SELECT 'event ' || e.id FROM event e LEFT JOIN message m ON m.id = e.message
                 LEFT JOIN inbound i ON i.account = e.account AND i.id = e.inbound
             WHERE NOT CASE e.kind
                 WHEN 1 THEN e.told IS NOT NULL AND e.err IS NOT NULL AND e.form IN (1, 2) AND e.inbound IS NULL
                     AND (m.id IS NULL OR (m.account = e.account AND m.connection = e.connection))
                 WHEN 2 THEN e.inbound IS NOT NULL AND e.told IS NULL AND m.id IS NULL
                     AND (i.id IS NULL OR i.message = e.message)
                 ELSE FALSE END",
    },
    Rule {
        name: "a webhook event's status matches its message",
        query: "WITH event AS (SELECT id, message, told FROM webhook WHERE kind = 1 UNION ALL
                 SELECT id, message, told FROM webhook_past WHERE kind = 1)
             SELECT 'event ' || e.id || ': ' || e.told FROM event e LEFT JOIN message m ON m.id = e.message
             WHERE e.told NOT IN (2, 3, 5, 7, 8, 101, 106)
                 OR (e.told IN (2, 3, 5, 8) AND m.id IS NOT NULL AND (m.settled_at IS NULL OR m.dlr <> e.told))",
    },
    Rule {
        name: "no status is posted twice",
        query: "WITH event AS (SELECT message, told, inbound FROM webhook UNION ALL
                 SELECT message, told, inbound FROM webhook_past)
             SELECT 'message ' || message FROM event
             GROUP BY message, CASE WHEN told IS NULL THEN 0 WHEN told > 100 THEN 100 WHEN told = 7 THEN 7 ELSE 2 END
             HAVING count(*) > 1",
    },
    Rule {
        name: "a status is sent by bind or by webhook, unless both are configured",
        query: "SELECT 'message ' || message FROM (
                 SELECT message, told FROM report WHERE hooked = 0 UNION ALL
                 SELECT message, told FROM webhook WHERE kind = 1 UNION ALL
                 SELECT message, told FROM webhook_past WHERE kind = 1) AS told
             GROUP BY message, told HAVING count(*) > 1",
    },
    Rule {
        name: "a webhook event either waits or has ended",
        query: "SELECT 'event ' || w.id FROM webhook w JOIN webhook_past p USING (account, kind, id)
             UNION ALL SELECT 'event ' || id FROM webhook WHERE failures > attempts OR failures < 0
             UNION ALL SELECT 'event ' || id FROM webhook_past
                 WHERE state NOT BETWEEN 1 AND 4 OR (state IN (1, 2) AND attempts < 1)",
    },
    Rule {
        name: "the numbers of webhook events are unique",
        query: "WITH event AS (SELECT id FROM webhook UNION ALL SELECT id FROM webhook_past)
             SELECT 'event ' || id FROM event WHERE id > (SELECT last FROM webhook_counter)
             UNION ALL SELECT 'event ' || id FROM event GROUP BY id HAVING count(*) > 1",
    },
    Rule {
        name: "an attempt belongs to an event and has a result",
        query: "SELECT 'attempt ' || a.no || ' at event ' || a.event FROM webhook_attempt a
                 LEFT JOIN webhook w ON w.account = a.account AND w.kind = a.kind AND w.id = a.event
                 LEFT JOIN webhook_past p ON p.account = a.account AND p.kind = a.kind AND p.id = a.event
             WHERE ifnull(w.attempts, p.attempts) IS NULL OR a.no NOT BETWEEN 1 AND ifnull(w.attempts, p.attempts)
                 OR (a.status IS NULL) = (a.failure IS NULL) OR length(a.answer) > 4096",
    },
];
