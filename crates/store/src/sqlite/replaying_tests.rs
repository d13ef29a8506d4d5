//! Tests of a replay on a full disk: a small tmpfs.

use crate::error::StoreError;
use crate::journal::JournalBatch;
use crate::sql::{Connection, SqlTables};
use crate::sqlite::progress::BatchNumbers;
use crate::sqlite::salvage::salvage_journal;
use crate::sqlite::writing::WritingConnection;
use hermod_engine::ops::ProvisionedRow;
use hermod_engine::tables::{CHANGE_ENCODING, RowChange};
use rustix::fs::statvfs;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use tempfile::TempDir;

const DISK_BYTES: u64 = 96 * 1024 * 1024;
/// Rows of a page and more each: 8 MiB of changed pages, more than the reserve.
const ROWS: usize = 1_600;
const NEW_ROWS: usize = 20_000;
const ROW_BYTES: usize = 5_000;

/// A tmpfs that is unmounted on drop.
struct SmallDisk(TempDir);

impl SmallDisk {
    fn mount() -> SmallDisk {
        let folder = TempDir::new().expect("a temporary folder");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={DISK_BYTES}"), "hermod-test"])
            .arg(folder.path())
            .status();
        assert!(mounted.is_ok_and(|status| status.success()), "mounting a small disk needs root");
        SmallDisk(folder)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn free(&self) -> u64 {
        let disk = statvfs(self.path()).expect("a file system");
        disk.f_bavail * disk.f_frsize
    }

    /// Fills the disk to its last page.
    fn fill(&self) {
        let mut filler = File::create(self.path().join("filler")).expect("a file");
        while self.free() > 0 && filler.write_all(&[7; 4096]).is_ok() {}
    }

    /// Gives this much of a full disk free.
    fn free_again(&self, bytes: u64) {
        let filler = File::options().write(true).open(self.path().join("filler")).expect("the file");
        let size = filler.metadata().expect("its size").len();
        filler.set_len(size.checked_sub(bytes).expect("as much was filled")).expect("it is smaller");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg("--lazy").arg(self.path()).status();
        assert!(unmounted.is_ok_and(|status| status.success()) || std::thread::panicking());
    }
}

#[test]
fn batch_of_a_build_with_another_encoding_is_refused_with_the_sentence_of_its_database() {
    let connection = Connection::in_memory();
    let encoding = CHANGE_ENCODING.wrapping_add(1);
    let batch = JournalBatch { sequence: 1, encoding, checksum: 0, payload: b"" };
    let refused = super::apply(&batch, &SqlTables { connection: &connection }).expect_err("refused");
    let sentence = "the journal was made by a build from before the first release";
    assert!(refused.to_string().starts_with(sentence), "{refused}");
}

fn open(disk: &SmallDisk) -> Result<WritingConnection, StoreError> {
    WritingConnection::open(disk.path(), Arc::<BatchNumbers>::default())
}

/// Writes every row, a few in each batch.
fn write_rows(database: &WritingConnection, letter: &str) {
    for batch in (0..ROWS).collect::<Vec<_>>().chunks(4) {
        let transaction = database.begin().expect("a batch");
        let tables = database.tables();
        for row in batch {
            let (kind, name) = ("account".to_owned(), format!("row {row}"));
            tables.write(RowChange::Put(ProvisionedRow { kind, name, body: letter.repeat(ROW_BYTES) }));
        }
        tables.finish().expect("new rows");
        transaction.commit().expect("a commit");
    }
}

fn rows_with(disk: &SmallDisk, letter: &str) -> i64 {
    let reader = rusqlite::Connection::open(disk.path().join("hermod.db")).expect("the database");
    let query = "SELECT count(*) FROM provisioned WHERE substr(body, 1, 1) = ?1";
    reader.query_row(query, [letter], |row| row.get(0)).expect("a number")
}

/// Small rows in no order that pages are filled in, which only the journal has.
fn crashed_with_new_rows() -> SmallDisk {
    let disk = SmallDisk::mount();
    let database = open(&disk).expect("a new database");
    for batch in (0..NEW_ROWS).collect::<Vec<_>>().chunks(50) {
        let transaction = database.begin().expect("a batch");
        let tables = database.tables();
        for row in batch {
            let scattered = row.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let (kind, name) = ("key".to_owned(), format!("{scattered:016x}"));
            tables.write(RowChange::Put(ProvisionedRow { kind, name, body: "n".to_owned() }));
        }
        tables.finish().expect("new rows");
        transaction.commit().expect("a commit");
    }
    drop(database);
    disk
}

/// Every row is in the database, and changed by batches that only the journal has.
fn crashed() -> SmallDisk {
    let disk = SmallDisk::mount();
    let database = open(&disk).expect("a new database");
    write_rows(&database, "a");
    database.close();
    // The log is moved into the database by the start.
    let database = open(&disk).expect("it opens");
    write_rows(&database, "b");
    drop(database);
    assert_eq!(rows_with(&disk, "b"), 0);
    disk
}

#[test]
fn batches_larger_than_the_reserve_are_replayed_on_a_full_disk() {
    let disk = crashed();
    disk.fill();
    let database = open(&disk).expect("it opens on a full disk");
    assert_eq!(rows_with(&disk, "b"), i64::try_from(ROWS).expect("some rows"));
    drop(database);
}

/// Damages the newest batch.
fn damage_newest_batch(disk: &SmallDisk) {
    let files = std::fs::read_dir(disk.path()).expect("the folder").flatten().map(|file| file.path());
    let begins = |path: &Path, octets: &[u8], at: usize| {
        std::fs::read(path).is_ok_and(|bytes| bytes.get(at..).is_some_and(|rest| rest.starts_with(octets)))
    };
    let newest = files
        .filter(|path| path.extension().is_some_and(|end| end == "log") && begins(path, b"jrec", 4_096))
        .max()
        .expect("a segment with batches");
    let mut bytes = std::fs::read(&newest).expect("a segment");
    let last = bytes.iter().rposition(|byte| *byte != 0).expect("a batch");
    bytes[last] ^= 1;
    std::fs::write(&newest, bytes).expect("it is written");
}

#[test]
fn damaged_journal_larger_than_the_reserve_is_salvaged_on_a_full_disk() {
    let disk = crashed();
    damage_newest_batch(&disk);
    disk.fill();
    let salvaged = salvage_journal(disk.path(), false).expect("it is salvaged");
    assert_eq!(salvaged.lost, 1);
    assert!(salvaged.kept > 1 && salvaged.moved_to.is_some(), "{salvaged:?}");
    drop(open(&disk).expect("it opens"));
}

#[test]
fn start_without_any_space_says_how_much_is_needed_and_succeeds_with_it() {
    for (disk, letter, rows) in [(crashed(), "b", ROWS), (crashed_with_new_rows(), "n", NEW_ROWS)] {
        std::fs::remove_file(disk.path().join("hermod.reserve")).expect("the reserve is there");
        disk.fill();
        let refused = open(&disk).err().expect("no space at all");
        let StoreError::NoRoomToStart { needed, free, .. } = &refused else { panic!("{refused}") };
        assert!(*needed >= 4 * 1024 * 1024 && *free < *needed, "{refused}");
        disk.free_again(*needed);
        drop(open(&disk).expect("it opens with as much space as it asked for"));
        assert_eq!(rows_with(&disk, letter), i64::try_from(rows).expect("some rows"));
    }
}
