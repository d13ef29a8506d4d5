//! Unit tests of `input_file.rs`.

use super::*;
use std::os::unix::fs::FileExt as _;

#[test]
fn file_beyond_the_limit_is_rejected_without_reading_it_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("prices.csv");
    std::fs::write(&path, "a\n1\n").unwrap();
    assert_eq!(read_file(&path, 4).unwrap(), "a\n1\n");
    // A gigabyte of holes.
    File::options().write(true).open(&path).unwrap().write_at(b"x", 1 << 30).unwrap();
    let error = read_file(&path, 1 << 20).unwrap_err();
    let error = format!("{error:?}");
    assert!(error.contains("prices.csv is larger than 1 MiB: split it"), "{error}");
}
