//! Unit tests of `erasure_list.rs`.

use super::*;

#[test]
fn erasures_are_kept_once_per_number_and_not_for_ever() {
    let folder = tempfile::TempDir::new().unwrap();
    let erasure = |digest: u8, account: u32, at: i64| KeptErasure {
        digest: NumberDigest([digest; 32]),
        account: (account > 0).then(|| AccountId::new(account)),
        at: Timestamp::from_millis(at),
    };
    assert_eq!(read(folder.path()).unwrap(), []);
    add(folder.path(), &[erasure(0xab, 0, 5), erasure(1, 7, 6)]).unwrap();
    add(folder.path(), &[erasure(0xab, 0, 9)]).unwrap();
    assert_eq!(read(folder.path()).unwrap(), [erasure(1, 7, 6), erasure(0xab, 0, 9)]);
    let much_later = 10 + i64::try_from(ERASURES_KEPT.as_millis()).unwrap();
    add(folder.path(), &[erasure(2, 0, much_later)]).unwrap();
    assert_eq!(read(folder.path()).unwrap(), [erasure(2, 0, much_later)]);
}

#[test]
fn line_that_is_cut_anywhere_is_left_out() {
    let folder = tempfile::TempDir::new().unwrap();
    let erasure = |digest: u8| KeptErasure {
        digest: NumberDigest([digest; 32]),
        account: None,
        at: Timestamp::from_millis(5_000),
    };
    add(folder.path(), &[erasure(1), erasure(2)]).unwrap();
    let whole = std::fs::read(folder.path().join(ERASURES_FILE)).unwrap();
    for length in whole.len() / 2..whole.len() {
        std::fs::write(folder.path().join(ERASURES_FILE), &whole[..length]).unwrap();
        assert_eq!(read(folder.path()).unwrap(), [erasure(1)], "{length} octets");
    }
}

#[test]
fn erasures_that_are_added_at_once_are_all_kept() {
    let folder = tempfile::TempDir::new().unwrap();
    let erasure = |digest: u8| KeptErasure {
        digest: NumberDigest([digest; 32]),
        account: None,
        at: Timestamp::from_millis(i64::from(digest)),
    };
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let folder = folder.path();
            scope.spawn(move || {
                (0..8).for_each(|count| add(folder, &[erasure(8 * thread + count)]).unwrap());
            });
        }
    });
    let mut all = read(folder.path()).unwrap();
    all.sort_unstable();
    assert_eq!(all, (0..32).map(erasure).collect::<Vec<_>>());
}
