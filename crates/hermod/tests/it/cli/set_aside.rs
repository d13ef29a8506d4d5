//! Invalid rows: the alarm, the list and the audit.

use super::process::{Caller, path, run, start_demo};
use crate::real_time::wait_until;

#[test]
fn invalid_row_raises_an_alarm_and_is_listed_while_messages_are_sent() {
    let folder = tempfile::tempdir().unwrap();
    let data = path(folder.path());
    let (demo, ready) = start_demo(folder.path());
    let customer = Caller::of(&ready);
    let first = customer.send("Hello");
    customer.wait_for_status(&first, "delivered");
    assert_eq!(demo.terminate(), 0);

    let database = rusqlite::Connection::open(folder.path().join("hermod.db")).unwrap();
    let damaged = "INSERT INTO part (carrier, account, message, no, state, doubts, resend, attempts, due_at, expires_at)
        SELECT carrier, account, id, 1, 99, 0, 3, 0, 0, expires_at FROM message LIMIT 1";
    assert_eq!(database.execute(damaged, []).unwrap(), 1);
    drop(database);

    let (demo, ready) = start_demo(folder.path());
    let customer = Caller::of(&ready);
    let second = customer.send("Hello again");
    customer.wait_for_status(&second, "delivered");
    wait_until("the row raises an alarm", || {
        run(&["alarms", "--data-dir", data]).1.contains("rows-set-aside")
    });
    let (code, out, stderr) = run(&["set-aside", "list", "--data-dir", data]);
    assert_eq!((code, stderr.as_str()), (0, ""), "{out}");
    assert!(out.contains(&first) && out.contains("99 is not") && !out.contains(&second), "{out}");
    assert_eq!(demo.terminate(), 0);
    let (code, out, _) = run(&["audit", "--data-dir", data]);
    assert_eq!((code, out.contains("set aside")), (1, true), "{out}");
}
