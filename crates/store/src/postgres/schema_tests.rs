//! Migrations on a real server, with a list of migrations of their own. They need `HERMOD_TEST_POSTGRES`.

use super::*;
use std::sync::atomic::{AtomicU32, Ordering};

const TABLES: Migration = Migration {
    kind: MigrationKind::Expand,
    what: "create the tables",
    sql: "CREATE TABLE message (id bigint, old bigint)",
};
const ADD: Migration = Migration {
    kind: MigrationKind::Expand,
    what: "add a column",
    sql: "ALTER TABLE message ADD COLUMN new bigint",
};
const REMOVE: Migration = Migration {
    kind: MigrationKind::Contract,
    what: "remove the old column",
    sql: "ALTER TABLE message DROP COLUMN old",
};
const SECOND: Migration = Migration {
    kind: MigrationKind::Expand,
    what: "add another table",
    sql: "CREATE TABLE second (id bigint)",
};

/// The releases of these tests, each with the migrations that it knows.
const FIRST_RELEASE: &[Migration] = &[TABLES];
const EXPANDING: &[Migration] = &[TABLES, ADD];
const CONTRACTING: &[Migration] = &[TABLES, ADD, REMOVE];
const LATER: &[Migration] = &[TABLES, ADD, REMOVE, SECOND];

/// A schema of a test, dropped at its end.
struct Place {
    server: Server,
    session: Session,
}

impl Place {
    /// Returns none without a server.
    #[expect(clippy::disallowed_methods, reason = "a variable names the server of the tests")]
    fn new() -> Option<Place> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let Ok(url) = std::env::var("HERMOD_TEST_POSTGRES") else {
            println!("only for PostgreSQL");
            return None;
        };
        let name = format!("migrating_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let server = Server::parse(&url).expect("an address").with_schema(&name);
        let session = Session::connect(&server, "SET client_min_messages = warning").expect("a server");
        Some(Place { server, session })
    }

    fn release<'s>(&'s self, migrations: &'s [Migration]) -> Schema<'s> {
        Schema { session: &self.session, server: &self.server, migrations }
    }

    /// Connects as a gateway of a release.
    fn gateway(&self, migrations: &[Migration]) -> Session {
        Session::connect(&self.server, &show_gateway_knowing(&self.server, migrations)).expect("a server")
    }

    fn versions(&self) -> (i64, i64) {
        let status = self.release(LATER).status().expect("a status");
        (status.found, status.compatible_from)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        drop(self.session.run(&format!("DROP SCHEMA IF EXISTS \"{}\" CASCADE", self.server.schema)));
    }
}

fn numbers(steps: &[MigrationStep]) -> Vec<i64> {
    steps.iter().map(|step| step.number).collect()
}

#[track_caller]
fn error_of<T>(done: Result<T, TableError>) -> StoreError {
    done.map(drop).map_err(StoreError::from).expect_err("it fails")
}

#[test]
fn empty_schema_gets_every_migration_at_the_first_start() {
    let Some(place) = Place::new() else { return };
    assert_eq!(place.versions(), (0, 1));
    assert_eq!(place.release(LATER).status().expect("a status").pending.len(), 4);
    assert_eq!(place.versions(), (0, 1), "a status changes nothing");
    place.release(LATER).open().expect("the tables are created");
    assert_eq!(place.versions(), (4, 3));
}

#[test]
fn start_applies_an_expand_and_the_earlier_release_still_opens_the_schema() {
    let Some(place) = Place::new() else { return };
    place.release(FIRST_RELEASE).open().expect("the tables are created");
    place.release(EXPANDING).open().expect("the column is added");
    assert_eq!(place.versions(), (2, 1));
    place.release(FIRST_RELEASE).open().expect("it does not notice the column");
    assert_eq!(place.versions(), (2, 1), "it does not take the version back");
}

#[test]
fn contract_runs_only_on_request_and_excludes_earlier_releases() {
    let Some(place) = Place::new() else { return };
    place.release(EXPANDING).open().expect("the tables are created");
    place.release(CONTRACTING).open().expect("a start leaves the contract for later");
    assert_eq!(place.versions(), (2, 1));
    assert_eq!(numbers(&place.release(CONTRACTING).migrate(MigrationKind::Expand).expect("no-op")), [0; 0]);
    assert_eq!(numbers(&place.release(CONTRACTING).migrate(MigrationKind::Contract).expect("done")), [3]);
    assert_eq!(place.versions(), (3, 3));
    place.release(CONTRACTING).open().expect("it knows the contract");
    let refused = error_of(place.release(EXPANDING).open());
    assert!(matches!(refused, StoreError::TooNew { found: 3, known: 2, .. }), "{refused}");
}

#[test]
fn contract_is_refused_while_a_gateway_of_an_earlier_release_is_connected() {
    let Some(place) = Place::new() else { return };
    place.release(EXPANDING).open().expect("the tables are created");
    let (earlier, same) = (place.gateway(EXPANDING), place.gateway(CONTRACTING));
    let refused = error_of(place.release(CONTRACTING).migrate(MigrationKind::Contract));
    let StoreError::Migration(MigrationError::OlderGateways { gateways: 1, known: 2, number: 3 }) = refused
    else {
        panic!("{refused}")
    };
    assert_eq!(place.versions(), (2, 1), "nothing was changed");
    earlier.query("SELECT pg_advisory_unlock_all()", &[]).expect("it ends");
    place.release(CONTRACTING).migrate(MigrationKind::Contract).expect("the one of this release may stay");
    drop(same);
}

#[test]
fn expand_behind_a_pending_contract_waits_for_it() {
    let Some(place) = Place::new() else { return };
    place.release(FIRST_RELEASE).open().expect("the tables are created");
    let refused = error_of(place.release(LATER).open());
    assert!(
        matches!(refused, StoreError::Migration(MigrationError::ContractPending { number: 3, .. })),
        "{refused}"
    );
    assert_eq!(numbers(&place.release(LATER).migrate(MigrationKind::Contract).expect("done")), [3, 4]);
    place.release(LATER).open().expect("all are applied");
}

#[test]
fn failed_migration_changes_nothing() {
    let Some(place) = Place::new() else { return };
    let broken = Migration {
        kind: MigrationKind::Expand,
        what: "fail",
        sql: "CREATE TABLE a (b bigint); SELECT 1 / 0",
    };
    place.release(FIRST_RELEASE).open().expect("the tables are created");
    let failed = error_of(place.release(&[TABLES, broken]).open());
    assert!(failed.to_string().contains("division by zero"), "{failed}");
    assert_eq!(place.versions(), (1, 1));
    assert!(place.session.query("SELECT 1 FROM a", &[]).is_err(), "the table is undone");
}
