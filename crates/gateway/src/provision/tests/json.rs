//! Tests of entries as JSON: same rules and errors as in a file.

use crate::provision::{Kind, check_fields, merged, parse_object, value_of, wanted_entry, wanted_whole};
use serde_json::{Map, Value, json};

fn object(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

#[track_caller]
fn check(kind: Kind, name: &str, body: Value, expect: &str) {
    let actual = match wanted_entry(kind, name, object(body)) {
        Ok((name, _)) => format!("fine: {name}"),
        Err(refusal) => refusal.to_string(),
    };
    assert_eq!(actual, expect);
}

#[test]
fn fields_implied_by_the_name_may_be_absent() {
    check(Kind::Price, "shop/49@2026-01-01", json!({"per_part": "0.05"}), "fine: shop/49@2026-01-01");
    check(Kind::Sender, "shop/4915112345678", json!({}), "fine: shop/+4915112345678");
    check(Kind::Account, "shop", json!({"name": "shop", "currency": "EUR", "terms": null}), "fine: shop");
}

#[test]
fn contradicting_or_invalid_body_is_rejected() {
    check(
        Kind::Account,
        "shop",
        json!({"name": "bank", "currency": "EUR"}),
        "account \"shop\" does not match the body, which describes \"bank\"",
    );
    check(
        Kind::Price,
        "49",
        json!({"per_part": "1", "prefix": "50"}),
        "price \"49\" does not match the body, which describes \"50\"",
    );
    check(
        Kind::Connection,
        "c",
        json!({"account": "shop", "rate": 0}),
        "connection \"c\": rate: a rate per second is between 1 and 1000000, not 0",
    );
    check(
        Kind::Price,
        "49",
        json!({"per_part": 0.05}),
        "price \"49\": per_part: invalid type: floating point `0.05`, expected an amount in quotes, such as \"0.035\"",
    );
    check(
        Kind::Account,
        "a b",
        json!({"currency": "EUR"}),
        "account \"a b\": name: a name has 1 to 64 letters, digits and - _ . (not \"a b\")",
    );
    check(
        Kind::Screen,
        "s",
        json!({"pattern": "x", "colour": "red"}),
        "screen \"s\": colour: unknown field `colour`, expected one of `name`, `pattern`, `field`, `account`",
    );
    // A misspelt field is rejected even if it is null.
    check(
        Kind::Screen,
        "s",
        json!({"pattern": "x", "acount": null}),
        "screen \"s\": acount: unknown field `acount`, expected one of `name`, `pattern`, `field`, `account`",
    );
    check(
        Kind::Route,
        "49",
        json!({"carriers": ["a", null]}),
        "route \"49\": null is not allowed inside a value",
    );
}

#[test]
fn patch_with_an_unknown_field_is_rejected() {
    let check =
        |patch: Value| check_fields(Kind::Account, &object(patch)).map_err(|refusal| refusal.to_string());
    assert_eq!(check(json!({"verified": true, "terms": null})), Ok(()));
    assert_eq!(check(json!({"verifed": null})), Err("account: unknown field `verifed`".to_owned()));
}

#[test]
fn null_in_a_whole_file_means_absent() {
    let said =
        json!({"key": null, "remove": null, "screen": [{"name": "s", "pattern": "x", "account": null}]});
    assert_eq!(wanted_whole(&object(said)).unwrap().screens.len(), 1);
    for unknown in [json!({"keys": null}), json!({"screen": [{"name": "s", "pattern": "x", "acount": null}]})]
    {
        assert!(wanted_whole(&object(unknown)).unwrap_err().to_string().contains("unknown field"));
    }
}

#[test]
fn whole_file_is_read_from_an_object_of_lists() {
    let wanted =
        wanted_whole(&object(json!({"route": [{"prefix": "*", "carriers": ["a"]}], "key": []}))).unwrap();
    assert_eq!((wanted.routes.len(), wanted.keys.len()), (1, 0));
    let refused = wanted_whole(&object(json!({"route": [{"prefix": "*", "carriers": "a"}]}))).unwrap_err();
    assert_eq!(refused.to_string(), "route 1.carriers: invalid type: string \"a\", expected a sequence");
    assert!(
        wanted_whole(&object(json!({"rout": []}))).unwrap_err().to_string().contains("unknown field `rout`")
    );
}

#[test]
fn merge_patch_replaces_removes_and_keeps_fields() {
    let before = json!({"a": 1, "b": {"c": 1, "d": 2}, "e": [1]});
    let patch = json!({"a": null, "b": {"c": null, "x": 3}, "e": [2], "f": {"g": null}});
    let after = merged(object(before), object(patch));
    assert_eq!(Value::Object(after), json!({"b": {"d": 2, "x": 3}, "e": [2], "f": {}}));
}

#[test]
fn invalid_json_and_duplicate_keys_are_rejected() {
    for (text, expect) in [
        ("", "EOF while parsing a value at line 1 column 0"),
        ("[]", "it is not an object"),
        ("{\"a\":1,\"a\":2}", "duplicate key \"a\" at line 1 column 10"),
        ("{\"a\":{\"b\":1,\"b\":2}}", "duplicate key \"b\" at line 1 column 15"),
        ("{} {}", "trailing characters at line 1 column 4"),
        ("{\"a\": 1e999}", "number out of range at line 1 column 11"),
    ] {
        assert_eq!(parse_object(text.as_bytes()).unwrap_err(), expect, "{text}");
    }
    assert!(parse_object(&"[".repeat(500).into_bytes()).unwrap_err().starts_with("recursion limit"));
    assert!(parse_object(b"{\"a\": \"\xff\"}").is_err());
}

#[test]
fn command_line_value_is_parsed_as_toml_or_taken_as_text() {
    for (text, expect) in [
        ("", Value::Null),
        ("true", json!(true)),
        ("16", json!(16)),
        ("0x45", json!(0x45)),
        ("3.4", json!("3.4")),
        ("10s", json!("10s")),
        ("1/1", json!("1/1")),
        ("2027-01-01", json!("2027-01-01")),
        ("hex-to-decimal", json!("hex-to-decimal")),
        ("\"in quotes\"", json!("in quotes")),
        ("[0x1400, \"0x1401\"]", json!([0x1400, "0x1401"])),
        ("{ name = \"smsc.example\" }", json!({"name": "smsc.example"})),
        ("1\nother = 2", json!("1\nother = 2")),
    ] {
        assert_eq!(value_of(text), expect, "{text}");
    }
}
