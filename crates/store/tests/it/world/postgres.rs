//! PostgreSQL as the store of the tests: the server that `HERMOD_TEST_POSTGRES` names. Each folder has a schema of its own.

use hermod_store::Server;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::mpsc;
use tokio_postgres::{NoTls, SimpleQueryMessage};

const VARIABLE: &str = "HERMOD_TEST_POSTGRES";
/// Copies every table of one schema into another with its comment, rows and partitions, and the views.
const COPY: &str = "
    CREATE SCHEMA \"{to}\";
    DO $$ DECLARE of record; BEGIN
        FOR of IN SELECT c.relname AS name, c.relkind = 'p' AS is_partitioned, p.relname AS parent,
                pg_get_expr(c.relpartbound, c.oid) AS bounds, obj_description(c.oid, 'pg_class') AS comment
            FROM pg_class c LEFT JOIN pg_inherits i ON i.inhrelid = c.oid LEFT JOIN pg_class p ON p.oid = i.inhparent
            WHERE c.relnamespace = '\"{from}\"'::regnamespace AND c.relkind IN ('r', 'p') ORDER BY c.relkind
        LOOP
            EXECUTE format('CREATE TABLE %I.%I (LIKE %I.%I INCLUDING ALL) %s', '{to}', of.name, '{from}', of.name,
                CASE WHEN of.is_partitioned THEN 'PARTITION BY RANGE (id)' ELSE '' END);
            IF of.bounds IS NOT NULL THEN
                EXECUTE format('ALTER TABLE %I.%I ATTACH PARTITION %I.%I %s', '{to}', of.parent, '{to}', of.name, of.bounds);
            END IF;
            IF of.comment IS NOT NULL THEN
                EXECUTE format('COMMENT ON TABLE %I.%I IS %L', '{to}', of.name, of.comment);
            END IF;
            IF NOT of.is_partitioned THEN
                EXECUTE format('INSERT INTO %I.%I SELECT * FROM %I.%I', '{to}', of.name, '{from}', of.name);
            END IF;
        END LOOP;
        FOR of IN SELECT viewname AS name, definition FROM pg_views WHERE schemaname = '{from}' LOOP
            PERFORM set_config('search_path', '\"{to}\"', true);
            EXECUTE format('CREATE VIEW %I AS %s', of.name, of.definition);
            PERFORM set_config('search_path', '\"{from}\"', true);
        END LOOP;
    END $$;";

#[expect(clippy::disallowed_methods, reason = "a variable names the server of the tests")]
fn url() -> Option<String> {
    std::env::var(VARIABLE).ok()
}

/// Returns the server of the tests, if they run on PostgreSQL.
pub(crate) fn server(folder: &Path) -> Option<Server> {
    Some(Server::parse(&url()?).expect("the address of a server").with_schema(&schema(folder)))
}

/// Returns the TCP address in the server's URL; none without a server, which is `postgres://user@address/database`.
pub(crate) fn server_address() -> Option<SocketAddr> {
    let url = url()?;
    let (_, host) = url.split_once('@').expect("a user");
    let (address, _) = host.split_once('/').expect("a database");
    Some(address.parse().expect("an address in numbers"))
}

/// Returns the server as it is reached at another address.
pub(crate) fn server_at(folder: &Path, address: SocketAddr) -> Option<Server> {
    let url = url()?.replace(&server_address()?.to_string(), &address.to_string());
    Some(Server::parse(&url).expect("the address of a proxy").with_schema(&schema(folder)))
}

fn schema(folder: &Path) -> String {
    folder.file_name().expect("a name").to_string_lossy().into_owned()
}

/// Whether the tests run on PostgreSQL, which a test cannot: then says the reason.
pub(crate) fn on_postgres(reason: &str) -> bool {
    let is_set = url().is_some();
    if is_set {
        println!("not on PostgreSQL: {reason}");
    }
    is_set
}

/// Copies the tables of one folder to those of another, as they are committed now.
pub(super) fn copy(from: &Path, to: &Path) {
    let copy = COPY.replace("{from}", &schema(from)).replace("{to}", &schema(to));
    texts(from, &copy);
}

/// Runs statements on the tables of a folder. Returns the first column of all rows.
pub(super) fn texts(folder: &Path, sql: &str) -> Vec<String> {
    let text = |message: SimpleQueryMessage| match message {
        SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
        _ => None,
    };
    run(folder, sql).into_iter().filter_map(text).collect()
}

/// Runs statements on the tables of a folder. Returns how many rows the last one changed.
pub(super) fn change(folder: &Path, sql: &str) -> u64 {
    let changed = |message: &SimpleQueryMessage| match message {
        SimpleQueryMessage::CommandComplete(rows) => Some(*rows),
        _ => None,
    };
    run(folder, sql).iter().rev().find_map(changed).unwrap_or(0)
}

fn run(folder: &Path, sql: &str) -> Vec<SimpleQueryMessage> {
    // A test is a task, which must not block.
    std::thread::scope(|threads| threads.spawn(|| connected(folder, sql, |done| done)).join())
        .expect("no panic")
}

/// Runs statements and keeps their connection until the sender is dropped.
pub(super) fn hold(folder: &Path, sql: &str) -> mpsc::Sender<()> {
    let (folder, sql) = (folder.to_owned(), sql.to_owned());
    let (begun, begins) = mpsc::channel();
    let (ends, ended) = mpsc::channel::<()>();
    std::thread::spawn(move || {
        connected(&folder, &sql, |_| {
            begun.send(()).expect("the test waits");
            let _ = ended.recv();
        });
    });
    begins.recv().expect("the statements run");
    ends
}

/// Runs statements on the tables of a folder, and then `next` before the connection ends.
#[expect(clippy::disallowed_methods, reason = "the connection ends with its runtime")]
fn connected<T>(folder: &Path, sql: &str, next: impl FnOnce(Vec<SimpleQueryMessage>) -> T) -> T {
    let sql = format!("SET search_path = \"{}\"; {sql}", schema(folder));
    let url = url().expect("the tests run on PostgreSQL");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(&url, NoTls).await.expect("a connection");
        tokio::spawn(connection);
        next(client.simple_query(&sql).await.unwrap_or_else(|error| panic!("{sql}: {error:?}")))
    })
}
