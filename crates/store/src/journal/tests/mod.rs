//! The journal's rules on the real file system.

mod crash;
mod damage;
mod recycling;
mod simulated_disk;

use super::files::Files as _;
use super::format::RECORD_BYTES_MAX;
use super::recovery::{Recovered, Summary};
use super::{
    DamageKind, HistoryId, Journal, JournalBatch, JournalError, JournalLimits, OsFiles, Position, check, open,
};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const HISTORY: HistoryId = HistoryId([7; 16]);
const SMALL: JournalLimits = JournalLimits { first_segment: 16_384, segment_max: 65_536, free_max: 100_000 };

fn at(last: u64) -> Position {
    Position { history: HISTORY, last, checksum: None }
}

type Replayed = Vec<(u64, u8, Vec<u8>)>;

fn recover(folder: &Path, applied: u64) -> Result<(Recovered<OsFiles>, Replayed), JournalError> {
    let mut replayed = Vec::new();
    let recovered = open(OsFiles, folder, at(applied))?;
    recovered.replay(at(applied), &mut |batch: JournalBatch<'_>| {
        replayed.push((batch.sequence, batch.encoding, batch.payload.to_vec()));
        Ok::<_, JournalError>(())
    })?;
    Ok((recovered, replayed))
}

fn start(folder: &Path, applied: u64) -> Journal {
    let (recovered, _) = recover(folder, applied).unwrap();
    let last = recovered.last_sequence();
    Journal::start(recovered, last, SMALL).unwrap()
}

fn segments(folder: &Path) -> Vec<PathBuf> {
    let mut names = OsFiles.list(folder).unwrap();
    names.sort();
    names.into_iter().map(|name| folder.join(name)).collect()
}

#[test]
fn appended_batches_are_replayed_after_the_applied_one() {
    let folder = TempDir::new().unwrap();
    let mut journal = start(folder.path(), 0);
    for number in 1..=5u8 {
        assert_eq!(journal.append(number, &[number; 100]).unwrap(), u64::from(number));
    }
    assert_eq!((journal.last_sequence(), journal.backlog_bytes()), (5, 5 * 144));
    journal.trim(3);
    assert_eq!(journal.backlog_bytes(), 2 * 144);
    drop(journal);

    let (recovered, replayed) = recover(folder.path(), 3).unwrap();
    assert_eq!(replayed, [(4, 4, vec![4; 100]), (5, 5, vec![5; 100])]);
    let expected = Summary { range: Some((4, 5)), payload_bytes: 200, torn: None };
    assert_eq!(recovered.summary(), &expected);
    assert_eq!(check(&OsFiles, folder.path(), at(3)).unwrap(), expected);
    let refused = Journal::start(recovered, 4, SMALL).err();
    assert!(matches!(refused, Some(JournalError::NotApplied { last: 5, applied: 4 })), "{refused:?}");

    let mut journal = start(folder.path(), 5);
    assert_eq!(journal.append(0, b"next").unwrap(), 6);
    let newest = segments(folder.path()).pop().unwrap();
    assert_eq!(newest.file_name().unwrap(), "journal-00000002.log", "a found segment is never continued");
    assert_eq!(std::fs::metadata(&newest).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn database_that_is_ahead_of_the_journal_continues_after_its_own_batch() {
    let folder = TempDir::new().unwrap();
    start(folder.path(), 0).append(0, b"one").unwrap();
    let mut journal = start(folder.path(), 9);
    assert_eq!(journal.append(0, b"ten").unwrap(), 10);
    drop(journal);
    let (recovered, replayed) = recover(folder.path(), 9).unwrap();
    assert_eq!(replayed, [(10, 0, b"ten".to_vec())]);
    let mut journal = Journal::start(recovered, 10, SMALL).unwrap();
    assert_eq!(journal.append(0, b"after").unwrap(), 11);
}

#[test]
fn journal_that_begins_after_a_gap_is_rejected() {
    let folder = TempDir::new().unwrap();
    start(folder.path(), 9).append(0, b"ten").unwrap();
    let Err(JournalError::Damaged(damage)) = recover(folder.path(), 4) else { panic!() };
    assert_eq!((&damage.kind, damage.lost), (&DamageKind::Missing, (5, 9)));
    let text = damage.to_string();
    assert!(text.contains("batches 5 to 9 are missing"), "{text}");
    assert!(text.contains("up to 4, and 6 follow"), "{text}");
}

#[test]
fn journal_of_another_store_is_rejected() {
    let folder = TempDir::new().unwrap();
    drop(start(folder.path(), 0));
    let other = check(&OsFiles, folder.path(), Position { history: HistoryId([8; 16]), ..at(0) });
    assert!(matches!(other, Err(JournalError::OtherHistory { .. })), "{other:?}");
}

#[test]
fn incomplete_last_batch_is_dropped() {
    let folder = TempDir::new().unwrap();
    let mut journal = start(folder.path(), 0);
    journal.append(0, &[1; 1000]).unwrap();
    journal.append(0, &[2; 1000]).unwrap();
    drop(journal);
    let path = segments(folder.path()).pop().unwrap();
    let mut content = std::fs::read(&path).unwrap();
    content[4096 + 1040 + 500..].fill(0);
    std::fs::write(&path, &content).unwrap();
    let (recovered, replayed) = recover(folder.path(), 0).unwrap();
    assert_eq!(replayed, [(1, 0, vec![1; 1000])]);
    assert_eq!(recovered.summary().torn, Some((path, 4096 + 1040)));
    assert_eq!(Journal::start(recovered, 1, SMALL).unwrap().append(0, b"again").unwrap(), 2);
}

#[test]
fn segments_grow_and_are_recycled() {
    let folder = TempDir::new().unwrap();
    let mut journal = start(folder.path(), 0);
    for _ in 0..400 {
        let sequence = journal.append(0, &[5; 3000]).unwrap();
        journal.trim(sequence.saturating_sub(20));
    }
    drop(journal);
    let sizes: Vec<u64> =
        segments(folder.path()).iter().map(|path| std::fs::metadata(path).unwrap().len()).collect();
    assert!(sizes.contains(&65_536), "{sizes:?}");
    assert!(sizes.iter().sum::<u64>() < 450_000, "1.2 MB were written: {sizes:?}");
    let (_, replayed) = recover(folder.path(), 380).unwrap();
    assert_eq!(replayed.len(), 20);
}

#[test]
fn batch_larger_than_a_segment_gets_its_own() {
    let folder = TempDir::new().unwrap();
    let mut journal = start(folder.path(), 0);
    let large = vec![9; 300_000];
    journal.reserve(large.len()).unwrap();
    journal.append(0, b"small").unwrap();
    journal.append(1, &large).unwrap();
    journal.append(0, b"small").unwrap();
    let mut sizes = Vec::new();
    journal
        .read_after(1, &mut |batch: JournalBatch<'_>| {
            sizes.push(batch.payload.len());
            Ok::<_, JournalError>(())
        })
        .unwrap();
    assert_eq!(sizes, [300_000, 5]);
    drop(journal);
    assert_eq!(recover(folder.path(), 0).unwrap().1[1].2, large);
}

#[test]
fn batch_over_the_limit_is_rejected_and_the_journal_goes_on() {
    let folder = TempDir::new().unwrap();
    let mut journal = start(folder.path(), 0);
    let error = journal.append(0, &vec![0; RECORD_BYTES_MAX + 1]).unwrap_err();
    assert!(matches!(error, JournalError::RecordTooLarge { .. }) && !error.is_fatal(), "{error}");
    assert!(journal.reserve(RECORD_BYTES_MAX + 1).is_err());
    assert_eq!(journal.append(0, b"fits").unwrap(), 1);
}

#[test]
fn reserved_space_is_written_before_it_is_used() {
    let folder = TempDir::new().unwrap();
    let mut journal = start(folder.path(), 0);
    journal.reserve(20_000).unwrap();
    let allocated = |folder: &Path| -> u64 {
        segments(folder).iter().map(|path| std::fs::metadata(path).unwrap().len()).sum()
    };
    let before = allocated(folder.path());
    journal.append(0, &[1; 20_000]).unwrap();
    assert_eq!(allocated(folder.path()), before);
}

#[test]
fn wiped_journal_has_no_trace_of_earlier_texts() {
    let folder = TempDir::new().unwrap();
    let mut journal = start(folder.path(), 0);
    let secret = b"text of an erased number";
    let traces = |folder: &Path| {
        let has_trace = |path: &PathBuf| {
            std::fs::read(path).unwrap().windows(secret.len()).any(|window| window == secret)
        };
        segments(folder).iter().filter(|path| has_trace(path)).count()
    };
    for _ in 0..600 {
        let sequence = journal.append(0, secret).unwrap();
        journal.trim(sequence - 1);
    }
    journal.wipe_free().unwrap();
    journal.append(0, b"later").unwrap();
    assert!(journal.pending_wipes() > 0 && traces(folder.path()) > 0, "the last batch is not applied yet");
    journal.trim(600);
    // Dropping the journal does not wait for the wipes, so wait here.
    while journal.pending_wipes() > 0 {
        std::thread::yield_now();
    }
    assert_eq!(traces(folder.path()), 0);
    let mut left = Vec::new();
    let mut visit = |batch: JournalBatch<'_>| {
        left.push(batch.sequence);
        Ok::<_, JournalError>(())
    };
    journal.read_after(600, &mut visit).unwrap();
    assert_eq!(left, [601]);
}

#[test]
fn found_segments_are_wiped_after_a_restart() {
    let folder = TempDir::new().unwrap();
    start(folder.path(), 0).append(0, b"text").unwrap();
    let journal = start(folder.path(), 1);
    while journal.pending_wipes() > 0 {
        std::thread::yield_now();
    }
    let content = std::fs::read(&segments(folder.path())[0]).unwrap();
    assert!(content.iter().all(|byte| *byte == 0));
}

#[test]
fn folder_without_journal_starts_after_the_applied_batch() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("journal-1.log.bak"), b"not ours").unwrap();
    let mut journal = start(folder.path(), 41);
    assert_eq!(journal.append(0, b"").unwrap(), 42);
    drop(journal);
    assert_eq!(recover(folder.path(), 41).unwrap().1, [(42, 0, Vec::new())]);
}
