//! Tests of request bodies and the resulting submissions.

use super::*;

/// Returns the submission in short, or the refusal's code.
fn actual(body: &[u8]) -> String {
    let request = match SendRequest::parse(body) {
        Ok(request) => request,
        Err(refusal) => return refusal.to_string(),
    };
    match request.submission(None) {
        Ok(Submission { to, from, text, .. }) => {
            let from = from.map_or("default".to_owned(), |sender| sender.to_string());
            format!("{to} from {from}: {}", text.as_str())
        }
        Err(refusal) => refusal.code().to_owned(),
    }
}

#[track_caller]
fn check(body: &str, expect: &str) {
    assert_eq!(actual(body.as_bytes()), expect, "{body}");
}

#[track_caller]
fn check_not_json(body: &[u8], reason: &str) {
    let expect = format!("INVALID_JSON: The body must be one JSON object: {reason}.");
    assert_eq!(actual(body), expect, "{}", String::from_utf8_lossy(body));
}

#[test]
fn valid_fields_make_a_submission() {
    let expect = "+4915112345678 from default: hi";
    check(r#"{"to":"+4915112345678","text":"hi"}"#, expect);
    check(" \r\n\t{ \"text\" : \"hi\" , \"to\" : \"+4915112345678\" } \n", expect);
    check(r#"{"to":"+4915112345678","text":"hi","from":null}"#, expect);
    check(r#"{"to":"+4915112345678","text":"hi","from":""}"#, expect);
    check(r#"{"to":"+4915112345678","text":"hi","from":"Acme"}"#, "+4915112345678 from Acme: hi");
    check(
        r#"{"t\u006f":"\u002b4915112345678","text":"\ud83d\ude00\n"}"#,
        "+4915112345678 from default: 😀\n",
    );
}

#[test]
fn unknown_fields_are_ignored() {
    let expect = "+4915112345678 from default: hi";
    check(
        r#"{"to":"+4915112345678","text":"hi","x":{"a":[1,-2,3.5e2,true,null,{"to":5,"TO":1}]},"too":1,"t o":1}"#,
        expect,
    );
    check(r#"{"a":{"x":1},"b":{"x":1},"to":"+4915112345678","text":"hi"}"#, expect);
}

#[test]
fn misspelt_known_name_is_rejected_with_the_right_one() {
    for (name, meant) in [
        ("idempotency-key", "idempotency_key"),
        ("idempotencyKey", "idempotency_key"),
        ("Idempotency_Key", "idempotency_key"),
        ("IDEMPOTENCY-KEY", "idempotency_key"),
        ("idempotencykey", "idempotency_key"),
        ("_idempotency__key-", "idempotency_key"),
        ("TO", "to"),
        ("t-o", "to"),
        ("From", "from"),
        ("Text", "text"),
        ("text_", "text"),
        ("te\\u0078T", "text"),
    ] {
        let body = format!(r#"{{"to":"+4915112345678","text":"hi","{name}":"k"}}"#);
        let actual = actual(body.as_bytes());
        assert!(
            actual.starts_with("INVALID_JSON") && actual.contains(&format!("write it exactly `{meant}`")),
            "{actual}"
        );
        assert!(actual.len() < 200);
    }
    for name in ["key", "idempotency", "idempotency.key", "texts", "t", "to2", "", "-", "\u{442}ext"] {
        let body = format!(r#"{{"to":"+4915112345678","text":"hi","{name}":"k"}}"#);
        check(&body, "+4915112345678 from default: hi");
    }
}

#[test]
fn missing_or_invalid_field_has_its_own_refusal() {
    check(r"{}", "MISSING_FIELD");
    check(r#"{"text":"hi"}"#, "MISSING_FIELD");
    check(r#"{"to":"","text":"hi"}"#, "MISSING_FIELD");
    check(r#"{"to":null,"text":"hi"}"#, "MISSING_FIELD");
    check(r#"{"to":"+4915112345678"}"#, "MISSING_FIELD");
    check(r#"{"to":"+4915112345678","text":""}"#, "MISSING_FIELD");
    check(r#"{"to":"+4915112345678","text":null}"#, "MISSING_FIELD");
    for to in
        ["4915112345678", "true", "[]", r#"["+4915112345678"]"#, "{}", r#""4915112345678""#, r#""+49x""#]
    {
        check(&format!(r#"{{"to":{to},"text":"hi"}}"#), "INVALID_NUMBER");
    }
    for from in ["7", "false", "[]", "{}", r#""TwelveLetter""#, r#""Ac/me""#, r#""Äcme""#, r#""12""#] {
        check(&format!(r#"{{"to":"+4915112345678","text":"hi","from":{from}}}"#), "INVALID_SENDER");
    }
    for text in ["7", "false", "[]", "{}"] {
        check(&format!(r#"{{"to":"+4915112345678","text":{text}}}"#), "INVALID_JSON");
    }
}

#[test]
fn invalid_json_is_rejected_with_its_position() {
    check_not_json(b"", "it does not begin with {");
    check_not_json(b"  ", "it does not begin with {");
    check_not_json(b"null", "it does not begin with {");
    check_not_json(b"[]", "it does not begin with {");
    check_not_json(br#""to""#, "it does not begin with {");
    check_not_json(b"\xef\xbb\xbf{}", "it does not begin with {");
    check_not_json(b"{\"to\":\"\xff\"}", "it is not UTF-8");
    check_not_json(b"{\"x\":\"\xc3(\"}", "it is not UTF-8");
    check_not_json(b"{", "EOF while parsing an object at line 1 column 1");
    check_not_json(b"{\"to\":\"+49", "EOF while parsing a string at line 1 column 10");
    check_not_json(b"{to:1}", "key must be a string at line 1 column 2");
    check_not_json(b"{\"to\":1,}", "trailing comma at line 1 column 9");
    check_not_json(b"{} {}", "trailing characters at line 1 column 4");
    check_not_json(b"{}x", "trailing characters at line 1 column 3");
    check_not_json(b"{\"x\":NaN}", "expected value at line 1 column 6");
    check_not_json(b"{\"x\":01}", "invalid number at line 1 column 7");
    check_not_json(
        b"{\"x\":\"\n\"}",
        "control character (\\u0000-\\u001F) found while parsing a string at line 2 column 0",
    );
}

#[test]
fn duplicate_key_is_rejected_at_any_depth() {
    for body in [
        r#"{"to":"+4915112345678","to":"+4915112345679","text":"hi"}"#,
        r#"{"to":null,"to":"+4915112345678","text":"hi"}"#,
        r#"{"to":"+4915112345678","text":"hi","t\u006f":"+4915112345678"}"#,
        r#"{"x":1,"x":1,"to":"+4915112345678","text":"hi"}"#,
        r#"{"x":{"y":1,"y":2},"to":"+4915112345678","text":"hi"}"#,
        r#"{"x":[[{"y":1,"y":2}]],"to":"+4915112345678","text":"hi"}"#,
        r#"{"to":{"y":1,"y":2},"text":"hi"}"#,
    ] {
        let actual = actual(body.as_bytes());
        assert!(
            actual.contains("INVALID_JSON") && actual.contains("a key is given twice"),
            "{body}: {actual}"
        );
    }
}

#[test]
fn lone_surrogate_is_rejected_at_any_depth() {
    for body in [
        r#"{"to":"+4915112345678","text":"\ud83d"}"#,
        r#"{"to":"+4915112345678","text":"\ude00"}"#,
        r#"{"to":"+4915112345678","text":"\ud83d\ud83d"}"#,
        r#"{"to":"+4915112345678","text":"hi","x":"\ud83d"}"#,
        r#"{"to":"+4915112345678","text":"hi","x":["\ude00"]}"#,
        r#"{"to":"+4915112345678","text":"hi","\ud83d":1}"#,
    ] {
        assert!(actual(body.as_bytes()).starts_with("INVALID_JSON"), "{body}: {}", actual(body.as_bytes()));
    }
}

#[test]
fn nesting_depth_is_limited() {
    let nested = |depth: usize| format!(r#"{{"x":{}{}}}"#, "[".repeat(depth), "]".repeat(depth));
    check(&nested(100), "MISSING_FIELD");
    let actual = actual(nested(100_000).as_bytes());
    assert!(actual.starts_with("INVALID_JSON") && actual.contains("recursion limit"), "{actual}");
}

#[test]
fn refusals_do_not_quote_long_bodies() {
    let long = "x".repeat(100_000);
    for body in
        [format!("\"{long}\""), format!("{{\"{long}\":1,\"{long}\":2}}"), format!("{{\"to\":{long}}}")]
    {
        assert!(actual(body.as_bytes()).len() < 200);
    }
}

#[test]
fn idempotency_key_may_be_absent_null_or_empty() {
    let key = |body: &'static str| {
        let request = SendRequest::parse(body.as_bytes()).unwrap();
        request.idempotency_key().map(|key| key.map(str::to_owned)).map_err(|refusal| refusal.code())
    };
    assert_eq!(key("{}"), Ok(None));
    assert_eq!(key(r#"{"idempotency_key":null}"#), Ok(None));
    assert_eq!(key(r#"{"idempotency_key":""}"#), Ok(None));
    assert_eq!(key(r#"{"idempotency_key":"k"}"#), Ok(Some("k".to_owned())));
    assert_eq!(key(r#"{"idempotency_key":5}"#), Err("INVALID_JSON"));
}
