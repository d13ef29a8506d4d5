//! Unit tests of `commit_mark.rs`.

use super::*;

const HISTORY: HistoryId = HistoryId([7; 16]);

#[test]
fn folder_with_fewer_batches_than_its_mark_is_rejected() {
    let folder = tempfile::TempDir::new().unwrap();
    let open = |last| CommitMark::open(folder.path(), HISTORY, last);
    open(0).unwrap().committed(1);
    assert_eq!(CommitMark::read(folder.path()), Some(1));
    assert!(open(1).is_ok());

    let refused = open(0).err();
    assert!(matches!(refused, Some(StoreError::Behind { acknowledged: 1, found: 0, .. })), "{refused:?}");
    open(5).unwrap();
    assert_eq!(CommitMark::read(folder.path()), Some(5), "more batches are allowed");
    std::fs::write(folder.path().join(FILE_NAME), [9; MARK_BYTES]).unwrap();
    assert!(open(0).is_ok(), "a damaged mark is ignored");
    std::fs::remove_file(folder.path().join(FILE_NAME)).unwrap();
    assert!(open(0).is_ok(), "a missing mark is ignored");
}

#[test]
fn mark_of_another_history_is_rejected() {
    let folder = tempfile::TempDir::new().unwrap();
    CommitMark::open(folder.path(), HISTORY, 3).unwrap();
    let refused = CommitMark::open(folder.path(), HistoryId([8; 16]), 9).err();
    assert!(matches!(refused, Some(StoreError::OtherMark { .. })), "{refused:?}");
    assert_eq!(CommitMark::read(folder.path()), Some(3), "it is unchanged");
}
