//! Unit tests of `erasure_scopes.rs`.

use super::*;

fn scope(number: &str) -> ErasureScope {
    let number = Msisdn::parse_digits(number).unwrap();
    ErasureScope { number, account: None, until: Timestamp::from_millis(1_794_659_400_000) }
}

#[test]
fn digits_are_found_in_a_response_however_the_number_is_written() {
    let scopes = ErasureScopes::new(&[scope("4915112345678"), scope("1234509")]).unwrap();
    for response in [
        "12345678",
        "+4915112345678",
        "0049 151 123 456 78",
        "(0151) 123-45678",
        "0151/12345-678",
        "+49\u{a0}151\u{a0}12345\u{2011}678",
    ] {
        assert_eq!(scopes.named_in(response.as_bytes()), [&scope("4915112345678")], "{response}");
    }
    assert_eq!(scopes.named_in(b"123 45-09"), [&scope("1234509")]);
    for response in ["", "1234567", "1234 and 5678", "12345679"] {
        assert!(scopes.named_in(response.as_bytes()).is_empty(), "{response}");
    }
}
