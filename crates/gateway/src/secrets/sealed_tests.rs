//! Unit tests of `sealed.rs`.

use super::*;

fn opened(pepper: &[u8], owner: &str, stored: &str) -> Result<String, Unopened> {
    open(&Pepper::new(pepper), owner, stored).map(|secret| secret.reveal().to_owned())
}

#[test]
fn secret_is_decrypted_only_with_its_pepper_and_owner() {
    let pepper = Pepper::new(b"pepper");
    let sealed = seal(&pepper, "acme", &Secret::new("s3cret08"));
    assert!(!sealed.contains("s3cret08"), "{sealed}");
    assert_eq!(sealed, seal(&pepper, "acme", &Secret::new("s3cret08")), "encryption is deterministic");
    assert_ne!(sealed, seal(&pepper, "other", &Secret::new("s3cret08")));
    assert_eq!(opened(b"pepper", "acme", &sealed), Ok("s3cret08".to_owned()));
    assert_eq!(opened(b"salt", "acme", &sealed), Err(Unopened));
    assert_eq!(opened(b"pepper", "other", &sealed), Err(Unopened));
}

#[test]
fn unencrypted_text_is_read_and_a_corrupt_one_is_rejected() {
    assert_eq!(opened(b"pepper", "acme", "plain"), Ok("plain".to_owned()));
    assert_eq!(opened(b"pepper", "acme", ""), Ok(String::new()));
    let sealed = seal(&Pepper::new(b"pepper"), "acme", &Secret::new(""));
    assert_eq!(opened(b"pepper", "acme", &sealed), Ok(String::new()));
    for damaged in ["sealed:", "sealed:AAAA", "sealed:!!!", &sealed[..sealed.len() - 2]] {
        assert_eq!(opened(b"pepper", "acme", damaged), Err(Unopened), "{damaged}");
    }
}
