//! Unit tests of `dialect.rs`.

use super::*;

#[track_caller]
fn check(sql: &str, expect: &str) {
    assert_eq!(translate(sql), expect);
}

#[test]
fn parameters_hints_and_types_are_spelled_as_postgresql_does() {
    check("SELECT 'a ?1' FROM t WHERE a = ?1 AND b = ?12", "SELECT 'a ?1' FROM t WHERE a = $1 AND b = $12");
    check(
        "SELECT 1 FROM webhook w INDEXED BY webhook_due WHERE a = 1",
        "SELECT 1 FROM webhook w  WHERE a = 1",
    );
    check("SELECT 1 WHERE ?3 IS NULL OR a = ?3", "SELECT 1 WHERE $3::bigint IS NULL OR a = $3");
    check(
        "CREATE TABLE remote_7 (a INTEGER NOT NULL, b BLOB, c TEXT) WITHOUT ROWID, STRICT",
        "CREATE TABLE remote_7 (a bigint NOT NULL, b bytea, c text COLLATE \"C\")",
    );
}

#[track_caller]
fn check_many(sql: &str, expect: &str) {
    assert_eq!(translate_for_many(sql, &["int8", "bytea"]).as_deref(), Some(expect));
}

#[test]
fn statement_for_many_rows_takes_one_array_per_parameter() {
    check_many(
        "INSERT INTO t (a, b) VALUES (?1, ?2)",
        "INSERT INTO t (a, b) SELECT u.p1, u.p2 FROM unnest($1::int8[], $2::bytea[]) AS u (p1, p2)",
    );
    check_many(
        "UPDATE t SET b = coalesce(?2, b) WHERE a = ?1",
        "UPDATE t SET b = coalesce(u.p2, b) FROM unnest($1::int8[], $2::bytea[]) AS u (p1, p2) WHERE a = u.p1",
    );
    check_many(
        "INSERT INTO t (a, b) SELECT a, ?2 FROM s WHERE a = ?1",
        "INSERT INTO t (a, b) SELECT a, u.p2 FROM s , unnest($1::int8[], $2::bytea[]) AS u (p1, p2) WHERE a = u.p1",
    );
    check_many(
        "SELECT s.a, r.b FROM s LEFT JOIN r ON r.c = s.c WHERE s.a = ?1 AND s.b = ?2",
        "SELECT s.a, r.b FROM s LEFT JOIN r ON r.c = s.c , unnest($1::int8[], $2::bytea[]) AS u (p1, p2) \
             WHERE s.a = u.p1 AND s.b = u.p2",
    );
    check_many(
        "DELETE FROM t WHERE a = ?1 AND b = ?2",
        "DELETE FROM t USING unnest($1::int8[], $2::bytea[]) AS u (p1, p2) WHERE a = u.p1 AND b = u.p2",
    );
}
