//! Unit tests of `submission.rs`.

use super::*;

fn submission(to: &str, from: Option<&str>, text: &str) -> Submission {
    let from = from.map(|from| Sender::parse(from).unwrap());
    Submission::plain(Msisdn::parse(to).unwrap(), from, MessageText::parse(text).unwrap())
}

#[track_caller]
fn check(to: &str, from: Option<&str>, text: &str, expect: u64) {
    let found = submission(to, from, text).fingerprint();
    assert_eq!(found, expect, "{found:#018x}");
}

#[test]
fn hash_is_fnv_1a() {
    // Test values published with the algorithm.
    for (text, expect) in
        [("", 0xcbf2_9ce4_8422_2325), ("a", 0xaf63_dc4c_8601_ec8c), ("foobar", 0x8594_4171_f739_67e8)]
    {
        let mut hash = Fnv1a::new();
        hash.add(text.as_bytes());
        assert_eq!(hash.0, expect, "{text:?}");
    }
}

#[test]
fn fingerprints_never_change() {
    check("+4915112345678", Some("Hermod"), "hello", 0x3b2f_1233_fd74_5df0);
    check("+4915112345678", None, "hello", 0x4dee_d917_5225_72fd);
}

#[test]
fn fingerprint_depends_on_recipient_sender_and_text_but_not_on_the_key() {
    let mut requests = [
        submission("+4915112345678", None, "hello"),
        submission("+4915112345679", None, "hello"),
        submission("+4915112345678", Some("hello"), "hello"),
        submission("+4915112345678", Some("hell"), "ohello"),
        submission("+4915112345678", None, "hello "),
        submission("+4915112345678", None, "hellohello"),
    ];
    let mut fingerprints: Vec<u64> = requests.iter().map(Submission::fingerprint).collect();
    requests[0].key = Some(IdempotencyKey::parse("order-1").unwrap());
    assert_eq!(requests[0].fingerprint(), fingerprints[0]);
    fingerprints.sort_unstable();
    fingerprints.dedup();
    assert_eq!(fingerprints.len(), requests.len());
}

#[test]
fn key_has_1_to_255_bytes() {
    assert_eq!(IdempotencyKey::parse(""), Err(KeyRefusal::Empty));
    assert_eq!(IdempotencyKey::parse(&"k".repeat(256)), Err(KeyRefusal::TooLong));
    assert_eq!(IdempotencyKey::parse(&"é".repeat(128)), Err(KeyRefusal::TooLong));
    assert_eq!(IdempotencyKey::parse(&"k".repeat(255)).unwrap().as_str().len(), 255);
    assert_eq!(format!("{:?}", IdempotencyKey::parse("a\nb").unwrap()), r#"IdempotencyKey("a\nb")"#);
}
