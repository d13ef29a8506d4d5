//! Checks that what the setup promised was done: a message that has ended has its webhook event, and an MO message to an owned
//! number has its account. An engine that decided by another setup than the stored one breaks these.
//!
//! Only what happened under an entry as it is now can be checked. The audit log says when an entry was last changed, at the latest
//! with the last change that it does not list; where it knows neither, nothing is checked. Nothing here may raise a false alarm.

use super::{Listed, check};
use crate::audit::report::{AuditReport, Violation};
use crate::setup;
use crate::sql::{Connection, RowKey, params};
use crate::sql::{audit_log, catalogue};
use hermod_domain::catalogue::{Catalogue, NumberOwner};
use hermod_domain::ids::{ConnectionId, MessageId};
use hermod_domain::inbound::number_of;
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::WebhookKind;
use hermod_engine::ops::CatalogueRow;
use hermod_engine::tables::{TableError, Wire};
use hermod_engine::webhooks::has_webhook;
use std::collections::HashMap;
use std::time::Duration;

const READABLE: &str = "the setup can be read";
const HAS_EVENT: &str = "a message that has ended has its webhook event";
const HAS_ACCOUNT: &str = "an MO message to an owned number has its account";

/// The action of the row of the audit log that counts the changes which are not listed.
const UNLISTED: &str = "setup.more";
/// A change of the setup is in effect on the node with the engine after so long.
const IN_EFFECT_AFTER: Duration = Duration::from_secs(60);

/// When entries were last changed, by kind and name.
#[derive(Default)]
struct Changes {
    last: HashMap<(String, String), Timestamp>,
    /// The last change that is not listed. It may have changed any entry.
    unlisted: Option<Timestamp>,
    /// The last change of any number.
    numbers: Option<Timestamp>,
}

impl Changes {
    fn read(connection: &Connection) -> Result<Changes, TableError> {
        let mut changes = Changes::default();
        audit_log::visit(connection, |row| {
            let at = row.entry.at;
            let Some((kind, _)) = row.entry.action.split_once('.') else { return Ok(()) };
            if row.entry.action == UNLISTED {
                changes.unlisted = changes.unlisted.max(Some(at));
            }
            if kind == "number" {
                changes.numbers = changes.numbers.max(Some(at));
            }
            let last = changes.last.entry((kind.to_owned(), row.entry.subject.clone())).or_insert(at);
            *last = at.max(*last);
            Ok(())
        })?;
        Ok(changes)
    }

    /// Returns since when an entry is in effect as it is now; none if that is not known.
    fn in_effect_since(&self, kind: &str, name: &str) -> Option<Timestamp> {
        let last = self.last.get(&(kind.to_owned(), name.to_owned())).copied();
        Some(last.max(self.unlisted)?.plus(IN_EFFECT_AFTER))
    }

    fn numbers_in_effect_since(&self) -> Option<Timestamp> {
        Some(self.numbers.max(self.unlisted)?.plus(IN_EFFECT_AFTER))
    }
}

/// Checks the rules.
pub(super) fn check_setup(connection: &Connection, report: &mut AuditReport) -> Result<(), TableError> {
    let rows = catalogue::read(connection)?;
    let setup = match setup::read_catalogue(&rows) {
        Ok(setup) => setup,
        Err(error) => {
            report.violations.push(Violation { rule: READABLE, detail: error.to_string() });
            return Ok(());
        }
    };
    let changes = Changes::read(connection)?;
    check_events(connection, &rows, &setup, &changes, report)?;
    check_numbers(connection, &setup, &changes, report)
}

/// Events are numbered in order and deleted some time after their end. So those behind the last gap are all there, and the
/// messages that ended after the end of the first of them must have theirs: a report that was moved to the webhook is older
/// than its event. Without any event ever, all must. Only an event with a final status counts (`DlrCode::as_u8`), not an
/// intermediate one such as ENROUTE.
const MISSING_EVENTS: &str = "
    WITH event AS (
        SELECT id, message, kind, told, at, NULL AS ended_at FROM webhook
        UNION ALL SELECT id, message, kind, told, at, ended_at FROM webhook_past),
    numbered AS (
        SELECT id, CASE WHEN id = 1 THEN at ELSE ended_at END AS at, lag(id) OVER (ORDER BY id) AS previous FROM event),
    behind_gap AS (SELECT at FROM numbered WHERE previous IS NULL OR previous <> id - 1 ORDER BY id DESC LIMIT 1),
    complete AS (
        SELECT CASE WHEN last = 0 THEN 0 WHEN last = (SELECT max(id) FROM event) THEN (SELECT at FROM behind_gap) END AS since
        FROM webhook_counter)
    SELECT 'message ' || id FROM (
        SELECT m.id FROM message m JOIN hooked h ON h.account = m.account AND h.connection = m.connection
        WHERE m.settled_at > (SELECT since FROM complete) AND m.dlr IS NOT NULL
            AND (m.id >> 18) + 1735689600000 > CASE WHEN m.origin IS NULL THEN h.over_http ELSE h.over_smpp END
        EXCEPT SELECT message FROM event WHERE kind = 1 AND told IN (2, 3, 5, 6, 7, 8)
        EXCEPT SELECT message FROM set_aside) AS missing";

/// Checks that messages of connections whose account has a webhook have their events.
fn check_events(
    connection: &Connection,
    rows: &[CatalogueRow],
    setup: &Catalogue,
    changes: &Changes,
    report: &mut AuditReport,
) -> Result<(), TableError> {
    connection.execute_batch(
        "CREATE TEMP TABLE hooked (account INTEGER NOT NULL, connection INTEGER NOT NULL, over_http BIGINT, over_smpp BIGINT)",
    )?;
    let account_names: HashMap<u32, &str> =
        rows.iter().filter(|row| row.kind == "account").map(|row| (row.id, row.name.as_str())).collect();
    for row in rows.iter().filter(|row| row.kind == "connection") {
        let Some(found) = setup.connection(ConnectionId::new(row.id)) else { continue };
        if !has_webhook(setup, found.account, WebhookKind::Dlr) {
            continue;
        }
        let name = account_names.get(&found.account.get()).copied().unwrap_or_default();
        let over_http = changes.in_effect_since("account", name);
        let own = changes.in_effect_since("connection", &row.name).filter(|_| found.webhooks_too);
        // Without the setting, reports over SMPP move to the webhook only if no receiver is bound.
        let over_smpp = over_http.zip(own).map(|(account, own)| account.max(own));
        let [over_http, over_smpp] = [over_http, over_smpp].map(|since| since.map(Timestamp::as_millis));
        connection
            .prepare_cached(
                "INSERT INTO hooked (account, connection, over_http, over_smpp) VALUES (?1, ?2, ?3, ?4)",
            )?
            .change(
                RowKey { table: "hooked", row: row.id.into() },
                params![found.account.get(), row.id, over_http, over_smpp],
            )?;
    }
    check(connection, HAS_EVENT, MISSING_EVENTS, report)?;
    Ok(connection.execute_batch("DROP TABLE hooked")?)
}

/// Checks that no unassigned MO message is for a number that an account owned when it arrived.
fn check_numbers(
    connection: &Connection,
    setup: &Catalogue,
    changes: &Changes,
    report: &mut AuditReport,
) -> Result<(), TableError> {
    let Some(since) = changes.numbers_in_effect_since() else { return Ok(()) };
    let mut statement = connection
        .prepare("SELECT message, text, wire FROM unassigned_inbound WHERE message >= ?1 ORDER BY message")?;
    let mut rows = statement.query([MessageId::first_at(since).as_i64()])?;
    let mut found = Listed::new(HAS_ACCOUNT);
    while let Some(row) = rows.next()? {
        let (message, text): (i64, String) = (row.get(0)?, row.get(1)?);
        let octets: Vec<u8> = row.get(2)?;
        // An unreadable one tells nothing; other rules are about that.
        let Some(wire) = Wire::from_stored(&octets) else { continue };
        let owned = match setup.find_owner(&number_of(&wire.destination), &text) {
            Some(NumberOwner::Number(_) | NumberOwner::Keyword { .. }) => true,
            Some(NumberOwner::Shared(otherwise)) => otherwise.is_some(),
            None => false,
        };
        if owned {
            found.add(format!("inbound message {message} is unassigned"), report);
        }
    }
    found.end(report);
    Ok(())
}
