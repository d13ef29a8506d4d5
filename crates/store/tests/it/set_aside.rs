//! Invalid rows are set aside, listed and reported by the audit, and hold up no other message.

use crate::reports::origin;
use crate::retention::KEEP;
use crate::world::*;
use hermod_domain::ids::MessageId;
use hermod_domain::lifecycle::MessageState;
use hermod_store::{Acceptance, SetAside, SetAsideCount, SubmitResponse};
use std::sync::Arc;

/// (SQL that damages the rows of a message, text of the reason)
const DAMAGE: &[(&str, &str)] = &[
    ("UPDATE part SET state = 99 WHERE message = ?1", "99 is not a known state"),
    ("UPDATE part SET state = -1 WHERE message = ?1", "-1 is not a known state"),
    ("UPDATE part SET no = 0 WHERE message = ?1", "part 0: part number 0"),
    ("UPDATE part SET no = 256 WHERE message = ?1", "out of range"),
    ("UPDATE part SET doubts = 256 WHERE message = ?1", "out of range"),
    ("UPDATE part SET resend = -1 WHERE message = ?1", "out of range"),
    ("UPDATE part SET attempts = -1 WHERE message = ?1", "out of range"),
    ("UPDATE part SET carrier = -1 WHERE message = ?1", "out of range"),
    ("UPDATE part SET account = 4294967296 WHERE message = ?1", "out of range"),
    ("UPDATE message SET source = '?' WHERE id = ?1", "a name consists of"),
    ("UPDATE message SET dest = 5 WHERE id = ?1", "a recipient"),
    ("UPDATE message SET encoding = 9 WHERE id = ?1", "9 is not an encoding"),
    ("UPDATE message_text SET text = '' WHERE id = ?1", "the text is empty"),
    ("UPDATE message SET parts = 300 WHERE id = ?1", "out of range"),
    ("UPDATE message_text SET shape = x'ff' WHERE id = ?1", ""),
    ("UPDATE message SET id = id + 1000000 WHERE id = ?1", "its message has no row"),
];

/// Returns [`DAMAGE`] and a text that is not UTF-8, which PostgreSQL has only in a column of bytes.
fn all_damage() -> Vec<(&'static str, &'static str)> {
    let not_utf8 = match on_postgres("a source that is not UTF-8") {
        true => "UPDATE message_text SET text = x'ff' WHERE id = ?1",
        false => "UPDATE message SET source = CAST(x'ff' AS TEXT) WHERE id = ?1",
    };
    [DAMAGE, &[(not_utf8, "invalid utf-8")]].concat()
}

fn damage(world: &World, message: MessageId, sql: &str) {
    assert_eq!(world.raw().change_with(sql, &[message.as_i64()]), 1, "{sql}");
}

async fn listed(world: &World) -> Vec<SetAside> {
    world.store.rows_set_aside().list(None, 100).await.expect("a list")
}

fn audit_reports(world: &World, message: MessageId, reason: &str) -> bool {
    let found = crate::world::audit(world.path()).violations;
    let name = format!("message {}", message.as_i64());
    found.iter().any(|violation| violation.detail.contains(&name) && violation.detail.contains(reason))
}

/// Asserts that only this message is set aside, for this reason.
async fn assert_set_aside(world: &World, message: MessageId, reason: &str) {
    let listed = listed(world).await;
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!(listed[0].message, message.as_i64());
    assert!(listed[0].reason.contains(reason), "{:?}", listed[0]);
    assert!(audit_reports(world, message, reason), "{:?}", crate::world::audit(world.path()).violations);
    let parts = format!("SELECT count(*) FROM part WHERE message = {}", message.as_i64());
    assert_eq!(world.raw().number(&parts), 0, "its parts are not in the queue");
}

#[tokio::test]
async fn invalid_queued_row_is_set_aside_and_the_others_are_sent() {
    for (sql, reason) in all_damage() {
        let mut world = World::new().await;
        world.pay_in(BOB, 1_000_000).await;
        let first = world.send(world.sms()).await;
        let damaged = world.send(world.sms()).await;
        let third = world.send(world.sms()).await;
        let bobs = world.send(Acceptance { account: BOB, ..world.sms() }).await;
        world.store.close().await.unwrap();
        damage(&world, damaged, sql);
        assert!(audit_reports(&world, damaged, reason), "the audit finds it before the start: {sql}");

        world.reopen();
        let link = world.link_with_slots(10).await;
        let mut sent: Vec<_> = link.take_jobs(3).await.iter().map(|job| job.message).collect();
        sent.sort();
        assert_eq!(sent, [first, third, bobs], "{sql}");
        assert_set_aside(&world, damaged, reason).await;
        let next = world.send(world.sms()).await;
        assert_eq!(link.take_job().await.message, next);
        world.restart().await;
        assert_set_aside(&world, damaged, reason).await;
        assert_eq!(world.store.rows_set_aside().count().await.unwrap().rows, 1, "once only");
    }
}

#[tokio::test]
async fn invalid_deferred_row_is_set_aside_and_the_others_are_sent() {
    for (sql, reason) in all_damage() {
        let mut world = World::new().await;
        let link = world.link_with_slots(3).await;
        let mut messages = Vec::new();
        for _ in 0..3 {
            messages.push(world.send(world.sms()).await);
        }
        for job in link.take_jobs(3).await {
            link.answer(&job, SubmitResponse::Temporary { status: 0x14, after: Some(secs(60)) }).await;
        }
        world.flush().await;
        world.store.close().await.unwrap();
        damage(&world, messages[1], sql);

        world.reopen();
        world.advance(secs(61)).await;
        let link = world.link_with_slots(10).await;
        let sent: Vec<_> = link.take_jobs(2).await.iter().map(|job| job.message).collect();
        assert_eq!(sent, [messages[0], messages[2]], "{sql}");
        assert_set_aside(&world, messages[1], reason).await;
    }
}

#[tokio::test]
async fn invalid_sending_row_is_set_aside_at_the_start_and_the_others_are_in_doubt() {
    let before_sending =
        ["source", "encoding", "text", "parts", "shape"].map(|column| format!("SET {column} "));
    for (sql, reason) in all_damage() {
        let mut world = World::new().await;
        let link = world.link_with_slots(3).await;
        let mut messages = Vec::new();
        for _ in 0..3 {
            messages.push(world.send(world.sms()).await);
        }
        link.take_jobs(3).await;
        world.store.close().await.unwrap();
        damage(&world, messages[1], sql);

        world.reopen();
        let found_later = before_sending.iter().any(|column| sql.contains(column.as_str()));
        if !found_later {
            assert_set_aside(&world, messages[1], reason).await;
        }
        assert_eq!(world.timeline(messages[0]), ["in_doubt"], "{sql}");
        world.advance(IN_DOUBT_WAIT).await;
        let link = world.link_with_slots(10).await;
        let sent: Vec<_> = link.take_jobs(2).await.iter().map(|job| job.message).collect();
        assert_eq!(sent, [messages[0], messages[2]], "{sql}");
        assert_set_aside(&world, messages[1], reason).await;
    }
}

#[tokio::test]
async fn long_message_with_a_damaged_part_is_set_aside_whole_and_kept() {
    let mut world = World::new().await;
    let long = world.send(Acceptance { parts: 3, ..world.sms() }).await;
    let other = world.send(world.sms()).await;
    world.store.close().await.unwrap();
    damage(&world, long, "UPDATE part SET state = 99 WHERE message = ?1 AND no = 2");
    world.reopen();
    let link = world.link_with_slots(10).await;
    assert_eq!(link.take_job().await.message, other);
    let listed = listed(&world).await;
    let parts: Vec<_> = listed.iter().map(|row| row.part.map(|part| (part.no, part.state))).collect();
    assert_eq!(parts, [Some((1, 0)), Some((2, 99)), Some((3, 0))]);
    assert!(listed.iter().all(|row| row.reason == "part 2: 99 is not a known state"), "{listed:?}");
    assert_eq!(listed[0].at, world.now);
    assert_eq!(world.state(long).await, MessageState::Queued, "the message is kept");
    let count = SetAsideCount { rows: 3, last_at: Some(world.now) };
    assert_eq!(world.store.rows_set_aside().count().await.unwrap(), count);
    let rest = world.store.rows_set_aside().list(Some(listed[0].id), 1).await.unwrap();
    assert_eq!(rest, [listed[1].clone()]);
}

#[tokio::test]
async fn row_repaired_by_hand_is_sent() {
    let mut world = World::new().await;
    let message = world.send(world.sms()).await;
    world.store.close().await.unwrap();
    damage(&world, message, "UPDATE part SET state = 99 WHERE message = ?1");
    world.reopen();
    assert_set_aside(&world, message, "99 is not").await;
    world.store.close().await.unwrap();
    world.raw().change(
        "BEGIN;
         UPDATE set_aside SET state = 0;
         INSERT INTO part SELECT carrier, account, message, no, state, doubts, resend, attempts, due_at, expires_at
             FROM set_aside WHERE no IS NOT NULL;
         DELETE FROM set_aside;
         COMMIT;",
    );
    world.reopen();
    world.assert_audit_clean();
    assert_eq!(world.link_with_slots(1).await.take_job().await.message, message);
}

#[tokio::test]
async fn rows_damaged_while_the_store_is_open_hold_up_neither_answers_nor_the_sweep() {
    let mut world = World::new().await;
    let link = world.link_with_slots(2).await;
    let (first, second) = (world.send(world.sms()).await, world.send(world.sms()).await);
    let third = world.send(world.sms()).await;
    let fourth = world.send(world.sms()).await;
    let jobs = link.take_jobs(2).await;
    damage(&world, first, "UPDATE part SET doubts = 999 WHERE message = ?1");
    link.answer(&jobs[0], SubmitResponse::NoResponse).await;
    link.accept(&jobs[1], "id").await;
    world.flush().await;
    assert_set_aside(&world, first, "out of range").await;
    assert_eq!(world.state(second).await, MessageState::Submitted);

    damage(&world, third, "UPDATE part SET state = 99 WHERE message = ?1");
    world.now = world.now.plus(VALIDITY);
    assert_eq!(world.sweep(world.now).await, 1);
    assert_eq!(world.state(fourth).await, MessageState::Expired);
    let messages: Vec<_> = listed(&world).await.iter().map(|row| row.message).collect();
    assert_eq!(messages, [first.as_i64(), third.as_i64()]);
}

#[tokio::test]
async fn message_whose_refund_is_too_large_is_set_aside_and_the_others_are_refunded() {
    let mut world = World::new().await;
    let damaged = world.send(world.sms()).await;
    let other = world.send(world.sms()).await;
    let sql = format!("UPDATE message SET cost = {} WHERE id = ?1", i64::MAX);
    damage(&world, damaged, &sql);
    world.now = world.now.plus(VALIDITY);
    assert_eq!(world.sweep(world.now).await, 2, "found");
    assert_eq!(world.state(other).await, MessageState::Expired);
    assert_eq!(world.balance(ALICE).await, 1_000_000_000 - PRICE, "the other message is refunded");
    let listed = listed(&world).await;
    assert_eq!(listed.iter().map(|row| row.message).collect::<Vec<_>>(), [damaged.as_i64()]);
    assert!(listed[0].reason.contains("its refund is too large"), "{:?}", listed[0]);
    let link = world.link_with_slots(1).await;
    let next = world.send(world.sms()).await;
    assert_eq!(link.take_job().await.message, next, "the link gets the next message");
}

#[tokio::test]
async fn message_whose_refund_is_too_large_is_not_purged_while_set_aside() {
    let mut world = World::new().await;
    let damaged = world.send(world.sms()).await;
    damage(&world, damaged, &format!("UPDATE message SET cost = {} WHERE id = ?1", i64::MAX));
    world.now = world.now.plus(VALIDITY);
    assert_eq!(world.sweep(world.now).await, 1, "found");
    let other = world.send(world.sms()).await;
    world.pass_days(450).await;
    while !world.store.purge(KEEP, world.now).await.unwrap().is_nothing() {}
    assert!(world.store.messages().find(ALICE, other).await.unwrap().is_none(), "others are purged");
    assert!(world.store.messages().find(ALICE, damaged).await.unwrap().is_some());
    assert_eq!(listed(&world).await.iter().map(|row| row.message).collect::<Vec<_>>(), [damaged.as_i64()]);
    world.store.close().await.unwrap();
    let found = crate::world::audit(world.path()).violations;
    let has = |rule: &str| found.iter().any(|violation| violation.rule == rule);
    assert!(has("no row is set aside") && !has("purged messages and texts are deleted"), "{found:?}");
    // The operator gives it up, as docs/alarms.md says.
    let least = if on_postgres("a function min of two values") { "least" } else { "min" };
    let gives_up =
        format!("DELETE FROM set_aside; UPDATE retention SET upto = {least}(upto, ?1) WHERE what = 2");
    world.raw().change_with(&gives_up, &[damaged.as_i64()]);
    world.reopen();
    while !world.store.purge(KEEP, world.now).await.unwrap().is_nothing() {}
    assert!(world.store.messages().find(ALICE, damaged).await.unwrap().is_none(), "then it is purged");
}

#[tokio::test]
async fn message_with_an_invalid_origin_ends_and_is_listed() {
    let mut world = World::new().await;
    let message = world.send(Acceptance { origin: Some(Arc::new(origin(1))), ..world.sms() }).await;
    let other = world.send(world.sms()).await;
    world.restart().await;
    damage(&world, message, "UPDATE message SET origin = x'ff' WHERE id = ?1");
    world.now = world.now.plus(VALIDITY);
    assert_eq!(world.sweep(world.now).await, 2);
    assert_eq!(world.state(message).await, MessageState::Expired);
    assert_eq!(world.state(other).await, MessageState::Expired);
    let listed = listed(&world).await;
    assert_eq!(
        listed.iter().map(|row| (row.message, row.part)).collect::<Vec<_>>(),
        [(message.as_i64(), None)]
    );
}
