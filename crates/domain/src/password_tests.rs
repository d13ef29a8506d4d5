//! Unit tests of `password.rs`.

use super::*;

const KNOWN: [&str; 3] = ["ann.miller@example.com", "Ann Miller", "lindgren"];

#[test]
fn common_short_and_personal_passwords_are_refused() {
    for (password, expect) in [
        ("short", WeakPassword::Length),
        ("password1234", WeakPassword::Common),
        ("Password1234!", WeakPassword::Common),
        ("passwordpassword", WeakPassword::Common),
        ("qwertyuiop12", WeakPassword::Common),
        ("qwertyuiopasdf", WeakPassword::Common),
        ("123456789012", WeakPassword::Common),
        ("1234567890123", WeakPassword::Common),
        ("987654321098", WeakPassword::Common),
        ("aaaaaaaaaaaa", WeakPassword::Common),
        ("abcabcabcabc", WeakPassword::Common),
        ("iloveyou1234", WeakPassword::Common),
        ("letmeinletmein", WeakPassword::Common),
        ("welcome2026!", WeakPassword::Common),
        ("1qaz2wsx3edc", WeakPassword::Common),
        ("correct horse battery staple", WeakPassword::Common),
        ("P@ssw0rd1234", WeakPassword::Common),
        ("Pa$$word2026!", WeakPassword::Common),
        ("passw0rd-2026", WeakPassword::Common),
        ("w31come-2026", WeakPassword::Common),
        ("adm1n1strat0r", WeakPassword::Common),
        ("trustno1-2026", WeakPassword::Common),
        ("ann.miller@example.com", WeakPassword::Personal),
        ("annmiller2026", WeakPassword::Personal),
        ("Lindgren-2026!", WeakPassword::Personal),
        ("L1ndgr3n-2026!", WeakPassword::Personal),
        ("example12345", WeakPassword::Personal),
    ] {
        assert_eq!(check_new(password, KNOWN), Err(expect), "{password}");
    }
    assert_eq!(check_new(&"x".repeat(257), KNOWN), Err(WeakPassword::Length));
}

#[test]
fn other_long_passwords_are_accepted() {
    for password in [
        "correct horse battery",
        "another horse battery",
        "a new long password",
        "my dog eats purple grapes",
        "k3#vQ9!zLw2p",
        "Miller weaves violet baskets",
        "übergroße Wörter zählen",
    ] {
        assert_eq!(check_new(password, KNOWN), Ok(()), "{password}");
    }
}
