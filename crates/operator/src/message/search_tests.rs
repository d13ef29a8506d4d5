//! Unit tests of `search.rs`.

use super::*;

#[test]
fn recipient_is_a_number_or_the_beginning_of_numbers() {
    let exact = |text: &str| recipient(text).unwrap();
    assert_eq!(exact("+4915112345678"), exact("4915112345678"));
    assert_eq!(exact(" 4915112345678"), exact("4915112345678"));
    assert_eq!(exact("+49151*"), RecipientFilter::Prefix("49151".to_owned()));
    assert_eq!(exact("49*"), RecipientFilter::Prefix("49".to_owned()));
    assert_eq!(exact("*5678"), RecipientFilter::Suffix("5678".to_owned()));
    let wrong = [
        "*",
        "+*",
        "49 1*",
        "49a*",
        "1234567890123456*",
        "",
        "0151",
        "x",
        "*567",
        "*56a8",
        "*+5678",
        "**",
        "*5678*",
    ];
    for wrong in wrong {
        assert!(recipient(wrong).is_err(), "{wrong}");
    }
    let error = recipient("+49").unwrap_err().to_string();
    assert!(error.starts_with("to: ") && error.contains("+49151*"), "{error}");
}
