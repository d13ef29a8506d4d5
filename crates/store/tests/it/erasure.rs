//! Erasure of one person's number: afterwards no file contains it or its texts, and the audit still passes.

use crate::mo::text;
use crate::record::refused_request;
use crate::world::*;
use hermod_domain::erasure::{ErasureKey, ShortDigest};
use hermod_domain::ids::AccountId;
use hermod_domain::lifecycle::{DeliveryOutcome, MessageState};
use hermod_domain::phone::Msisdn;
use hermod_domain::text::MessageText;
use hermod_domain::time::Timestamp;
use hermod_store::record::{RequestEntry, RequestFilter, Scope};
use hermod_store::{Acceptance, ERASURES_FILE, Inbound, LinkKind, MoRecord, OptOut};
use std::path::Path;

const PERSON: &str = "4917099988877";
const CANARY: &str = "canary text of a person";

fn person() -> Msisdn {
    Msisdn::parse_digits(PERSON).expect("a number")
}

fn files_containing(folder: &Path, needle: &[u8]) -> Vec<String> {
    let files = std::fs::read_dir(folder).expect("a folder").map(|file| file.expect("a file").path());
    let contains = |path: &Path| {
        std::fs::read(path).is_ok_and(|bytes| bytes.windows(needle.len()).any(|found| found == needle))
    };
    files.filter(|path| path.is_file() && contains(path)).map(|path| path.display().to_string()).collect()
}

#[tokio::test]
async fn erasing_the_substitute_number_erases_what_an_earlier_version_left() {
    let world = World::new().await;
    let link = world.link_with_slots(1).await;
    let message = world.send(Acceptance { to: person(), ..world.smpp_message(2) }).await;
    link.accept(&link.take_job().await, "id").await;
    link.receipt("id", DeliveryOutcome::Delivered).await;
    world.flush().await;
    let digits = b"4915112345678";
    let origin = || {
        let query = format!("SELECT origin FROM message WHERE id = {}", message.as_i64());
        world.raw().blobs(&query).remove(0)
    };
    let names_recipient =
        |origin: Vec<u8>| origin.windows(digits.len()).any(|found| found == digits.as_slice());
    let before = origin();
    assert!(names_recipient(before.clone()));
    assert_eq!(
        world.store.erasures().erase_number(person(), None, world.now).await.expect("it is erased").messages,
        1
    );
    assert!(!names_recipient(origin()));
    let put_back = format!("UPDATE message SET origin = {} WHERE id = ?1", blob(&before));
    world.raw().change_with(&put_back, &[message.as_i64()]);
    let erased =
        world.store.erasures().erase_number(person(), None, world.now).await.expect("it is looked for");
    assert_eq!(erased.messages, 0, "the message has the substitute number");
    let substitute = Msisdn::parse_digits("9990000000").expect("a number");
    assert_eq!(
        world
            .store
            .erasures()
            .erase_number(substitute, None, world.now)
            .await
            .expect("it is erased")
            .messages,
        1
    );
    assert!(!names_recipient(origin()));
}

#[tokio::test]
async fn erased_number_and_texts_are_in_no_file_and_money_stays_provable() {
    let mut world = World::new().await;
    let to_person =
        || Acceptance { to: person(), text: MessageText::parse(CANARY).expect("a text"), ..world.sms() };
    let link = world.link_with_slots(3).await;
    let done = world.send(to_person()).await;
    let other = world.send(world.sms()).await;
    let open = world.send(to_person()).await;
    for (job, id) in link.take_jobs(3).await.iter().zip(["done", "other", "open"]) {
        link.accept(job, id).await;
    }
    link.receipt("done", DeliveryOutcome::Delivered).await;
    link.receipt("other", DeliveryOutcome::Delivered).await;
    let inbound = Inbound {
        account: ALICE,
        from: format!("+{PERSON}"),
        to: "80800".to_owned(),
        text: CANARY.to_owned(),
        received_at: world.now,
    };
    world.store.inbound().receive(inbound).await.expect("it is kept");
    let unowned = MoRecord { sequence: 9, part: text(PERSON, "99999", CANARY) };
    link.port.record(vec![], vec![], vec![unowned], 0, world.now).await.expect("it is kept");
    let opt_out = OptOut::by_keyword(BOB, person(), world.now);
    world.store.opt_outs().add(opt_out).await.expect("it is kept");
    world.flush().await;
    // The carrier took one of them without an id.
    let unnamed = "INSERT INTO unnamed (carrier, dest, message, part, account, at) SELECT carrier, dest, id, 1, account, 0 FROM message WHERE id = ?1";
    world.raw().change_with(unnamed, &[done.as_i64()]);
    let before = world.balance(ALICE).await;

    let erased = world.store.erasures().erase_number(person(), None, world.now).await.expect("it is erased");
    assert_eq!((erased.messages, erased.inbound, erased.others), (1, 1, 1));
    assert_eq!((erased.in_progress, erased.named.as_slice()), (1, &[open][..]));
    link.receipt("open", DeliveryOutcome::Delivered).await;
    world.flush().await;
    let erased =
        world.store.erasures().erase_number(person(), None, world.now).await.expect("the rest is erased");
    assert_eq!((erased.messages, erased.inbound, erased.in_progress), (1, 0, 0));

    // The log is truncated within a second or two.
    wait_until("the text is gone", || files_containing(world.path(), CANARY.as_bytes()).is_empty()).await;
    assert_eq!(files_containing(world.path(), PERSON.as_bytes()), Vec::<String>::new());
    assert_eq!(world.raw().number(&format!("SELECT count(*) FROM message WHERE dest = {PERSON}")), 0);
    if !on_postgres("a copy of the embedded store") {
        let elsewhere = tempfile::TempDir::new().expect("a folder");
        world.store.copy_to(&elsewhere.path().join("hermod.db"), noon).await.expect("a copy");
        assert_eq!(files_containing(elsewhere.path(), CANARY.as_bytes()), Vec::<String>::new());
    }

    assert_eq!(world.state(done).await, MessageState::Delivered, "its state is kept");
    assert_eq!(world.record(other).await.to, recipient(), "other people's numbers stay");
    assert_eq!(world.balance(ALICE).await, before);
    assert!(
        world.store.opt_outs().find(BOB, person()).await.unwrap().is_some(),
        "the opt-out protects the person"
    );
    world.restart().await;
    world.assert_audit_clean();
}

#[tokio::test]
async fn number_stays_while_a_report_or_a_webhook_event_waits() {
    let world = World::new().await;
    let delivered = &[DeliveryOutcome::Delivered];
    for id in ["by bind", "by webhook"] {
        world.send_with_receipts(Acceptance { to: person(), ..world.sms() }, id, delivered).await;
        let (from, received_at) = (format!("+{PERSON}"), world.now);
        let (to, text) = ("80800".to_owned(), CANARY.to_owned());
        let inbound = Inbound { account: ALICE, from, to, text, received_at };
        world.store.inbound().receive(inbound).await.expect("it is kept");
    }
    world.flush().await;
    let raw = world.raw();
    for waiting in [
        "report (connection, id, message, told, err, delivered, at) SELECT 1, 7, min(id), 2, 0, 1, 0 FROM message",
        "webhook (account, kind, id, due_at, failures, attempts, message, at)
         SELECT 1, 1, 7, 0, 0, 0, max(id), 0 FROM message",
        "report (connection, id, message, told, err, delivered, at, account, inbound)
         SELECT 1, 8, message, 200, 0, 0, 0, account, id FROM inbound WHERE id = 1",
        "webhook (account, kind, id, due_at, failures, attempts, message, at, inbound)
         SELECT account, 2, 8, 0, 0, 0, message, 0, id FROM inbound WHERE id = 2",
    ] {
        raw.change(&format!("INSERT INTO {waiting}"));
    }
    let erase = async || {
        let erased = world.store.erasures().erase_number(person(), None, world.now).await.expect("an answer");
        (erased.messages, erased.inbound, erased.in_progress, erased.named.len())
    };
    assert_eq!(erase().await, (0, 0, 4, 2));
    raw.change("DELETE FROM report WHERE id = 7");
    raw.change("DELETE FROM webhook WHERE id = 8");
    assert_eq!(erase().await, (1, 1, 2, 1));
    raw.change("DELETE FROM report");
    raw.change("DELETE FROM webhook");
    assert_eq!(erase().await, (1, 1, 0, 0));
}

const KEY: ErasureKey = ErasureKey([5; 32]);

/// Returns the tables that have a number in any column, as digits in a text or octets or as an integer. Opt-outs protect the
/// person and keep it.
fn tables_naming(world: &World, number: &str) -> Vec<String> {
    let raw = world.raw();
    let hex: String = number.bytes().map(|octet| format!("{octet:02x}")).collect();
    let names = |table: &String| {
        let rows = match server(world.path()) {
            Some(_) => raw.texts(&format!("SELECT t::text FROM \"{table}\" t")),
            None => {
                let columns = raw.texts(&format!("SELECT name FROM pragma_table_info('{table}')"));
                let quoted: Vec<String> =
                    columns.iter().map(|column| format!("quote(\"{column}\")")).collect();
                raw.texts(&format!("SELECT {} FROM \"{table}\"", quoted.join(" || ' ' || ")))
            }
        };
        rows.iter().any(|row| row.contains(number) || row.to_lowercase().contains(&hex))
    };
    raw.tables_with("").into_iter().filter(|table| table != "opt_out" && names(table)).collect()
}

/// Returns how many messages of the record have the person's number, and how many lines of the request log its digest.
fn recorded(world: &World) -> [i64; 2] {
    let record = rusqlite::Connection::open(world.path().join("record.db")).expect("a record");
    let rows = [("message", PERSON.to_owned()), ("request", digest(person()).to_stored().to_string())];
    rows.map(|(table, recipient)| {
        let query = format!("SELECT count(*) FROM {table} WHERE recipient = {recipient}");
        record.query_row(&query, [], |row| row.get(0)).expect("a count")
    })
}

fn digest(number: Msisdn) -> ShortDigest {
    KEY.digest(number).shortened()
}

/// Notes a rejected request of an account to a number.
fn note_rejected(world: &World, account: AccountId, to: Msisdn, at: Timestamp) {
    let line = RequestEntry { at, recipient: Some(digest(to)), ..refused_request(account) };
    world.store.record().note_request(line);
}

/// Returns how many lines of the request log are found by a number.
async fn found_requests(world: &World, to: Msisdn) -> usize {
    let record = world.store.record();
    record.flush().await.expect("the record is complete");
    let filter = RequestFilter { recipient: Some(digest(to)), ..RequestFilter::default() };
    record.request_log(Scope::All, filter, None, 10).await.expect("a page").rows.len()
}

/// Sends a message to the person and everything else that leaves the number somewhere. `name` tells several calls apart.
async fn leave_traces(world: &World, name: &str) {
    let link = world.link_with_slots(1).await;
    note_rejected(world, ALICE, person(), world.now);
    world.send(Acceptance { to: person(), ..world.smpp_message(2) }).await;
    link.accept(&link.take_job().await, name).await;
    let parked = format!("other than {name}");
    let receipts = [name, &parked].map(|id| about(person(), receipt(1, id, DeliveryOutcome::Delivered)));
    link.respond(Vec::new(), receipts.to_vec()).await;
    let unowned = MoRecord { sequence: 9, part: text(PERSON, "99999", &format!("{CANARY} {name}")) };
    link.port.record(vec![], vec![], vec![unowned], 0, world.now).await.expect("it is kept");
    world.flush().await;
    // The receiver's response repeats the number.
    let (country, rest) = PERSON.split_at(2);
    let answer = format!("seen +{PERSON}, or +{country} {rest}");
    let attempt = format!(
        "INSERT INTO webhook_attempt (account, kind, event, no, at, took_ms, status, answer)
         VALUES (1, 1, {at}, 1, {at}, 5, 200, {})",
        blob(answer.as_bytes()),
        at = world.now.as_millis(),
    );
    world.raw().change(&attempt);
}

/// Returns in how many rows of each table the person's number is after [`leave_traces`].
fn traces(world: &World) -> [i64; 5] {
    let raw = world.raw();
    let remote: i64 = raw
        .tables_with("remote_")
        .iter()
        .map(|table| raw.number(&format!("SELECT count(*) FROM \"{table}\" WHERE dest = {PERSON}")))
        .sum();
    let count = |rows: &str| raw.number(&format!("SELECT count(*) FROM {rows}"));
    [
        count(&format!("message WHERE dest = {PERSON}")),
        remote,
        count(&format!("parked WHERE source = {PERSON}")),
        count("unassigned_inbound"),
        count("webhook_attempt WHERE length(answer) > 0"),
    ]
}

#[tokio::test]
async fn erased_number_is_in_no_table_and_not_in_the_record() {
    let world = World::with_record().await;
    world.store.erasures().set_key(KEY);
    leave_traces(&world, "id").await;
    world.store.record().flush().await.expect("the record is complete");
    let before = tables_naming(&world, PERSON);
    for table in ["message", "parked", "unassigned_inbound", "webhook_attempt"] {
        assert!(before.iter().any(|name| name.starts_with(table)), "{table}: {before:?}");
    }
    assert!(before.iter().any(|name| name.starts_with("remote_")), "{before:?}");
    assert_eq!(recorded(&world), [1, 1]);
    world.store.erasures().erase_number(person(), None, world.now).await.expect("it is erased");
    world.flush().await;
    assert_eq!(tables_naming(&world, PERSON), Vec::<String>::new());
    assert_eq!(recorded(&world), [0, 0]);
    assert_eq!(world.raw().number("SELECT count(*) FROM erasure"), 1);
}

/// Erases the person's number in a store, and returns one that was restored from a copy of it from before, with its list.
async fn erased_and_restored(mut world: World) -> World {
    world.store.close().await.expect("the store closes");
    let backup = tempfile::TempDir::new().expect("a folder");
    copy_database(world.path(), backup.path());
    world.reopen();
    world.store.erasures().set_key(KEY);
    world.store.erasures().erase_number(person(), None, world.now).await.expect("it is erased");
    world.store.close().await.expect("the store closes");
    std::fs::copy(world.path().join(ERASURES_FILE), backup.path().join(ERASURES_FILE)).expect("the list");
    let mut restored = World { folder: backup, store: world.store, now: world.now };
    restored.reopen();
    restored.store.erasures().set_key(KEY);
    restored
}

#[tokio::test]
async fn erasure_is_made_again_in_a_restored_backup() {
    let world = World::with_record().await;
    leave_traces(&world, "id").await;
    let restored = erased_and_restored(world).await;
    assert!(!tables_naming(&restored, PERSON).is_empty());
    assert_eq!(restored.store.erasures().replay(restored.now).await.expect("it is erased"), 1);
    restored.flush().await;
    assert_eq!(tables_naming(&restored, PERSON), Vec::<String>::new());
    restored.store.record().flush().await.expect("the record is complete");
    assert_eq!(recorded(&restored), [0, 0]);
    assert_eq!(restored.store.erasures().replay(restored.now).await.expect("nothing is left"), 0);
}

#[tokio::test]
async fn replayed_erasure_leaves_what_is_newer_and_a_repeated_one_does_not() {
    let world = World::with_record().await;
    leave_traces(&world, "before").await;
    let mut restored = erased_and_restored(world).await;
    // The person is a recipient again.
    restored.advance(secs(120)).await;
    leave_traces(&restored, "after").await;
    restored.flush().await;
    assert_eq!(traces(&restored), [2, 2, 2, 2, 2]);
    assert_eq!(restored.store.erasures().replay(restored.now).await.expect("it is erased"), 1);
    restored.flush().await;
    assert_eq!(traces(&restored), [1, 1, 1, 1, 1]);
    restored.store.record().flush().await.expect("the record is complete");
    assert_eq!(recorded(&restored), [1, 1]);
    assert_eq!(restored.store.erasures().replay(restored.now).await.expect("nothing is left"), 0);
    restored.store.erasures().erase_number(person(), None, restored.now).await.expect("it is erased");
    restored.flush().await;
    assert_eq!(traces(&restored), [0; 5]);
    assert_eq!(recorded(&restored), [0, 0]);
    // The attempts have no events.
    restored.raw().change("DELETE FROM webhook_attempt");
    restored.restart().await;
    restored.assert_audit_clean();
}

#[tokio::test]
async fn replayed_erasure_is_completed_when_messages_have_ended() {
    let world = World::new().await;
    let link = world.link_with_slots(1).await;
    world.send(Acceptance { to: person(), ..world.sms() }).await;
    link.accept(&link.take_job().await, "id").await;
    world.flush().await;
    let restored = erased_and_restored(world).await;
    let replay =
        async |after| restored.store.erasures().replay(restored.now.plus(after)).await.expect("a replay");
    let left = || restored.raw().number(&format!("SELECT count(*) FROM message WHERE dest = {PERSON}"));
    assert_eq!((replay(secs(0)).await, left()), (1, 1));
    let link = restored.link_of(ACME, LinkKind::Sends).await;
    link.receipt("id", DeliveryOutcome::Delivered).await;
    restored.flush().await;
    assert_eq!((replay(secs(60)).await, left()), (0, 1), "every message is read once an hour only");
    assert_eq!((replay(secs(3_600)).await, left()), (1, 0));
    assert_eq!((replay(secs(7_200)).await, left()), (0, 0));
}

#[tokio::test]
async fn replayed_erasure_finds_a_number_in_every_table() {
    let numbers =
        [PERSON, "4917099988801", "4917099988802", "4917099988803", "4917099988804", "4917099988805"];
    let [message, inbound, unassigned, parked, conversation, review] = numbers;
    let number = |digits: &str| Msisdn::parse_digits(digits).expect("a number");
    let world = World::new().await;
    let link = world.link_with_slots(1).await;
    let sent = world.send(Acceptance { to: number(message), ..world.sms() }).await;
    link.accept(&link.take_job().await, "id").await;
    let receipts =
        [receipt(1, "id", DeliveryOutcome::Delivered), receipt(2, "none", DeliveryOutcome::Delivered)];
    link.respond(Vec::new(), receipts.map(|receipt| about(number(parked), receipt)).to_vec()).await;
    let part = text(unassigned, "99999", CANARY);
    link.port.record(vec![], vec![], vec![MoRecord { sequence: 9, part }], 0, world.now).await.expect("kept");
    let (from, received_at) = (format!("+{inbound}"), world.now);
    let received =
        Inbound { account: ALICE, from, to: "80800".to_owned(), text: CANARY.to_owned(), received_at };
    world.store.inbound().receive(received).await.expect("it is kept");
    world.flush().await;
    let (raw, at) = (world.raw(), world.now.as_millis());
    raw.change(&format!(
        "INSERT INTO conversation (handset, number, account, connection, message, at)
         VALUES ({conversation}, '80800', 1, 1, {}, {at})",
        sent.as_i64()
    ));
    raw.change(&format!(
        "INSERT INTO review (id, account, digest, source, dest, text, rules, opened_at, last_at, seen, state,
             decided_by, reason)
         VALUES (7, 1, {}, 'Hermod', {review}, '', '', {at}, {at}, 1, 2, '', '')",
        blob(&[7; 16])
    ));
    let elsewhere = World::new().await;
    elsewhere.store.erasures().set_key(KEY);
    for digits in numbers {
        elsewhere.store.erasures().erase_number(number(digits), None, world.now).await.expect("it is listed");
        assert!(!tables_naming(&world, digits).is_empty(), "{digits}");
    }
    std::fs::copy(elsewhere.path().join(ERASURES_FILE), world.path().join(ERASURES_FILE)).expect("the list");
    world.store.erasures().set_key(KEY);
    assert_eq!(world.store.erasures().replay(world.now).await.expect("they are erased"), 6);
    world.flush().await;
    for digits in numbers {
        assert_eq!(tables_naming(&world, digits), Vec::<String>::new(), "{digits}");
    }
}

#[tokio::test]
async fn erasure_covers_messages_whose_ids_are_ahead_of_the_clock() {
    let world = World::new().await;
    world
        .send_with_receipts(Acceptance { to: person(), ..world.sms() }, "id", &[DeliveryOutcome::Delivered])
        .await;
    let set_back = world.now.minus(secs(3_600));
    assert_eq!(
        world.store.erasures().erase_number(person(), None, set_back).await.expect("it is erased").messages,
        1
    );
}

#[tokio::test]
async fn erasure_reaches_the_record_of_a_node_that_was_away() {
    let mut world = World::with_record().await;
    leave_traces(&world, "id").await;
    world.store.record().flush().await.expect("the record is complete");
    world.store.close().await.expect("the store closes");
    let record = std::fs::read(world.path().join("record.db")).expect("a record");
    world.reopen();
    world.store.erasures().set_key(KEY);
    world.store.erasures().erase_number(person(), None, world.now).await.expect("it is erased");
    world.store.close().await.expect("the store closes");

    // The folder of a node that was away has an older record, and not the erasure.
    std::fs::write(world.path().join("record.db"), record).expect("a record");
    std::fs::remove_file(world.path().join(ERASURES_FILE)).expect("the list");
    world.reopen();
    world.store.erasures().set_key(KEY);
    world.store.record().flush().await.expect("the record is complete");
    assert_eq!(recorded(&world), [1, 1]);
    assert_eq!(world.store.erasures().replay(world.now).await.expect("it is erased"), 1);
    assert_eq!(recorded(&world), [0, 0]);
    assert_eq!(world.store.erasures().replay(world.now).await.expect("nothing is left"), 0);
}

#[tokio::test]
async fn repeated_erasure_reaches_the_record_of_a_node_that_has_the_first() {
    let mut world = World::with_record().await;
    world.store.erasures().set_key(KEY);
    world.store.erasures().erase_number(person(), None, world.now).await.expect("it is erased");
    world.advance(secs(120)).await;
    leave_traces(&world, "id").await;
    world.store.record().flush().await.expect("the record is complete");
    world.store.close().await.expect("the store closes");
    let away = ["record.db", ERASURES_FILE].map(|name| world.path().join(name));
    let before = away.each_ref().map(|path| std::fs::read(path).expect("a file"));
    world.reopen();
    world.store.erasures().set_key(KEY);
    world.store.erasures().erase_number(person(), None, world.now).await.expect("it is erased");
    world.store.close().await.expect("the store closes");
    for (path, contents) in away.iter().zip(before) {
        std::fs::write(path, contents).expect("a file");
    }
    world.reopen();
    world.store.erasures().set_key(KEY);
    world.store.record().flush().await.expect("the record is complete");
    assert_eq!(recorded(&world), [1, 1]);
    assert_eq!(world.store.erasures().replay(world.now).await.expect("it is erased"), 1);
    assert_eq!(recorded(&world), [0, 0]);
}

/// Returns the files of the record that have the digest of a number.
fn record_files_with(world: &World, number: Msisdn) -> Vec<String> {
    // SQLite stores it in six octets.
    let octets = digest(number).to_stored().to_be_bytes();
    let mut files = files_containing(world.path(), &octets[2..]);
    files.retain(|file| file.contains("record.db"));
    files
}

#[tokio::test]
async fn number_of_rejected_requests_is_erased_though_no_message_has_it() {
    let mut world = World::with_record().await;
    let other = recipient();
    for (account, to) in [(ALICE, person()), (BOB, person()), (ALICE, other)] {
        note_rejected(&world, account, to, world.now);
    }
    assert_eq!((found_requests(&world, person()).await, found_requests(&world, other).await), (2, 1));
    assert!(!record_files_with(&world, person()).is_empty());
    world.store.close().await.expect("the store closes");
    let record = std::fs::read(world.path().join("record.db")).expect("a record");
    world.reopen();
    world.store.erasures().set_key(KEY);
    for (account, left) in [(Some(ALICE), 1), (None, 0)] {
        world.store.erasures().erase_number(person(), account, world.now).await.expect("it is erased");
        assert_eq!(found_requests(&world, person()).await, left);
    }
    assert_eq!(record_files_with(&world, person()), Vec::<String>::new());
    assert_eq!(found_requests(&world, other).await, 1);
    // Another node sends a line from before the erasure.
    note_rejected(&world, ALICE, person(), world.now);
    assert_eq!(found_requests(&world, person()).await, 0);
    note_rejected(&world, ALICE, person(), world.now.plus(secs(120)));
    assert_eq!(found_requests(&world, person()).await, 1, "the person is a recipient again");
    world.store.close().await.expect("the store closes");

    // The folder of a node that was away has an older record, and not the erasure.
    std::fs::write(world.path().join("record.db"), record).expect("a record");
    std::fs::remove_file(world.path().join(ERASURES_FILE)).expect("the list");
    world.reopen();
    world.store.erasures().set_key(KEY);
    assert_eq!(found_requests(&world, person()).await, 2);
    assert_eq!(world.store.erasures().replay(world.now).await.expect("it is erased"), 0);
    assert_eq!((found_requests(&world, person()).await, found_requests(&world, other).await), (0, 1));
    assert_eq!(record_files_with(&world, person()), Vec::<String>::new());
}
