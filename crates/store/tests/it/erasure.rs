//! Erasure of one person's number: afterwards no file contains it or its texts, and the audit still passes.

use crate::mo::text;
use crate::world::*;
use hermod_domain::lifecycle::{DeliveryOutcome, MessageState};
use hermod_domain::phone::Msisdn;
use hermod_domain::text::MessageText;
use hermod_store::{Acceptance, Inbound, MoRecord, OptOut};
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
    assert_eq!(world.store.erase_number(person(), None).await.expect("it is erased").messages, 1);
    assert!(!names_recipient(origin()));
    let put_back = format!("UPDATE message SET origin = {} WHERE id = ?1", blob(&before));
    world.raw().change_with(&put_back, &[message.as_i64()]);
    let erased = world.store.erase_number(person(), None).await.expect("it is looked for");
    assert_eq!(erased.messages, 0, "the message has the substitute number");
    let substitute = Msisdn::parse_digits("9990000000").expect("a number");
    assert_eq!(world.store.erase_number(substitute, None).await.expect("it is erased").messages, 1);
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
    world.store.receive(inbound).await.expect("it is kept");
    let unowned = MoRecord { sequence: 9, part: text(PERSON, "99999", CANARY) };
    link.port.record(vec![], vec![], vec![unowned], 0, world.now).await.expect("it is kept");
    let opt_out = OptOut { account: BOB, number: person(), how: "asked".to_owned(), now: world.now };
    world.store.opt_out(opt_out).await.expect("it is kept");
    world.flush().await;
    // The carrier took one of them without an id.
    let unnamed = "INSERT INTO unnamed SELECT carrier, dest, id, 1, account, 0 FROM message WHERE id = ?1";
    world.raw().change_with(unnamed, &[done.as_i64()]);
    let before = world.balance(ALICE).await;

    let erased = world.store.erase_number(person(), None).await.expect("it is erased");
    assert_eq!((erased.messages, erased.inbound, erased.others), (1, 1, 1));
    assert_eq!((erased.in_progress, erased.named.as_slice()), (1, &[open][..]));
    link.receipt("open", DeliveryOutcome::Delivered).await;
    world.flush().await;
    let erased = world.store.erase_number(person(), None).await.expect("the rest is erased");
    assert_eq!((erased.messages, erased.inbound, erased.in_progress), (1, 0, 0));

    // The log is truncated within a second or two.
    wait_until("the text is gone", || files_containing(world.path(), CANARY.as_bytes()).is_empty()).await;
    assert_eq!(files_containing(world.path(), PERSON.as_bytes()), Vec::<String>::new());
    assert_eq!(world.raw().number(&format!("SELECT count(*) FROM message WHERE dest = {PERSON}")), 0);
    if !on_postgres("a copy of the embedded store") {
        let elsewhere = tempfile::TempDir::new().expect("a folder");
        world.store.copy_to(&elsewhere.path().join("hermod.db")).await.expect("a copy");
        assert_eq!(files_containing(elsewhere.path(), CANARY.as_bytes()), Vec::<String>::new());
    }

    assert_eq!(world.state(done).await, MessageState::Delivered, "its state is kept");
    assert_eq!(world.record(other).await.to, recipient(), "other people's numbers stay");
    assert_eq!(world.balance(ALICE).await, before);
    assert!(world.store.opted_out(BOB, person()).await.unwrap().is_some(), "the opt-out protects the person");
    world.restart().await;
    world.assert_audit_clean();
}
