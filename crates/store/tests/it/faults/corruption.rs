//! Changed and missing bytes in the database, its log and the journal: found when opening or by the audit, or without effect on
//! acknowledged data. A balance is never silently wrong.

use crate::world::*;
use hermod_domain::lifecycle::DeliveryOutcome;
use hermod_store::{Acceptance, Store};
use proptest::prelude::Rng;
use proptest::test_runner::{RngAlgorithm, TestRng};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const SPOTS: usize = 120;
/// Octets of a page of the database, and the distance between pages that are tried.
const PAGE: usize = 4_096;
const PAGES_APART: usize = 3;

struct Image {
    folder: TempDir,
    balances: (i64, i64),
    messages: u64,
}

/// Returns a store as a crash leaves it: some batches in the database, some in its log, the last only in the journal.
async fn crashed() -> Image {
    let mut world = World::new().await;
    world.pay_in(BOB, 500_000_000).await;
    // Enough messages before the checkpoint that the log does not contain every page of the database.
    for (round, messages) in [(0, 300), (1, 40)] {
        let link = world.link_with_slots(messages).await;
        for number in 0..u64::from(messages) {
            let account = if number % 3 == 0 { BOB } else { ALICE };
            world.send(Acceptance { account, key: Some(key(round * 1_000 + number)), ..world.sms() }).await;
        }
        let jobs = link.take_jobs(usize::try_from(messages).expect("a few hundred")).await;
        for job in jobs.iter().skip(10) {
            let id = job.message.to_string();
            let accepted = answer(job, hermod_store::SubmitResponse::Accepted(remote(&id)));
            link.respond(vec![accepted], vec![receipt(1, &id, DeliveryOutcome::Delivered)]).await;
        }
        world.flush().await;
        if round == 0 {
            world.restart().await;
        }
    }
    let folder = copy_of(world.path());
    let report = Store::audit(world.path()).expect("an audit");
    assert!(report.is_clean());
    Image {
        folder,
        balances: (world.balance(ALICE).await, world.balance(BOB).await),
        messages: report.messages,
    }
}

/// Returns the journal's files.
fn journal_files(folder: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder).expect("the folder").flatten().map(|file| file.path());
    let is_journal =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("journal-"));
    let mut files: Vec<PathBuf> = files.filter(is_journal).collect();
    files.sort();
    files
}

impl Image {
    fn copy(&self) -> TempDir {
        copy_of(self.folder.path())
    }

    /// Returns whether the damage was found or had no effect; panics otherwise.
    async fn classify(&self, folder: &Path, damage: &str) -> &'static str {
        let Ok(store) = Store::open(&options(folder, noon())) else { return "refused" };
        let (alice, bob) = (store.money().balance(ALICE).await, store.money().balance(BOB).await);
        let report = Store::audit(folder);
        drop(store);
        let (Ok(alice), Ok(bob), Ok(report)) = (alice, bob, report) else { return "unreadable" };
        if !report.is_clean() {
            return "audited";
        }
        let balances = (alice.balance.as_micros(), bob.balance.as_micros());
        assert_eq!((balances, report.messages), (self.balances, self.messages), "{damage}: silently wrong");
        "harmless"
    }
}

fn damage(folder: &Path, random: &mut TestRng) -> String {
    let mut files = journal_files(folder);
    files.extend(["hermod.db", "hermod.db-wal"].map(|name| folder.join(name)));
    files.retain(|file| std::fs::metadata(file).is_ok_and(|file| file.len() > 0));
    let file = files.swap_remove(usize::try_from(random.next_u32()).expect("32 bits") % files.len());
    let mut bytes = std::fs::read(&file).expect("the file");
    // Behind its last record a segment of the journal has zeros.
    let used = bytes.iter().rposition(|byte| *byte != 0).map_or(bytes.len(), |last| last + 1);
    let spot = usize::try_from(random.next_u64()).expect("64 bits") % used;
    let kind = random.next_u32() % 4;
    match kind {
        0 => bytes.truncate(spot),
        // A sector that was not written.
        1 => bytes[spot..].iter_mut().take(512).for_each(|byte| *byte = 0),
        _ => bytes[spot] ^= 1 << (random.next_u32() % 8),
    }
    std::fs::write(&file, bytes).expect("the file is written");
    format!("{} {kind} at {spot}", file.display())
}

#[tokio::test]
async fn damaged_bytes_never_make_a_balance_silently_wrong() {
    if on_postgres("damaged files of the embedded store") {
        return;
    }
    let image = crashed().await;
    let untouched = image.copy();
    assert_eq!(image.classify(untouched.path(), "nothing").await, "harmless");

    let mut random = TestRng::from_seed(RngAlgorithm::ChaCha, &[11; 32]);
    let mut fates = std::collections::BTreeMap::new();
    for _ in 0..SPOTS {
        let copy = image.copy();
        let damage = damage(copy.path(), &mut random);
        *fates.entry(image.classify(copy.path(), &damage).await).or_insert(0) += 1;
    }
    assert!(fates.get("refused") > Some(&10), "a damaged journal is rejected: {fates:?}");
}

#[tokio::test]
async fn lost_pages_of_the_database_never_make_a_balance_silently_wrong() {
    if on_postgres("damaged files of the embedded store") {
        return;
    }
    let image = crashed().await;
    let pages = std::fs::read(image.folder.path().join("hermod.db")).unwrap().len() / PAGE;
    let mut fates = std::collections::BTreeMap::new();
    for page in (1..pages).step_by(PAGES_APART) {
        let copy = image.copy();
        let file = copy.path().join("hermod.db");
        let mut bytes = std::fs::read(&file).unwrap();
        bytes[page * PAGE..][..PAGE].fill(0);
        std::fs::write(&file, bytes).unwrap();
        *fates.entry(image.classify(copy.path(), &format!("page {page}")).await).or_insert(0) += 1;
    }
    assert!(fates.contains_key("audited") || fates.contains_key("unreadable"), "{pages} pages: {fates:?}");
}

#[tokio::test]
async fn lost_log_is_replaced_by_the_journal() {
    if on_postgres("damaged files of the embedded store") {
        return;
    }
    let image = crashed().await;
    let log = |copy: &TempDir| copy.path().join("hermod.db-wal");
    let cut = image.copy();
    let bytes = std::fs::read(log(&cut)).unwrap();
    std::fs::write(log(&cut), &bytes[..bytes.len() / 2]).unwrap();
    let missing = image.copy();
    std::fs::remove_file(log(&missing)).unwrap();
    for copy in [cut, missing] {
        let fate = image.classify(copy.path(), "a lost log").await;
        assert_eq!(fate, "harmless", "the journal has its batches");
    }
}

#[tokio::test]
async fn cut_or_missing_journal_is_rejected() {
    if on_postgres("damaged files of the embedded store") {
        return;
    }
    let image = crashed().await;
    let cut = image.copy();
    for file in journal_files(cut.path()) {
        let mut bytes = std::fs::read(&file).unwrap();
        // The last record of the segment.
        if let Some(last) = bytes.iter().rposition(|byte| *byte != 0) {
            bytes[last] ^= 1;
        }
        std::fs::write(&file, bytes).unwrap();
    }
    let missing = image.copy();
    journal_files(missing.path()).iter().for_each(|file| std::fs::remove_file(file).unwrap());
    for copy in [cut, missing] {
        let error = Store::open(&options(copy.path(), noon())).err().expect("refused");
        assert!(error.to_string().contains("were acknowledged"), "{error}");
    }
}

/// Returns the segment with the newest batches.
fn newest_segment(folder: &Path) -> PathBuf {
    journal_files(folder).into_iter().rfind(|file| has_record(file)).expect("a segment")
}

/// Flips a bit this far before the end of the newest record.
fn damage_newest(folder: &Path, before_the_end: usize) {
    let newest = newest_segment(folder);
    let mut bytes = std::fs::read(&newest).expect("the segment");
    let used = bytes.iter().rposition(|byte| *byte != 0).expect("a record");
    bytes[used - before_the_end] ^= 1;
    std::fs::write(&newest, bytes).expect("the segment is written");
}

/// The mark knows that the last record was acknowledged, so that it is not taken for a write that was interrupted.
#[tokio::test]
async fn damaged_last_record_that_was_acknowledged_is_refused_and_salvage_keeps_all_before_it() {
    if on_postgres("damaged files of the embedded store") {
        return;
    }
    let world = World::new().await;
    let copy = copy_before_a_flush(&world).await;
    damage_newest(copy.path(), 0);
    let refused = Store::open(&options(copy.path(), noon())).err().expect("refused").to_string();
    assert!(refused.contains("were acknowledged") && refused.contains("hermod journal salvage"), "{refused}");

    let planned = Store::salvage_journal(copy.path(), true).expect("a plan");
    assert_eq!((planned.lost, planned.moved_to), (1, None));
    assert!(planned.kept >= BATCHES_LACKED_MIN - 1, "{} batches", planned.kept);
    assert!(Store::open(&options(copy.path(), noon())).is_err(), "a dry run changes nothing");
    let salvaged = Store::salvage_journal(copy.path(), false).expect("a salvage");
    assert_eq!((salvaged.kept, salvaged.lost), (planned.kept, 1));
    assert!(salvaged.moved_to.is_some_and(|folder| !journal_files(&folder).is_empty()), "the files are kept");
    assert_continues(copy.path(), salvaged.last).await;
}

/// Opens a folder whose journal was salvaged up to this batch. Each batch accepts one message, after the first, which pays in.
async fn assert_continues(folder: &Path, last: u64) {
    let store = Store::open(&options(folder, noon())).expect("it opens again");
    let messages = i64::try_from(last).expect("some batches") - 1;
    assert_eq!(
        store.money().balance(ALICE).await.expect("a balance").balance.as_micros(),
        1_000_000_000 - messages * PRICE
    );
    store.accept(sms(noon())).await.expect("it accepts");
    store.close().await.expect("it closes");
    assert_audit_clean(folder);
}

#[tokio::test]
async fn salvage_keeps_every_batch_before_damage_and_leaves_an_intact_journal_alone() {
    if on_postgres("damaged files of the embedded store") {
        return;
    }
    let world = World::new().await;
    let copy = copy_before_a_flush(&world).await;
    let intact = Store::salvage_journal(copy.path(), false).expect("nothing to do");
    assert_eq!((intact.lost, intact.moved_to, intact.damage), (0, None, None));
    damage_newest(copy.path(), BYTES_BEFORE_THE_END);
    let refused = Store::open(&options(copy.path(), noon())).err().expect("refused").to_string();
    assert!(
        refused.contains("is damaged at byte") && refused.contains("hermod journal salvage"),
        "{refused}"
    );
    let salvaged = Store::salvage_journal(copy.path(), false).expect("a salvage");
    assert!(salvaged.kept > 0 && salvaged.lost > 1, "{salvaged:?}");
    assert_eq!(salvaged.last + salvaged.lost, intact.last, "all others are known as lost");
    assert_continues(copy.path(), salvaged.last).await;
}

/// Returns the byte range of an index in the file, from its first entry on.
fn entries_of_index(folder: &Path, name: &str) -> std::ops::Range<usize> {
    let connection = sqlite(folder);
    let number = |query: &str| -> usize {
        let number: i64 = connection.query_row(query, [], |row| row.get(0)).expect("a number");
        usize::try_from(number).expect("a small number")
    };
    let page_bytes = number("PRAGMA page_size");
    let begin =
        (number(&format!("SELECT rootpage FROM sqlite_schema WHERE name = '{name}'")) - 1) * page_bytes;
    let bytes = std::fs::read(folder.join("hermod.db")).expect("the file");
    assert_eq!(bytes[begin], 10, "a leaf page of an index: the whole index");
    let first = usize::from(u16::from_be_bytes([bytes[begin + 5], bytes[begin + 6]]));
    begin + first..begin + page_bytes
}

#[tokio::test]
async fn changed_byte_in_an_index_is_always_found_by_the_audit() {
    if on_postgres("damaged files of the embedded store") {
        return;
    }
    let world = World::new().await;
    for amount in 1..20 {
        world.pay_in(BOB, amount).await;
    }
    world.store.close().await.unwrap();
    let entries = entries_of_index(world.path(), "ledger_account");
    assert!(entries.len() > 60, "{entries:?}");
    let file = world.path().join("hermod.db");
    let sound = std::fs::read(&file).unwrap();
    for spot in entries {
        let mut bytes = sound.clone();
        bytes[spot] ^= 1;
        std::fs::write(&file, bytes).unwrap();
        assert!(!Store::audit(world.path()).is_ok_and(|report| report.is_clean()), "byte {spot}");
    }
    std::fs::write(&file, sound).unwrap();
    world.assert_audit_clean();
}

#[tokio::test]
async fn journal_is_checked_beside_a_running_store_and_damage_is_found() {
    if on_postgres("damaged files of the embedded store") {
        return;
    }
    let world = World::new().await;
    for number in 0..500 {
        world.send(Acceptance { key: Some(key(number)), ..world.sms() }).await;
        let lacking = Store::check_live_journal(world.path()).expect("an intact journal");
        assert!(lacking <= number + 2, "{lacking} batches after message {number}");
    }
    let copy = within(PATIENCE, copy_before_a_flush(&world)).await.expect("a copy before a flush");
    let newest = journal_files(copy.path()).into_iter().rfind(|file| has_record(file)).expect("a segment");
    let mut bytes = std::fs::read(&newest).expect("the segment");
    // One of the records that the database lacks.
    let used = bytes.iter().rposition(|byte| *byte != 0).expect("a record");
    bytes[used - BYTES_BEFORE_THE_END] ^= 1;
    std::fs::write(&newest, bytes).expect("the segment is written");
    let error = Store::check_live_journal(copy.path()).expect_err("a record is damaged").to_string();
    assert!(error.contains("journal-"), "{error}");
}

/// Copies the files of a running store at a moment when its database lacks more records of the journal than the test damages.
/// A flush may happen while the files are copied; the next copy then has a chance.
async fn copy_before_a_flush(world: &World) -> TempDir {
    let mut try_number = 0;
    loop {
        for number in 0..BATCHES_LACKED_MIN {
            let key = key(1_000 + try_number * BATCHES_LACKED_MIN + number);
            world.send(Acceptance { key: Some(key), ..world.sms() }).await;
        }
        let copy = copy_of(world.path());
        if Store::check_live_journal(copy.path()).is_ok_and(|lacked| lacked >= BATCHES_LACKED_MIN) {
            return copy;
        }
        try_number += 1;
    }
}

/// More than the damage is away from the end.
const BATCHES_LACKED_MIN: u64 = 8;
/// Where the first record of a segment begins.
const FIRST_RECORD: usize = 4_096;
/// A few messages.
const BYTES_BEFORE_THE_END: usize = 1_000;

fn has_record(file: &Path) -> bool {
    std::fs::read(file)
        .is_ok_and(|bytes| bytes.get(FIRST_RECORD..).is_some_and(|rest| rest.starts_with(b"jrec")))
}
