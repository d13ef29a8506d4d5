//! Unit tests of `duplicates.rs`.

use super::*;

#[test]
fn copies_beyond_the_first_are_counted() {
    let mut copies = Duplicates::new(10);
    for message in [1, 2, 3, 2, 3, 3] {
        copies.note(message);
    }
    assert_eq!((copies.extra(), copies.untracked()), (3, 0));
    let mut counts: Vec<u32> = copies.counts().collect();
    counts.sort_unstable();
    assert_eq!(counts, [2, 3]);
}

#[test]
fn new_messages_beyond_the_limit_are_counted_as_untracked() {
    let mut copies = Duplicates::new(2);
    for message in [1, 2, 3, 3, 1] {
        copies.note(message);
    }
    assert_eq!((copies.extra(), copies.untracked()), (1, 2));
}

#[test]
fn fingerprint_differs_by_destination_text_and_part_but_not_by_reference() {
    let part = |reference, sequence| Some(PartNumber { reference, total: 2, sequence });
    let hello = fingerprint(b"491", None, b"hello");
    assert_eq!(hello, fingerprint(b"491", None, b"hello"));
    assert_ne!(hello, fingerprint(b"492", None, b"hello"));
    assert_ne!(hello, fingerprint(b"491", None, b"hullo"));
    assert_ne!(hello, fingerprint(b"491", part(1, 1), b"hello"));
    assert_ne!(fingerprint(b"491", part(1, 1), b"x"), fingerprint(b"491", part(1, 2), b"x"));
    assert_eq!(fingerprint(b"491", part(1, 1), b"x"), fingerprint(b"491", part(9, 1), b"x"));
}
