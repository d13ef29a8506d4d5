//! Rows that make no sense, as the operator meets them: the alarm, the list, and the audit.

use super::process::{Caller, path, ran, start_demo};
use crate::real_time::wait_until;

#[test]
fn row_that_makes_no_sense_is_an_alarm_and_listed_while_messages_go_out() {
    let folder = tempfile::tempdir().unwrap();
    let data = path(folder.path());
    let (demo, ready) = start_demo(folder.path());
    let customer = Caller::of(&ready);
    let first = customer.sends("Hello");
    customer.waits_for(&first, "delivered");
    assert_eq!(demo.terminated(), 0);

    let database = rusqlite::Connection::open(folder.path().join("hermod.db")).unwrap();
    let damaged = "INSERT INTO part (carrier, account, message, no, state, doubts, resend, attempts, due_at, expires_at)
        SELECT carrier, account, id, 1, 99, 0, 3, 0, 0, expires_at FROM message LIMIT 1";
    assert_eq!(database.execute(damaged, []).unwrap(), 1);
    drop(database);

    let (demo, ready) = start_demo(folder.path());
    let customer = Caller::of(&ready);
    let second = customer.sends("Hello again");
    customer.waits_for(&second, "delivered");
    wait_until("the row is an alarm", || ran(&["alarms", "--data-dir", data]).1.contains("rows-set-aside"));
    let (code, out, told) = ran(&["set-aside", "list", "--data-dir", data]);
    assert_eq!((code, told.as_str()), (0, ""), "{out}");
    assert!(out.contains(&first) && out.contains("99 is not") && !out.contains(&second), "{out}");
    assert_eq!(demo.terminated(), 0);
    let (code, out, _) = ran(&["audit", "--data-dir", data]);
    assert_eq!((code, out.contains("set aside")), (1, true), "{out}");
}
