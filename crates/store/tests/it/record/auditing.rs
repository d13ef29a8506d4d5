//! The audit compares the record with the store.

use super::{agrees, record_of};
use crate::world::*;
use hermod_domain::lifecycle::DeliveryOutcome;
use hermod_store::RecordAudit;

/// Sends three messages: one is delivered, one is rejected, one waits. Returns the closed store.
async fn closed_world() -> World {
    let world = World::with_record().await;
    let link = world.link_with_slots(2).await;
    for _ in 0..3 {
        world.send(world.sms()).await;
    }
    let jobs = link.take_jobs(2).await;
    link.accept(&jobs[0], "id-1").await;
    link.receipt("id-1", DeliveryOutcome::Delivered).await;
    link.answer(&jobs[1], refused(0x0b)).await;
    world.flush().await;
    agrees(&world).await;
    world.store.close().await.expect("the store closes");
    world
}

fn audit(world: &World) -> (RecordAudit, Vec<String>) {
    let report = crate::world::audit(world.path());
    (report.record, report.violations.iter().map(|violation| violation.detail.clone()).collect())
}

#[tokio::test]
async fn record_of_a_closed_store_is_compared_and_agrees() {
    if on_postgres("the audit of a server does not compare the record") {
        return;
    }
    let world = closed_world().await;
    assert_eq!(audit(&world), (RecordAudit::Compared { messages: 3 }, Vec::new()));
}

#[tokio::test]
async fn changed_rows_and_sums_are_found() {
    if on_postgres("the audit of a server does not compare the record") {
        return;
    }
    for (change, expect) in [
        ("UPDATE message SET state = 5 WHERE state = 3", "differs"),
        ("UPDATE message SET cost = cost + 1 WHERE state = 0", "differs"),
        ("UPDATE message SET refund = 1 WHERE state = 3", "differs"),
        (
            "UPDATE message SET cost_terms = cost_terms + 1 WHERE state = 0",
            "differs in the cost of its carrier",
        ),
        ("UPDATE message SET billable = 2 WHERE state = 3", "differs in what its carrier can bill"),
        ("UPDATE message SET billable = 2 WHERE state = 3", "0.116 EUR due"),
        ("DELETE FROM message WHERE state = 0", "is missing in the record"),
        ("DELETE FROM by_account", "is missing in the list of its account"),
        ("DELETE FROM tail", "no statistics"),
        ("INSERT INTO tail (counts) SELECT counts FROM tail", "account 1, day"),
    ] {
        let world = closed_world().await;
        record_of(&world).execute(change, []).expect("a change");
        let (record, violations) = audit(&world);
        assert_eq!(
            std::mem::discriminant(&record),
            std::mem::discriminant(&RecordAudit::Compared { messages: 0 })
        );
        assert!(violations.iter().any(|violation| violation.contains(expect)), "{change}: {violations:#?}");
    }
}

#[tokio::test]
async fn record_that_is_behind_or_of_another_release_is_no_violation() {
    if on_postgres("the audit of a server does not compare the record") {
        return;
    }
    let world = closed_world().await;
    let record = record_of(&world);
    record.execute("UPDATE position SET sequence = sequence - 2", []).expect("a change");
    record.execute("DELETE FROM message WHERE settled_ms IS NULL", []).expect("a change");
    record.execute("UPDATE message SET settled_ms = NULL", []).expect("a change");
    assert_eq!(audit(&world), (RecordAudit::Behind { missing: 1, outdated: 2 }, Vec::new()));
    // All batches, and some messages not read yet.
    let behind = "UPDATE position SET sequence = sequence + 2, walk_next = 1";
    record.execute(behind, []).expect("a change");
    assert_eq!(audit(&world), (RecordAudit::Behind { missing: 1, outdated: 2 }, Vec::new()));
    record_of(&world).pragma_update(None, "user_version", 99).expect("a change");
    assert_eq!(audit(&world), (RecordAudit::Unusable, Vec::new()));
}

#[tokio::test]
async fn damaged_record_is_a_violation_and_the_store_is_audited_nevertheless() {
    if on_postgres("the audit of a server does not compare the record") {
        return;
    }
    let world = closed_world().await;
    std::fs::write(world.path().join("record.db"), [7; 8192]).expect("a file");
    let (record, violations) = audit(&world);
    assert_eq!((record, violations.len()), (RecordAudit::Unusable, 1), "{violations:?}");
}

#[tokio::test]
async fn record_agrees_after_a_kill_also_in_its_sums() {
    let mut world = World::with_record().await;
    let link = world.link_with_slots(5).await;
    for number in 0..5 {
        world.send(world.sms()).await;
        let job = link.take_job().await;
        let id = format!("id-{number}");
        link.accept(&job, &id).await;
        if number == 2 {
            world.flush().await;
            agrees(&world).await;
        }
        link.receipt(&id, DeliveryOutcome::Delivered).await;
    }
    world.flush().await;
    world.kill();
    agrees(&world).await;
    if on_postgres("the audit of a server does not compare the record") {
        return;
    }
    world.store.close().await.expect("the store closes");
    assert_eq!(audit(&world), (RecordAudit::Compared { messages: 5 }, Vec::new()));
}
