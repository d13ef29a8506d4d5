//! Somebody who can write to the database but does not have the pepper cannot change the audit log unnoticed.

use crate::world::*;
use hermod_domain::audit::{AuditEntry, AuditKey};
use hermod_store::{AUDIT_HEAD_FILE, AuditProof, AuditReport, LedgerKind, PostOutcome, Store};
use std::path::Path;
use tempfile::TempDir;

const KEY: AuditKey = AuditKey([7; 32]);
const LOG: &str = "the audit log is complete and unchanged";
const MONEY: &str = "every change of money by a person is in the audit log";

fn entry(number: u64) -> AuditEntry {
    AuditEntry {
        at: noon(),
        account: Some(ALICE),
        by: "operator".to_owned(),
        from: String::new(),
        action: "ledger.topup".to_owned(),
        subject: number.to_string(),
        detail: "{}".to_owned(),
    }
}

/// Writes rows to the log. Every third is a top-up.
async fn write_rows(world: &World, numbers: std::ops::RangeInclusive<u64>) {
    for number in numbers {
        let audited = world.store.audited(vec![entry(number)]);
        if number % 3 == 0 {
            let posted = audited
                .money()
                .post(world.entry(ALICE, LedgerKind::TopUp, 5))
                .await
                .expect("the test made it");
            assert!(matches!(posted, PostOutcome::Posted { .. }));
        } else {
            audited.note_in_audit_log().await.expect("the test made it");
        }
    }
}

async fn world_with_key() -> World {
    let world = World::with_credit(0).await;
    world.store.set_audit_key(KEY);
    world
}

/// Returns a closed store whose log has ten rows.
async fn closed_log() -> World {
    let world = world_with_key().await;
    write_rows(&world, 1..=10).await;
    world.store.close().await.expect("the test made it");
    world
}

fn audit(folder: &Path, key: AuditKey) -> AuditReport {
    match server(folder) {
        Some(server) => Store::audit_server(&server, Some(key)).expect("the test made it"),
        None => Store::audit_with_stop(
            folder,
            AuditProof::read(folder, Some(key)).expect("the test made it"),
            || false,
        )
        .expect("the test made it"),
    }
}

fn rules(report: &AuditReport) -> Vec<&'static str> {
    report.violations.iter().map(|violation| violation.rule).collect()
}

/// Returns a copy of a closed store. On the embedded store it includes the file with the end of the log.
fn copy(world: &World) -> TempDir {
    let copy = TempDir::new().expect("the test made it");
    copy_database(world.path(), copy.path());
    if server(world.path()).is_none() {
        std::fs::copy(world.path().join(AUDIT_HEAD_FILE), copy.path().join(AUDIT_HEAD_FILE))
            .expect("the test made it");
    }
    copy
}

#[tokio::test]
async fn changed_cut_or_emptied_log_is_found() {
    let world = closed_log().await;
    let report = audit(world.path(), KEY);
    assert!(report.is_clean() && report.is_audit_log_checked, "{:#?}", report.violations);
    assert_eq!(report.audit_log.number, 10);
    let head_moved_back = "DELETE FROM audit_log WHERE number > 9;
        UPDATE audit_head SET number = 9, hash = (SELECT hash FROM audit_log WHERE number = 9)";
    for (damage, rule) in [
        ("DELETE FROM audit_log WHERE number = 10", LOG),
        ("DELETE FROM audit_log WHERE number > 5", LOG),
        ("DELETE FROM audit_log", LOG),
        ("DELETE FROM audit_log; DELETE FROM audit_head", MONEY),
        ("DELETE FROM audit_log WHERE number > 5; DELETE FROM audit_head", LOG),
        ("DELETE FROM audit_log WHERE number > 5", MONEY),
        (head_moved_back, LOG),
        ("UPDATE audit_log SET subject = 'other' WHERE number = 10", LOG),
        ("UPDATE audit_log SET posted_balance = 50 WHERE posting IS NOT NULL", LOG),
        ("UPDATE audit_head SET number = 11", LOG),
        ("UPDATE ledger SET balance = 50 WHERE id = 2", MONEY),
        ("UPDATE ledger SET account = 2 WHERE id = 2", MONEY),
        ("DELETE FROM ledger WHERE id = 2", MONEY),
        ("UPDATE audit_log SET posting = NULL WHERE number = 3", MONEY),
    ] {
        let copy = copy(&world);
        raw(copy.path()).change(damage);
        let report = audit(copy.path(), KEY);
        assert!(rules(&report).contains(&rule), "{damage}: {:#?}", report.violations);
    }
}

#[tokio::test]
async fn log_is_checked_with_its_own_pepper_only() {
    let world = closed_log().await;
    assert!(rules(&audit(world.path(), AuditKey([8; 32]))).contains(&LOG));
    let report = crate::world::audit(world.path());
    assert!(report.is_clean() && !report.is_audit_log_checked, "without a pepper only numbers are compared");
}

#[tokio::test]
async fn rows_that_were_removed_stay_missing_after_further_changes() {
    let mut world = closed_log().await;
    world.raw().change("DELETE FROM audit_log WHERE number > 8");
    world.reopen();
    world.store.set_audit_key(KEY);
    write_rows(&world, 11..=13).await;
    world.store.close().await.expect("the test made it");
    let report = audit(world.path(), KEY);
    assert_eq!(report.audit_log.number, 13, "the numbers go on behind the gap");
    assert!(rules(&report).contains(&LOG), "{:#?}", report.violations);
}

#[tokio::test]
async fn older_database_is_found_by_the_file_beside_it() {
    if on_postgres("the file of the embedded store") {
        return;
    }
    let mut world = world_with_key().await;
    write_rows(&world, 1..=2).await;
    world.store.close().await.expect("the test made it");
    let older = copy(&world);
    world.reopen();
    world.store.set_audit_key(KEY);
    write_rows(&world, 4..=5).await;
    world.store.close().await.expect("the test made it");
    std::fs::copy(world.path().join(AUDIT_HEAD_FILE), older.path().join(AUDIT_HEAD_FILE))
        .expect("the test made it");
    let report = audit(older.path(), KEY);
    assert_eq!(rules(&report), [LOG]);
    // Further rows do not hide it.
    let mut restored = World { folder: older, store: world.store, now: world.now };
    restored.reopen();
    restored.store.set_audit_key(KEY);
    write_rows(&restored, 7..=10).await;
    restored.store.close().await.expect("the test made it");
    assert!(rules(&audit(restored.path(), KEY)).contains(&LOG));
}

#[tokio::test]
async fn missing_file_is_noted_if_the_log_has_rows() {
    if on_postgres("the file of the embedded store") {
        return;
    }
    let world = closed_log().await;
    assert!(!audit(world.path(), KEY).lacks_audit_file);
    std::fs::remove_file(world.path().join(AUDIT_HEAD_FILE)).expect("the test made it");
    let report = audit(world.path(), KEY);
    assert!(report.is_clean() && report.lacks_audit_file, "{:#?}", report.violations);
    let empty = world_with_key().await;
    empty.store.close().await.expect("the test made it");
    assert!(!audit(empty.path(), KEY).lacks_audit_file);
}

#[tokio::test]
async fn posting_without_an_author_is_in_the_log() {
    let world = world_with_key().await;
    world.pay_in(ALICE, 7).await;
    world.pay_in(BOB, 9).await;
    world.store.close().await.expect("the test made it");
    let report = audit(world.path(), KEY);
    assert!(report.is_clean(), "{:#?}", report.violations);
    assert_eq!(world.raw().texts("SELECT author FROM audit_log ORDER BY number"), ["unknown", "unknown"]);
}
