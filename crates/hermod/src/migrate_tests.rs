//! Unit tests of `migrate.rs`.

use super::*;

fn status(found: i64, pending: &[(i64, MigrationKind)]) -> SchemaStatus {
    let pending =
        pending.iter().map(|(number, kind)| MigrationStep { number: *number, kind: *kind, what: "add it" });
    let pending = pending.collect();
    SchemaStatus {
        place: "PostgreSQL sms on db, schema hermod".to_owned(),
        found,
        known: 3,
        compatible_from: 1,
        pending,
    }
}

#[test]
fn status_lists_what_is_pending() {
    let empty = status(0, &[(1, MigrationKind::Expand)]);
    assert_eq!(
        status_text(&empty),
        "PostgreSQL sms on db, schema hermod\n  schema version  0 (no tables yet)\n  known version   3 (this release)\n  \
             usable by       releases that know version 1 or later\nPending:\n  1  expand    add it\n"
    );
    assert!(status_text(&status(3, &[])).ends_with("Nothing to migrate.\n"));
}

#[test]
fn contract_and_what_follows_it_are_left_over() {
    let steps = [(2, MigrationKind::Expand), (3, MigrationKind::Contract), (4, MigrationKind::Expand)];
    let status = status(1, &steps);
    let runnable = status.runnable(MigrationKind::Expand);
    assert_eq!(runnable.len(), 1);
    let left = left_over(&status, runnable.len());
    assert!(left.ends_with("  3  contract  add it\n  4  expand    add it\n"), "{left}");
    assert_eq!(status.runnable(MigrationKind::Contract).len(), 3);
    assert_eq!(left_over(&status, 3), "");
}
