//! Unit tests of `table_sql.rs`.

use super::*;
use hermod_engine::tables::OptOut;

#[test]
fn table_and_statements_follow_from_the_description() {
    let all = create_in_sqlite();
    let opt_out =
        "CREATE TABLE opt_out (\n    \"account\" INTEGER NOT NULL,\n    \"number\" INTEGER NOT NULL,\n";
    assert!(all.contains(opt_out), "{all}");
    assert!(all.contains("    PRIMARY KEY (\"account\", \"number\")\n) WITHOUT ROWID, STRICT;\n"), "{all}");
    assert!(all.contains("    PRIMARY KEY (\"id\")\n) STRICT;\n"), "{all}");
    assert!(all.contains("    \"decided_at\" INTEGER,\n"), "{all}");
    let all = create_in_postgres();
    assert!(all.contains("    \"how\" text COLLATE \"C\" NOT NULL,\n"), "{all}");
    assert!(all.contains("    \"text\" bytea NOT NULL,\n"), "{all}");
    let TableSql { sqlite, postgres, .. } = TableSql::of(OptOut::table());
    assert_eq!(
        &*sqlite.put,
        "INSERT INTO opt_out (\"account\", \"number\", \"source\", \"how\", \"at\") VALUES (?1, ?2, ?3, ?4, ?5) \
             ON CONFLICT (\"account\", \"number\") DO UPDATE SET \
             \"source\" = excluded.\"source\", \"how\" = excluded.\"how\", \"at\" = excluded.\"at\""
    );
    assert_eq!(&*sqlite.delete, "DELETE FROM opt_out WHERE \"account\" = ?1 AND \"number\" = ?2");
    assert_eq!(
        &*postgres.add,
        "INSERT INTO opt_out (\"account\", \"number\", \"source\", \"how\", \"at\") \
             SELECT * FROM unnest($1::int8[], $2::int8[], $3::text[], $4::text[], $5::int8[])"
    );
    assert_eq!(
        &*postgres.delete,
        "DELETE FROM opt_out t USING unnest($1::int8[], $2::int8[]) AS u (\"account\", \"number\") \
             WHERE t.\"account\" = u.\"account\" AND t.\"number\" = u.\"number\""
    );
}
