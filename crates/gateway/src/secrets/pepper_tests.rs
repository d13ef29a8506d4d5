//! Unit tests of `pepper.rs`.

use super::*;

#[test]
fn digest_matches_only_its_secret() {
    let pepper = Pepper::new(b"pepper");
    let digest = pepper.digest("s3cret");
    assert!(pepper.matches("s3cret", &digest));
    assert!(!pepper.matches("s3creT", &digest));
    assert!(!Pepper::new(b"salt").matches("s3cret", &digest));
}

#[test]
fn pepper_is_generated_for_an_empty_store_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let first = Pepper::load_or_make(folder.path(), StoreContents::Empty).unwrap();
    for contents in [StoreContents::Empty, StoreContents::InUse] {
        let again = Pepper::load_or_make(folder.path(), contents).unwrap();
        assert!(again.matches("s", &first.digest("s")));
    }
}

#[test]
fn missing_or_corrupt_pepper_of_a_used_store_is_rejected_and_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(PEPPER_FILE);
    let load = |contents| Pepper::load_or_make(folder.path(), contents).map(drop);
    assert!(matches!(load(StoreContents::InUse), Err(PepperError::Missing(_))));
    assert!(!path.exists());
    for length in [0, 31, 33, 64] {
        std::fs::write(&path, vec![7; length]).unwrap();
        for contents in [StoreContents::Empty, StoreContents::InUse] {
            let refused = load(contents);
            assert!(matches!(refused, Err(PepperError::WrongLength { found, .. }) if found == length));
        }
        assert_eq!(std::fs::read(&path).unwrap().len(), length, "it is left as it is");
    }
    // A folder in its place cannot be read, even by root.
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    assert!(matches!(load(StoreContents::Empty), Err(PepperError::Unreadable { .. })));
}

#[test]
fn pepper_of_the_settings_is_read_as_octets_or_digits_and_never_generated() {
    let folder = tempfile::tempdir().unwrap();
    let mut data = crate::config::Config::defaults().data;
    data.folder = folder.path().to_owned();
    let file = folder.path().join("mine");
    data.pepper_file = Some(file.clone());
    let load = || Pepper::load(&data, StoreContents::Empty);
    assert!(matches!(load(), Err(PepperError::Unreadable { .. })));
    let expect = Pepper::new(&[0xab; PEPPER_BYTES]).fingerprint();
    for text in
        [vec![0xab; PEPPER_BYTES], b"AB".repeat(PEPPER_BYTES), [b"ab".repeat(32), b"\n".to_vec()].concat()]
    {
        std::fs::write(&file, text).unwrap();
        assert_eq!(load().unwrap().fingerprint(), expect);
    }
    for text in [vec![7; 31], b"ab".repeat(31), b"xy".repeat(32), Vec::new()] {
        std::fs::write(&file, text).unwrap();
        assert!(matches!(load(), Err(PepperError::Invalid { .. })));
    }
    assert!(!folder.path().join(PEPPER_FILE).exists());
}

#[test]
fn fingerprint_differs_by_pepper_and_is_no_digest_of_a_secret() {
    let (one, other) = (Pepper::new(b"one"), Pepper::new(b"other"));
    assert_ne!(one.fingerprint(), other.fingerprint());
    assert_eq!(one.fingerprint(), Pepper::new(b"one").fingerprint());
    assert!(!one.digest("fingerprint of the pepper").starts_with(&hex(&one.fingerprint())));
}
