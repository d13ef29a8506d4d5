//! Retention: texts are deleted first, then message records with their charges rolled up, and inbound messages.

mod random_history;

use crate::reports::{CONNECTION, origin};
use crate::world::*;
use hermod_domain::ids::MessageId;
use hermod_domain::lifecycle::{DeliveryOutcome, MessageState};
use hermod_domain::origin::{MessageName, Origin};
use hermod_domain::text::SmsOptions;
use hermod_domain::time::Day;
use hermod_store::{
    Acceptance, CustomerTlvs, Inbound, LedgerKind, PURGED_PER_STEP_MAX, Purged, Retention, StatementLine,
};
use std::sync::Arc;
use std::time::Duration;

const DAY: Duration = Duration::from_secs(86_400);
pub(crate) const KEEP: Retention = Retention {
    text: Duration::from_secs(30 * 86_400),
    messages: Duration::from_secs(400 * 86_400),
    idempotency_keys: Duration::from_secs(400 * 86_400),
    inbound: Duration::from_secs(30 * 86_400),
    requests: Duration::from_secs(7 * 86_400),
};

impl World {
    /// Purges until nothing is left to delete. The audit must pass after each step.
    pub(crate) async fn purge_all(&self) -> Purged {
        let mut all = Purged::default();
        loop {
            let step = self.store.purge(KEEP, self.now).await.expect("the store purges");
            self.assert_audit_clean();
            if step.is_nothing() {
                return all;
            }
            all.texts += step.texts;
            all.keys += step.keys;
            all.messages += step.messages;
            all.inbound += step.inbound;
        }
    }

    /// Advances the clock by `days` with the daily work of each.
    pub(crate) async fn pass_days(&mut self, days: u32) {
        let mut left = days;
        while left > 0 {
            let some = left.min(5);
            left -= some;
            self.advance(some * DAY).await;
            self.sweep(self.now).await;
            self.store.delete_expired(self.now).await.expect("the daily work");
        }
    }

    fn count(&self, query: &str) -> i64 {
        self.raw().number(query)
    }
}

/// Returns a message whose text is stored in every place that can hold it.
fn message_with_text_everywhere(world: &World) -> Acceptance {
    let options = Arc::new(SmsOptions { header: [5, 0, 3, 9, 2, 1].into(), ..SmsOptions::default() });
    Acceptance {
        tlvs: Some(CustomerTlvs([0x14, 0x00, 0, 1, 65][..].into())),
        options: Some(options),
        origin: Some(Arc::new(Origin { short_id: true, ..origin(1) })),
        ..world.sms()
    }
}

#[tokio::test]
async fn text_is_deleted_after_its_retention_and_its_record_is_kept() {
    let mut world = World::new().await;
    let link = world.link_with_slots(1).await;
    let message = world.send(message_with_text_everywhere(&world)).await;
    link.accept(&link.take_job().await, "id").await;
    link.receipt("id", DeliveryOutcome::Delivered).await;
    world.pass_days(29).await;
    assert_eq!(world.purge_all().await, Purged::default());
    let young = world.send(world.sms()).await;
    world.pass_days(1).await;
    assert_eq!(world.purge_all().await, Purged::default(), "to the day");
    world.advance(secs(1)).await;
    assert_eq!(world.purge_all().await, Purged { texts: 1, ..Purged::default() });
    let left = "SELECT count(*) FROM message_with_text WHERE text IS NOT NULL OR tlvs IS NOT NULL OR shape IS NOT NULL";
    assert_eq!(world.count(left), 1, "the newer message keeps its text");
    let origins = world.raw().blobs("SELECT origin FROM message WHERE origin IS NOT NULL").concat();
    assert!(!origins.is_empty() && !origins.windows(5).any(|found| found == b"hello"));
    assert_eq!(world.state(message).await, MessageState::Delivered);
    assert_eq!(world.state(young).await, MessageState::Queued);
    world.restart().await;
    assert_eq!(world.purge_all().await, Purged::default(), "a second purge does nothing");
}

#[tokio::test]
async fn unfinished_message_keeps_its_text_until_it_ends() {
    let mut world = World::new().await;
    world.send(world.sms()).await;
    let later = world.send(world.sms()).await;
    world.advance(500 * DAY).await;
    assert_eq!(world.purge_all().await, Purged::default(), "no sweep has expired the messages");
    world.sweep(world.now).await;
    assert_eq!(
        world.purge_all().await,
        Purged { texts: 2, ..Purged::default() },
        "their records are kept because they have just ended"
    );
    world.pass_days(41).await;
    assert_eq!(world.purge_all().await, Purged { messages: 2, ..Purged::default() });
    assert!(world.store.messages().find(ALICE, later).await.unwrap().is_none());
    assert_eq!(world.balance(ALICE).await, 1_000_000_000, "both were refunded");
}

/// (table, rows left once all records but that of a queued message are deleted)
const LEFT_BESIDE_A_YOUNG_MESSAGE: [(&str, i64); 6] =
    [("part", 1), ("timeline", 0), ("message_exception", 0), ("alias", 0), ("message", 1), ("key_bucket", 0)];

#[tokio::test]
async fn record_is_deleted_with_its_rows_and_its_charge_is_rolled_up() {
    let mut world = World::new().await;
    let link = world.link_with_slots(3).await;
    let delivered =
        world.send(Acceptance { key: Some(key(1)), ..message_with_text_everywhere(&world) }).await;
    let unknown = world.send(message_with_text_everywhere(&world)).await;
    let doubted = world.send(world.sms()).await;
    let jobs = link.take_jobs(3).await;
    link.accept(&jobs[0], "a").await;
    link.accept(&jobs[1], "b").await;
    link.answer(&jobs[2], hermod_store::SubmitResponse::NoResponse).await;
    link.receipt("a", DeliveryOutcome::Delivered).await;
    link.close().await.unwrap();
    let expired = world.send(world.sms()).await;
    let balance = world.balance(ALICE).await;
    let (first, last) = (noon().day(), Day::new(noon().day().get() + 10));
    world.pass_days(10).await;
    let before = world.store.money().statement(ALICE, first, last).await.unwrap();
    assert_eq!(
        world.balance(ALICE).await,
        balance + PRICE,
        "the message that expired in the queue was refunded"
    );
    world.pass_days(391).await;
    // A newer message, which is kept.
    let young = world.send(Acceptance { key: Some(key(2)), ..world.sms() }).await;
    let balance = world.balance(ALICE).await;
    let purged = world.purge_all().await;
    assert_eq!((purged.texts, purged.messages, purged.keys), (4, 4, 1));
    for gone in [delivered, unknown, doubted, expired] {
        assert!(world.store.messages().find(ALICE, gone).await.unwrap().is_none());
        assert_eq!(world.store.messages().find_named(ALICE, MessageName::Id(gone)).await.unwrap(), None);
    }
    assert_eq!(world.state(young).await, MessageState::Queued);
    assert_eq!(world.balance(ALICE).await, balance);
    for (table, rows) in LEFT_BESIDE_A_YOUNG_MESSAGE {
        assert_eq!(world.count(&format!("SELECT count(*) FROM {table}")), rows, "{table}");
    }
    assert_eq!(world.count("SELECT count(*) FROM ledger WHERE kind = 2"), 0);
    let ledger = world.store.money().ledger(ALICE, None, 10).await.unwrap();
    let kinds: Vec<_> = ledger.iter().map(|row| (row.kind, row.balance.as_micros())).collect();
    assert_eq!(
        kinds,
        [
            (LedgerKind::RolledUpRefunds, PRICE),
            (LedgerKind::RolledUpCosts, -4 * PRICE),
            (LedgerKind::TopUp, 1_000_000_000)
        ]
    );
    // The statement of those days is the same, with the refunds of a day in one line.
    let after = world.store.money().statement(ALICE, first, last).await.unwrap();
    assert_eq!((after.opening, after.closing), (before.opening, before.closing));
    assert_eq!(after.lines.len(), before.lines.len());
    let charges = |line: &StatementLine| matches!(line, StatementLine::Charges(_));
    assert_eq!(
        after.lines.iter().filter(|line| charges(line)).collect::<Vec<_>>(),
        before.lines.iter().filter(|line| charges(line)).collect::<Vec<_>>()
    );
    // The key of a deleted message is free again; the key of a newer one is not.
    assert_eq!(world.store.find_key(key(1)).await.unwrap(), None);
    assert_eq!(world.store.find_key(key(2)).await.unwrap().map(|replay| replay.message), Some(young));
    world.send(Acceptance { key: Some(key(1)), ..world.sms() }).await;
    let report = crate::world::audit(world.path());
    assert_eq!(report.purged_before.map(|before| before.day()), Some(first));
    // A late receipt of a deleted message matches no part.
    let link = world.link().await;
    link.receipt("b", DeliveryOutcome::Delivered).await;
    world.flush().await;
    world.assert_audit_clean();
}

#[tokio::test]
async fn many_records_are_deleted_in_steps_and_a_kill_between_steps_loses_no_money() {
    let mut world = World::new().await;
    let count = 2 * u64::from(PURGED_PER_STEP_MAX) + 7;
    for number in 0..count {
        world.send(Acceptance { key: Some(key(number)), ..world.sms() }).await;
    }
    world.pass_days(402).await;
    let balance = world.balance(ALICE).await;
    let mut all = Purged::default();
    loop {
        let step = world.store.purge(KEEP, world.now).await.unwrap();
        let most = [step.texts, step.keys, step.messages].into_iter().max().unwrap_or(0);
        assert!(most <= u64::from(PURGED_PER_STEP_MAX), "{step:?}");
        all.texts += step.texts;
        all.messages += step.messages;
        world.kill();
        world.assert_audit_clean();
        if step.is_nothing() {
            break;
        }
    }
    assert_eq!((all.texts, all.messages), (count, count));
    assert_eq!((world.count("SELECT count(*) FROM message"), world.balance(ALICE).await), (0, balance));
    // New ids are above the deleted ones, also with the clock set back.
    let highest = crate::world::audit(world.path()).purged_before.unwrap();
    world.now = noon();
    world.restart().await;
    let next = world.send(world.sms()).await;
    assert!(next >= MessageId::first_at(highest), "{next}");
    world.assert_audit_clean();
}

#[tokio::test]
async fn oldest_inbound_messages_are_deleted_and_the_numbers_continue() {
    let mut world = World::new().await;
    let receive_inbound = async |world: &World, account, count: u32| {
        for _ in 0..count {
            let inbound = Inbound {
                account,
                from: "+4915112345678".to_owned(),
                to: "12345".to_owned(),
                text: "hello".to_owned(),
                received_at: world.now,
            };
            world.store.inbound().receive(inbound).await.unwrap();
        }
    };
    receive_inbound(&world, ALICE, PURGED_PER_STEP_MAX + 3).await;
    receive_inbound(&world, BOB, 2).await;
    world.pass_days(20).await;
    receive_inbound(&world, ALICE, 2).await;
    world.pass_days(10).await;
    assert_eq!(world.purge_all().await, Purged::default(), "to the day");
    world.advance(secs(1)).await;
    let first = world.store.purge(KEEP, world.now).await.unwrap();
    assert_eq!(first, Purged { inbound: PURGED_PER_STEP_MAX.into(), ..Purged::default() });
    world.kill();
    assert_eq!(world.purge_all().await.inbound, 5);
    let left: Vec<_> =
        world.store.inbound().list(ALICE, 0, 10).await.unwrap().iter().map(|row| row.id).collect();
    assert_eq!(left, [254, 255]);
    world.pass_days(21).await;
    assert_eq!(world.purge_all().await.inbound, 2);
    receive_inbound(&world, ALICE, 1).await;
    assert_eq!(world.store.inbound().list(ALICE, 0, 10).await.unwrap()[0].id, 256);
    assert_eq!(world.store.inbound().list(BOB, 0, 10).await.unwrap(), []);
    world.assert_audit_clean();
}

/// (damage of a row, whether its text is still deleted, whether its record is)
const DAMAGE: [(&str, bool, bool); 6] = [
    ("UPDATE message SET origin = x'ff' WHERE id = ?1", true, true),
    ("UPDATE message SET carrier = -1 WHERE id = ?1", true, false),
    ("UPDATE message SET account = -1 WHERE id = ?1", true, false),
    ("UPDATE message SET cost = -9223372036854775808 WHERE id = ?1", true, false),
    ("UPDATE part SET state = 99 WHERE message = ?1", true, false),
    ("UPDATE part SET doubts = 999 WHERE message = ?1", true, false),
];

#[tokio::test]
async fn invalid_row_is_set_aside_and_does_not_stop_purging() {
    for (damage, text_goes, record_goes) in DAMAGE {
        let mut world = World::new().await;
        let link = world.link_with_slots(10).await;
        let mut messages = Vec::new();
        for _ in 0..5 {
            messages.push(world.send(message_with_text_everywhere(&world)).await);
        }
        for (number, job) in link.take_jobs(5).await.iter().enumerate() {
            link.accept(job, &number.to_string()).await;
        }
        world.flush().await;
        link.close().await.unwrap();
        let bad = messages[2];
        // The gateway was down for long: the row was not read since.
        world.now = world.now.plus(31 * DAY);
        let raw = world.raw();
        assert_eq!(raw.change_with(damage, &[bad.as_i64()]), 1, "{damage}");
        let purged = async |world: &World| {
            let mut all = Purged::default();
            loop {
                let step = world.store.purge(KEEP, world.now).await.expect("the store purges");
                if step.is_nothing() {
                    return all;
                }
                (all.texts, all.messages) = (all.texts + step.texts, all.messages + step.messages);
            }
        };
        assert_eq!(purged(&world).await.texts, 5, "{damage}");
        let texts = "SELECT count(*) FROM message_with_text WHERE text IS NOT NULL OR tlvs IS NOT NULL OR shape IS NOT NULL";
        assert_eq!(world.count(texts), i64::from(!text_goes), "{damage}");
        world.sweep(world.now).await;
        world.now = world.now.plus(400 * DAY);
        assert_eq!(purged(&world).await.messages, 5, "{damage}");
        let left: Vec<i64> = if record_goes { Vec::new() } else { vec![bad.as_i64()] };
        assert_eq!(raw.numbers("SELECT id FROM message"), left, "{damage}");
        let aside = "SELECT count(DISTINCT message) FROM set_aside";
        assert_eq!(world.count(aside), i64::from(!record_goes), "{damage}");
        // The next message is deleted too.
        world.send(world.sms()).await;
        world.pass_days(450).await;
        assert_eq!(purged(&world).await.messages, 1, "{damage}");
    }
}

#[tokio::test]
async fn given_up_report_is_deleted_before_its_message() {
    let mut world = World::new().await;
    world.send(world.smpp_message(1)).await;
    world.pass_days(4).await;
    world.pass_days(4).await;
    assert_eq!(world.store.reports().given_up(Some(ALICE), None, 10).await.unwrap().len(), 1);
    world.pass_days(394).await;
    world.purge_all().await;
    let port = world.store.open_receiver(CONNECTION);
    world.assert_no_reports(&port).await;
    world.assert_audit_clean();
}

/// Returns SQL that stores a text that was purged.
fn text_of_a_purged_message() -> &'static str {
    match on_postgres("texts in the rows of messages") {
        true => {
            "INSERT INTO message_text (id, text)
                 SELECT min(id) - ((86400000 * CAST(5 AS bigint)) << 18), 'back' FROM message"
        }
        false => "UPDATE message SET text = 'back' WHERE text IS NULL",
    }
}

#[tokio::test]
async fn audit_reports_wrong_purges() {
    for (damage, rule) in [
        ("UPDATE ledger SET balance = balance + 1 WHERE kind = 6", "balance = ledger - costs"),
        ("UPDATE ledger SET at = at + 1 WHERE kind = 6", "a ledger entry's amounts fit its kind"),
        (
            "UPDATE ledger SET at = at + 86400000 WHERE kind = 6",
            "a day's spend = its messages' costs, kept or rolled up",
        ),
        (
            "UPDATE retention SET upto = (SELECT max(id) + 1 FROM message) WHERE what = 2",
            "purged messages and texts are deleted",
        ),
        (text_of_a_purged_message(), "purged messages and texts are deleted"),
        (
            "INSERT INTO ledger (id, account, at, kind, balance, credit_used, note)
                 SELECT max(id) + 1, 1, 0, 7, 999000000, 0, '' FROM ledger",
            "no more was refunded than was charged",
        ),
        (
            "UPDATE daily SET messages = 9 WHERE day = (SELECT max(day) FROM daily)",
            "a day's count = its messages, unless some are purged",
        ),
    ] {
        let mut world = World::new().await;
        let link = world.link_with_slots(1).await;
        world.send(world.sms()).await;
        link.accept(&link.take_job().await, "id").await;
        link.receipt("id", DeliveryOutcome::Delivered).await;
        world.pass_days(350).await;
        world.send(world.sms()).await;
        world.pass_days(51).await;
        world.send(world.sms()).await;
        world.purge_all().await;
        world.raw().change(damage);
        let report = crate::world::audit(world.path());
        assert!(
            report.violations.iter().any(|found| found.rule == rule),
            "{damage}: {:?}",
            report.violations
        );
    }
}
