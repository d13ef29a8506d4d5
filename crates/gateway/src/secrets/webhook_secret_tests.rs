//! Unit tests of `webhook_secret.rs`.

use super::*;

#[test]
fn short_or_invalid_secret_is_rejected() {
    for (length, fits) in [(15, false), (16, true), (256, true), (257, false)] {
        assert_eq!(read("x".repeat(length)).is_ok(), fits, "{length}");
    }
    assert_eq!(read("sixteen and more".to_owned()), Err(NoSecret));
    assert_eq!(read("übermäßig-geheim".to_owned()), Err(NoSecret));
}

#[test]
fn secret_is_decrypted_only_for_its_account() {
    let pepper = Pepper::new(b"pepper");
    let secret = make().unwrap();
    assert_eq!(secret.reveal().len(), SECRET_CHARS);
    let sealed = seal(&pepper, AccountId::new(7), &secret);
    assert_eq!(open(&pepper, AccountId::new(7), &sealed), Ok(secret));
    assert!(open(&pepper, AccountId::new(8), &sealed).is_err());
}
