//! Unit tests of `target.rs`.

use super::*;

#[track_caller]
fn check(base_url: &str, expect: &str) {
    let got = match HttpTarget::new(base_url, "key", "secret") {
        Ok(target) => format!("{target:?}"),
        Err(refusal) => refusal.to_string(),
    };
    assert_eq!(got, expect);
}

#[test]
fn base_url_gives_the_path_of_sms() {
    check("http://127.0.0.1:8080/api/v1", "Target(127.0.0.1:8080/api/v1/sms)");
    check("http://127.0.0.1:8080/api/v1/", "Target(127.0.0.1:8080/api/v1/sms)");
    check("http://[::1]:81/api/v1", "Target([::1]:81/api/v1/sms)");
    check("http://gateway/api/v1", "Target(gateway:80/api/v1/sms)");
}

#[test]
fn other_schemes_and_invalid_urls_are_rejected() {
    check("https://gateway/api/v1", r#""https://gateway/api/v1": only http:// is supported"#);
    check("gateway", r#""gateway": only http:// is supported"#);
    let wanted = r#""http://a b" is not a base URL: expected one such as http://127.0.0.1:8080/api/v1"#;
    check("http://a b", wanted);
}

#[test]
fn credentials_are_sent_as_basic_and_never_printed() {
    let target = HttpTarget::new("http://gateway/api/v1", "key", "s:cret").expect("a good target");
    assert_eq!(target.headers()[AUTHORIZATION], "Basic a2V5OnM6Y3JldA==");
    assert!(!format!("{target:?} {:?}", target.headers()).contains("a2V5"));
}
