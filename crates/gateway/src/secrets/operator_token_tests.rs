//! Unit tests of `operator_token.rs`.

use super::*;
use std::os::unix::fs::PermissionsExt;

fn config(folder: &Path) -> Config {
    let mut config = Config::defaults();
    config.data.folder = folder.to_owned();
    config
}

#[test]
fn token_is_generated_once_with_mode_0600() {
    let folder = tempfile::tempdir().unwrap();
    let (config, pepper) = (config(folder.path()), Pepper::new(b"pepper"));
    let made = OperatorToken::load_or_make(&config, &pepper).unwrap();
    let path = folder.path().join(FILE);
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let token = read(&path).unwrap();
    assert_eq!(token.len(), MADE_CHARS);
    assert!(made.matches(&token));
    assert!(!made.matches(&token[1..]));
    assert!(OperatorToken::load_or_make(&config, &pepper).unwrap().matches(&token));
}

#[test]
fn token_of_a_named_operator_is_found_until_the_entry_is_removed() {
    let pepper = Pepper::new(b"pepper");
    let main = OperatorToken::new(&pepper, "main-token-of-many-characters");
    let (role, until) = (OperatorRole::Support, Some(Timestamp::from_millis(2_000)));
    let entry = |token: &str| OperatorEntry { token_digest: pepper.digest(token), role, until };
    let operators = [("ann".to_owned(), entry("anns")), ("bob".to_owned(), entry("bobs"))];
    let bob = TokenHolder::Named { name: "bob".to_owned(), entry: entry("bobs") };
    let holder = |token: &str, known: &[(String, OperatorEntry)]| {
        main.holder_of(token, known).map(|(holder, _)| holder)
    };
    assert_eq!(holder("main-token-of-many-characters", &operators), Some(TokenHolder::DataFolder));
    assert_eq!(holder("bobs", &operators), Some(bob.clone()));
    assert_eq!(bob.expired(Timestamp::from_millis(1_999)), None);
    assert_eq!(bob.expired(Timestamp::from_millis(2_000)), until);
    let [before, at] = [1_999, 2_000].map(Timestamp::from_millis);
    let promoted = ("bob".to_owned(), OperatorEntry { role: OperatorRole::Admin, ..entry("bobs") });
    assert!(bob.is_unchanged(&operators, before) && !bob.is_unchanged(&operators, at));
    for others in [&operators[..1], &[promoted], &[("bob".to_owned(), entry("another"))]] {
        assert!(!bob.is_unchanged(others, before), "{others:?}");
    }
    assert_eq!((bob.role(), TokenHolder::DataFolder.role()), (role, OperatorRole::Admin));
    assert_eq!(holder("bobs", &operators[..1]), None);
    assert_eq!(holder("", &operators), None);
}

#[test]
fn configured_token_file_must_exist_and_be_valid() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = config(folder.path());
    config.operator.token_file = Some(folder.path().join("mine"));
    let pepper = Pepper::new(b"pepper");
    assert!(OperatorToken::load_or_make(&config, &pepper).is_err());
    for (text, fine) in [
        ("short", false),
        ("twenty-six characters, spaces\n", false),
        ("0123456789abcdefghijklmno\n", false),
        ("0123456789abcdefghijklmnop\n", true),
    ] {
        std::fs::write(folder.path().join("mine"), text).unwrap();
        assert_eq!(OperatorToken::load_or_make(&config, &pepper).is_ok(), fine, "{text}");
    }
}
