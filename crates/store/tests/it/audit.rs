//! The audit finds every kind of damage: each rule is violated once by a change of the rows.

use crate::reports::{CONNECTION, origin};
use crate::webhook_queue::MESSAGES;
use crate::world::*;
use hermod_domain::lifecycle::DeliveryOutcome;
use hermod_domain::origin::Origin;
use hermod_store::{Acceptance, Inbound, LedgerKind, OptOut, ReportOutcome, Screened, Store, SubmitResponse};
use std::sync::Arc;

const INBOUND_GAPS: &str = "inbound numbers have no gaps up to their counter";
const REVIEW_CASES: &str = "a review is open, or has a decision time";

const PARKED: &str = "a parked receipt has a verdict and an id";
const REPORT: &str = "a report belongs to a message that was submitted on its connection";
const TRUE_REPORT: &str = "a report's status matches its message";
const BROUGHT: &str = "a report that delivers an MO message has that message";
const UNFINISHED: &str = "an incomplete inbound message has the parts it counts";
const GIVEN_UP: &str = "a given-up report belongs to a message";
const ALIAS: &str = "an alias names one message of its account";
const HOOK: &str = "a webhook event is a delivery report or an inbound message of its account";
const TRUE_HOOK: &str = "a webhook event's status matches its message";
const WEBHOOK_TWICE: &str = "no status is posted twice";
const WEBHOOK_OR_BIND: &str = "a status is sent by bind or by webhook, unless both are configured";
const WEBHOOK_ENDS: &str = "a webhook event either waits or has ended";
const WEBHOOK_NUMBERS: &str = "the numbers of webhook events are unique";
const ATTEMPTS: &str = "an attempt belongs to an event and has a result";
const EXCEPTIONS: &str = "exceptional facts belong to messages that exist";
const DELIVERY: &str = "delivery times do not exceed delivered parts";
const TERMS: &str = "a carrier's cost has an amount and terms";
const BILLABLE: &str = "what a carrier can bill is known of messages that are final, and fits their parts";
const EARLIER: &str = "what an earlier carrier can bill belongs to a message";

/// (SQL that damages the rows, the rule that the audit must report)
const CASES: &[(&str, &str)] = &[
    ("UPDATE balance SET balance = balance + 1", "balance = ledger - costs"),
    ("DELETE FROM balance", "balance = ledger - costs"),
    ("UPDATE message SET cost = cost + 1 WHERE state = 3", "balance = ledger - costs"),
    ("DELETE FROM ledger WHERE kind = 1", "balance = ledger - costs"),
    ("DELETE FROM message WHERE state = 3", "balance = ledger - costs"),
    ("UPDATE message SET account = 2 WHERE state = 3", "balance = ledger - costs"),
    ("UPDATE balance SET credit_used = 5", "credit used = ledger"),
    (
        "UPDATE ledger SET balance = balance - 1 WHERE kind = 2",
        "a refund equals the cost of its message, which was not sent",
    ),
    (
        "UPDATE message SET state = 3 WHERE state = 4",
        "a refund equals the cost of its message, which was not sent",
    ),
    ("UPDATE ledger SET kind = 9 WHERE kind = 3", "a ledger entry's amounts fit its kind"),
    ("UPDATE ledger SET kind = 1 WHERE kind = 4", "a ledger entry's amounts fit its kind"),
    ("UPDATE ledger SET credit_used = 0 WHERE kind = 4", "a ledger entry's amounts fit its kind"),
    ("UPDATE ledger SET balance = 0, credit_used = 0 WHERE kind = 5", "a ledger entry's amounts fit its kind"),
    ("UPDATE daily SET messages = messages + 1", "a day's count = its messages, unless some are purged"),
    ("UPDATE daily SET spend = spend - 1", "a day's spend = its messages' costs, kept or rolled up"),
    ("UPDATE daily SET day = day + 7", "a day's spend = its messages' costs, kept or rolled up"),
    ("DELETE FROM daily", "a day's spend = its messages' costs, kept or rolled up"),
    ("UPDATE opt_out SET number = 5", "an opted-out number is valid"),
    ("DELETE FROM inbound WHERE id = 2", INBOUND_GAPS),
    ("DELETE FROM inbound WHERE id = 3", INBOUND_GAPS),
    ("UPDATE inbound SET id = id - 1", INBOUND_GAPS),
    ("UPDATE inbound_counter SET last = last + 1", INBOUND_GAPS),
    ("DELETE FROM inbound_counter", INBOUND_GAPS),
    (
        "UPDATE inbound SET message = (SELECT max(id) FROM message) WHERE id = 1",
        "ids of inbound messages are unique",
    ),
    ("UPDATE inbound SET message = 77", "ids of inbound messages are unique"),
    ("UPDATE review SET state = 7 WHERE id = 1", REVIEW_CASES),
    ("UPDATE review SET state = 1 WHERE id = 2", REVIEW_CASES),
    ("UPDATE review SET state = 0 WHERE id = 1", REVIEW_CASES),
    ("UPDATE review SET seen = 0", REVIEW_CASES),
    ("UPDATE review SET last_at = opened_at - 1", REVIEW_CASES),
    ("DELETE FROM part WHERE no = 2", "a message that is not final has all its parts"),
    ("UPDATE part SET no = 3 WHERE no = 2", "a message that is not final has all its parts"),
    (
        "UPDATE message SET state = 3, settled_at = 1 WHERE parts = 2",
        "every part belongs to a message that is not final",
    ),
    ("UPDATE part SET carrier = 9 WHERE no = 2", "every part belongs to a message that is not final"),
    ("UPDATE part SET state = 9 WHERE no = 2", "a part's state is one of a message that is not final"),
    (
        "UPDATE message SET settled_at = NULL WHERE state = 3",
        "a message has an end time if and only if it is final",
    ),
    ("UPDATE message SET cost = -1 WHERE state = 3", "costs are not negative"),
    ("UPDATE message SET cost_terms = NULL", TERMS),
    ("UPDATE message SET carrier_cost = -1", TERMS),
    ("UPDATE message SET billable = NULL WHERE state = 3", BILLABLE),
    ("UPDATE message SET billable = 65537 WHERE state = 3", BILLABLE),
    ("UPDATE message SET billable = 1 WHERE state = 0", BILLABLE),
    ("INSERT INTO earlier_cost VALUES (5, 1, 1, 1, 1, NULL, NULL)", EARLIER),
    ("INSERT INTO earlier_cost SELECT id, 1, 1, 1, 1, NULL, 7 FROM message", TERMS),
    ("INSERT INTO earlier_cost SELECT id, 1, 1, 1, 0, NULL, NULL FROM message", EARLIER),
    ("UPDATE timeline SET message = 5", "every line of the timeline has its message"),
    ("UPDATE step_counter SET reserved = 0", "step ids are reserved before they are used"),
    ("DELETE FROM step_counter", "step ids are reserved before they are used"),
    ("INSERT INTO message_exception VALUES (5, 0, NULL, 1)", EXCEPTIONS),
    ("INSERT INTO message_exception SELECT id, 2, NULL, 0 FROM message", EXCEPTIONS),
    ("INSERT INTO carrier_refusal VALUES (5, 1)", EXCEPTIONS),
    (
        "UPDATE key_log SET entries = CAST(substr(entries, 1, 16) || x'0000000000000005' || substr(entries, 25) AS BLOB)",
        "every idempotency key has its message",
    ),
    (
        "UPDATE key_log SET entries = CAST(entries || entries AS BLOB)",
        "a message has at most one idempotency key",
    ),
    ("UPDATE {remote} SET account = 9", "every carrier id belongs to a part of its account"),
    ("UPDATE {remote} SET part = 9", "every carrier id belongs to a part of its account"),
    ("UPDATE {remote} SET dest = 4915100000000", "every carrier id belongs to a part of its account"),
    ("UPDATE message SET whole = 1 WHERE parts = 2", "a message that is not final has all its parts"),
    ("UPDATE parked SET verdict = 8", PARKED),
    ("UPDATE parked SET raw = key", PARKED),
    ("UPDATE parked SET key = x''", PARKED),
    ("UPDATE delivery SET longer = longer + 1", DELIVERY),
    ("UPDATE delivery SET failed = -1", DELIVERY),
    ("UPDATE report SET message = 5", REPORT),
    ("UPDATE report SET connection = 9", REPORT),
    ("UPDATE report SET delivered = 2", REPORT),
    ("UPDATE message SET origin = NULL WHERE id IN (SELECT message FROM report)", REPORT),
    ("UPDATE report SET told = 9", TRUE_REPORT),
    ("UPDATE report SET told = 5", TRUE_REPORT),
    ("UPDATE report SET delivered = 0", TRUE_REPORT),
    ("UPDATE report SET message = (SELECT max(id) FROM message)", TRUE_REPORT),
    (
        "INSERT INTO report (connection, id, message, told, err, delivered, at)
             SELECT connection, id + 9, message, told, err, delivered, at FROM report WHERE told < 200",
        "no status is reported twice",
    ),
    ("UPDATE given_up SET message = 5", GIVEN_UP),
    ("UPDATE given_up SET account = 9", GIVEN_UP),
    ("UPDATE given_up SET given_up_at = at - 1", GIVEN_UP),
    ("UPDATE given_up SET id = (SELECT min(id) FROM report)", GIVEN_UP),
    ("UPDATE report SET inbound = 9 WHERE told = 200", BROUGHT),
    ("UPDATE report SET inbound = NULL WHERE told = 200", BROUGHT),
    ("UPDATE report SET account = 9 WHERE told = 200", BROUGHT),
    ("UPDATE inbound SET wire = NULL", BROUGHT),
    ("UPDATE inbound_group SET parts = 2", UNFINISHED),
    ("UPDATE inbound_group SET octets = 99", UNFINISHED),
    ("UPDATE inbound_part SET no = 9", UNFINISHED),
    ("DELETE FROM inbound_group", UNFINISHED),
    (
        "INSERT INTO unassigned_inbound SELECT message, 1, source, dest, text, x'', 0, 0 FROM inbound",
        "ids of inbound messages are unique",
    ),
    ("UPDATE alias SET account = 9", ALIAS),
    ("UPDATE alias SET alias = 7", ALIAS),
    ("UPDATE alias SET message = 7", ALIAS),
    ("INSERT INTO alias SELECT account, alias + 1, message FROM alias", ALIAS),
    ("DELETE FROM alias_counter", ALIAS),
    ("UPDATE webhook SET account = 9 WHERE kind = 1", HOOK),
    ("UPDATE webhook SET connection = 9 WHERE kind = 1", HOOK),
    ("UPDATE webhook SET form = 3 WHERE kind = 1", HOOK),
    ("UPDATE webhook SET told = NULL WHERE kind = 1", HOOK),
    ("UPDATE webhook_past SET inbound = NULL WHERE kind = 2", HOOK),
    ("UPDATE webhook_past SET inbound = inbound - 1 WHERE kind = 2", HOOK),
    ("UPDATE webhook SET told = 5 WHERE kind = 1", TRUE_HOOK),
    ("UPDATE webhook SET told = 4 WHERE kind = 1", TRUE_HOOK),
    (
        "INSERT INTO webhook_past SELECT account, kind, id - 1000, 1, at, 1, message, at, connection, told, err, form, inbound
         FROM webhook WHERE kind = 1",
        WEBHOOK_TWICE,
    ),
    (
        "INSERT INTO report (connection, id, message, told, err, delivered, at, hooked)
             SELECT connection, 999, message, told, err, 0, at, 0 FROM webhook WHERE kind = 1",
        WEBHOOK_OR_BIND,
    ),
    (
        "INSERT INTO webhook_past SELECT account, kind, id, 1, at, 1, message, at, connection, told, err, form, inbound
         FROM webhook",
        WEBHOOK_ENDS,
    ),
    ("UPDATE webhook_past SET state = 5", WEBHOOK_ENDS),
    ("UPDATE webhook_past SET attempts = 0", WEBHOOK_ENDS),
    ("UPDATE webhook SET failures = 2", WEBHOOK_ENDS),
    ("UPDATE webhook_counter SET last = 0", WEBHOOK_NUMBERS),
    ("UPDATE webhook SET id = (SELECT max(id) FROM webhook_past) WHERE kind = 1", WEBHOOK_NUMBERS),
    ("DELETE FROM webhook_past", ATTEMPTS),
    ("UPDATE webhook_attempt SET no = 2", ATTEMPTS),
    ("UPDATE webhook_attempt SET status = NULL", ATTEMPTS),
    ("UPDATE webhook_attempt SET failure = 'none'", ATTEMPTS),
    ("UPDATE webhook_attempt SET answer = {4097 bytes}", ATTEMPTS),
];

/// Returns a store with messages in these states: delivered with a key, refunded, submitted, queued.
async fn store_with_traffic() -> World {
    let mut world = World::new().await;
    world.send(world.sms()).await;
    world.now = world.now.plus(VALIDITY);
    world.sweep(world.now).await;
    add_smpp_messages(&world).await;
    let link = world.link_with_slots(3).await;
    world.send(Acceptance { key: Some(key(1)), ..world.sms() }).await;
    world.send(Acceptance { key: Some(key(2)), ..world.sms() }).await;
    world.send(world.sms()).await;
    let jobs = link.take_jobs(3).await;
    link.accept(&jobs[0], "a").await;
    link.receipt("a", DeliveryOutcome::Delivered).await;
    link.accept(&jobs[1], "b").await;
    link.receipt("unknown", DeliveryOutcome::Delivered).await;
    link.answer(&jobs[2], SubmitResponse::NoResponse).await;
    world.send(Acceptance { parts: 2, ..world.sms() }).await;
    add_entries_beside_messages(&world).await;
    add_webhook_events(&world).await;
    crate::mo::receive_one_for_bind_and_one_part(&world).await;
    world.restart().await;
    world.assert_audit_clean();
    world.store.close().await.expect("the store closes");
    world
}

/// Adds an invoice and its payment, an opt-out, three inbound messages and two review cases.
async fn add_entries_beside_messages(world: &World) {
    world.post(world.entry(ALICE, LedgerKind::Invoice, 1_000)).await;
    world.post(world.entry(ALICE, LedgerKind::Payment, 1_500)).await;
    world.post(world.entry(ALICE, LedgerKind::Adjustment, -500)).await;
    let to = world.sms().to;
    let opt_out = OptOut::by_keyword(BOB, to, world.now);
    world.store.opt_outs().add(opt_out).await.expect("an opt-out");
    for number in 0..3 {
        let inbound = Inbound {
            account: ALICE,
            from: to.to_string(),
            to: "12345".to_owned(),
            text: "hi".to_owned(),
            received_at: world.now,
        };
        world.store.inbound().receive(inbound).await.expect("an inbound message");
        let screened = Screened {
            account: ALICE,
            from: world.sms().from,
            to,
            text: "held".to_owned(),
            digest: [number; 16],
            rules: vec!["rule".to_owned()],
            now: world.now,
        };
        world.store.reviews().screen(screened).await.expect("a review case");
    }
    world
        .store
        .reviews()
        .decide(1, true, "olga".to_owned(), String::new(), world.now)
        .await
        .expect("a decision");
}

/// Adds a delivered message with a short name, and a message whose report was refused.
async fn add_smpp_messages(world: &World) {
    let link = world.link().await;
    let port = world.store.open_receiver(CONNECTION);
    let short = Origin { short_id: true, ..origin(1) };
    world.send_accepted_as(&link, Acceptance { origin: Some(Arc::new(short)), ..world.sms() }, "c").await;
    link.receipt("c", DeliveryOutcome::Delivered).await;
    world.take_reports(&port, 1).await;
    world.send_accepted_as(&link, world.smpp_message(1), "d").await;
    link.receipt("d", DeliveryOutcome::Delivered).await;
    let report = world.take_reports(&port, 1).await;
    world.settle(&port, &[report[0].id], ReportOutcome::Refused(8)).await;
    link.close().await.expect("it closes");
}

/// Adds an MO message whose webhook event was posted, and a delivery report whose event is still due.
async fn add_webhook_events(world: &World) {
    world.enable_webhooks();
    world.receive_inbound("hi").await;
    world.settle_as_delivered(&world.page(MESSAGES).await.events).await;
    world.send(Acceptance { validity: secs(1), ..world.sms() }).await;
    world.sweep(world.now.plus(secs(1))).await;
}

#[tokio::test]
async fn each_rule_reports_the_damage_that_violates_it() {
    let world = store_with_traffic().await;
    let remote = world.raw().tables_with("remote_").into_iter().rfind(|name| name.starts_with("remote_"));
    let remote = remote.expect("a table of a day");
    for (damage, rule) in CASES {
        let copy = tempfile::TempDir::new().unwrap();
        copy_database(world.path(), copy.path());
        let damage = damage.replace("{remote}", &remote).replace("{4097 bytes}", &blob(&[0; 4_097]));
        let changed = raw(copy.path()).change(&damage);
        assert!(changed > 0, "{damage}: changes nothing");
        let report = crate::world::audit(copy.path());
        let seen: Vec<_> = report.violations.iter().map(|violation| violation.rule).collect();
        assert!(seen.contains(rule), "{damage}: {seen:?}");
        assert!(!report.is_clean());
    }
}

#[tokio::test]
async fn corrupt_page_is_reported() {
    if on_postgres("pages of the embedded store") {
        return;
    }
    let world = store_with_traffic().await;
    let file = world.path().join("hermod.db");
    let mut bytes = std::fs::read(&file).unwrap();
    // Writes to the root page of the message table: its header then claims cells beyond the page.
    let page: u32 = world
        .sqlite()
        .query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'message'", [], |row| row.get(0))
        .unwrap();
    bytes[usize::try_from(page - 1).unwrap() * 4096 + 3] = 0xff;
    std::fs::write(&file, bytes).unwrap();
    match Store::audit(world.path()) {
        Ok(report) => assert!(!report.is_clean()),
        Err(fault) => assert!(fault.to_string().contains("malformed"), "{fault}"),
    }
}

#[tokio::test]
async fn long_list_of_violations_is_cut_and_counted() {
    let world = World::new().await;
    for _ in 0..30 {
        world.send(world.sms()).await;
    }
    world.store.close().await.unwrap();
    world.raw().change("DELETE FROM part");
    let report = crate::world::audit(world.path());
    assert_eq!(report.violations.len(), 21);
    assert_eq!(report.violations[20].detail, "and 10 more");
    assert_eq!((report.messages, report.accounts, report.open_parts), (30, 1, 0));
}

#[tokio::test]
async fn audit_beside_an_open_store_counts_all_rows() {
    let world = World::new().await;
    let link = world.link_with_slots(1).await;
    world.send(Acceptance { parts: 3, ..world.sms() }).await;
    link.take_job().await;
    let report = crate::world::audit(world.path());
    assert_eq!((report.messages, report.accounts, report.open_parts, report.resends), (1, 1, 3, 0));
    assert!(report.is_clean());
    world.send(world.sms()).await;
}

#[tokio::test]
async fn missing_step_counter_is_found_although_the_timeline_is_empty() {
    let world = World::new().await;
    world.store.close().await.unwrap();
    world.raw().change("DELETE FROM timeline; DELETE FROM step_counter");
    let rules: Vec<_> = crate::world::audit(world.path()).violations.iter().map(|found| found.rule).collect();
    assert_eq!(rules, ["step ids are reserved before they are used"]);
}
