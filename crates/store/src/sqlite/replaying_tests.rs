//! Tests of a replay on a full disk: a small tmpfs.

use crate::error::StoreError;
use crate::sqlite::progress::BatchNumbers;
use crate::sqlite::writing::WritingConnection;
use hermod_engine::ops::ProvisionedRow;
use hermod_engine::tables::CatalogueRowChange;
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
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg("--lazy").arg(self.path()).status();
        assert!(unmounted.is_ok_and(|status| status.success()) || std::thread::panicking());
    }
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
            tables.write(CatalogueRowChange::PutProvisioned(ProvisionedRow {
                kind,
                name,
                body: letter.repeat(ROW_BYTES),
            }));
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

#[test]
fn start_without_any_space_says_how_much_is_needed_and_succeeds_with_it() {
    let disk = crashed();
    std::fs::remove_file(disk.path().join("hermod.reserve")).expect("the reserve is there");
    disk.fill();
    let refused = open(&disk).err().expect("no space at all");
    let StoreError::NoRoomToStart { needed, free, .. } = &refused else { panic!("{refused}") };
    assert!(*needed >= 4 * 1024 * 1024 && *free < *needed, "{refused}");
    std::fs::remove_file(disk.path().join("filler")).expect("there is room again");
    drop(open(&disk).expect("it opens"));
    assert_eq!(rows_with(&disk, "b"), i64::try_from(ROWS).expect("some rows"));
}
