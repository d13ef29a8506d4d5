//! Tests of entries as JSON: same rules and errors as in a file.

use crate::entry::fields::{EntryField, field_of, fields_of};
use crate::http::json::parse_object;
use crate::kind::Kind;
use crate::setup::json::{check_fields, merged, wanted_entry, wanted_whole};
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
fn list_in_place_of_a_table_is_rejected() {
    let carrier = |field: &str, value: Value| {
        let mut body = object(json!({"address": "smsc.example:2775", "system_id": "h", "password": ""}));
        body.insert(field.to_owned(), value);
        Value::Object(body)
    };
    for (field, value, place) in [
        ("source", json!([null, null]), "source"),
        ("tls", json!(["smsc.example"]), "tls"),
        ("senders", json!([["US", "+12025550123"]]), "senders 1"),
    ] {
        let refused = format!("carrier \"acme\": {place}: must not be a list");
        check(Kind::Carrier, "acme", carrier(field, value), &refused);
    }
    for (list, entry) in [("sender", json!(["shop", "Shop"])), ("remove", json!(["sender", "shop/Shop"]))] {
        let refused = wanted_whole(object(json!({ list: [entry] }))).expect_err("it is rejected").to_string();
        assert_eq!(refused, format!("{list} 1: must not be a list"));
    }
    let refused = wanted_whole(object(json!({"carrier": [carrier("source", json!([]))]})));
    assert_eq!(refused.expect_err("it is rejected").to_string(), "carrier 1.source: must not be a list");
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
        "route \"49\": carriers: invalid type: null, expected a carrier's name, or a table with carrier, priority and weight",
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
    assert_eq!(wanted_whole(object(said)).unwrap().screens.len(), 1);
    for unknown in [json!({"keys": null}), json!({"screen": [{"name": "s", "pattern": "x", "acount": null}]})]
    {
        assert!(wanted_whole(object(unknown)).unwrap_err().to_string().contains("unknown field"));
    }
}

#[test]
fn whole_file_is_read_from_an_object_of_lists() {
    let wanted =
        wanted_whole(object(json!({"route": [{"prefix": "*", "carriers": ["a"]}], "key": []}))).unwrap();
    assert_eq!((wanted.routes.len(), wanted.keys.len()), (1, 0));
    let refused = wanted_whole(object(json!({"route": [{"prefix": "*", "carriers": "a"}]}))).unwrap_err();
    assert_eq!(refused.to_string(), "route 1.carriers: invalid type: string \"a\", expected a sequence");
    assert!(
        wanted_whole(object(json!({"rout": []}))).unwrap_err().to_string().contains("unknown field `rout`")
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
fn command_line_value_is_parsed_by_the_type_of_its_field() {
    for (kind, field, text, expect) in [
        (Kind::Carrier, "rate", "", Value::Null),
        (Kind::Carrier, "rate", "50", json!(50)),
        (Kind::Carrier, "tls", "true", json!(true)),
        (Kind::Carrier, "tls", "{ name = \"smsc.example\" }", json!({"name": "smsc.example"})),
        (Kind::Carrier, "version", "3.4", json!("3.4")),
        (Kind::Carrier, "pass_tlvs", "0x1400, 5121", json!(["0x1400", 5121])),
        (
            Kind::Carrier,
            "retry",
            "0x45:temporary:30s",
            json!([{"status": "0x45", "class": "temporary", "wait": "30s"}]),
        ),
        (Kind::Account, "credit_limit", "12.5", json!("12.5")),
        (Kind::Account, "countries", "*", json!("*")),
        (Kind::Account, "countries", "DE, AT", json!(["DE", "AT"])),
        (Kind::Sender, "reason", "A, B: C", json!("A, B: C")),
        (Kind::Route, "carriers", "acme,beta:2", json!(["acme", {"carrier": "beta", "priority": 2}])),
        (
            Kind::Control,
            "per_country",
            "50:1h:DE,AT",
            json!({"most": 50, "per": "1h", "except": ["DE", "AT"]}),
        ),
        (Kind::User, "accounts", "shop:owner", json!([{"account": "shop", "role": "owner"}])),
    ] {
        let field = field_of(kind, field).expect("a field of this name");
        let parsed = field.parse(text);
        assert_eq!(parsed.as_ref(), Ok(&expect), "{kind} {}={text}", field.name);
    }
    for (kind, field, text, expect) in [
        (Kind::Carrier, "rate", "fast", "expected a whole number"),
        (Kind::Carrier, "retry", "[", "is not a list or table in TOML"),
        (Kind::Route, "carriers", "acme:x", "expected a whole number"),
        (Kind::Control, "per_range", "20", "expected MOST:PER"),
        (Kind::Sender, "look_alike", "yes", "expected true or false"),
    ] {
        let field = field_of(kind, field).expect("a field of this name");
        assert_eq!(field.parse(text), Err(expect.to_owned()), "{kind} {}={text}", field.name);
    }
}

#[test]
fn description_names_columns_choices_and_secrets() {
    let names = |kind, is: fn(&EntryField) -> bool| -> Vec<&str> {
        fields_of(kind).iter().filter(|field| is(field)).map(|field| field.name.as_str()).collect()
    };
    assert_eq!(names(Kind::Sender, |field| field.is_in_name), ["sender", "account"]);
    assert_eq!(names(Kind::Sender, |field| field.is_column), ["state", "reason", "note", "look_alike"]);
    assert_eq!(names(Kind::Key, |field| field.is_secret), ["secret"]);
    assert_eq!(field_of(Kind::Sender, "state").unwrap().choices, ["approved", "pending", "blocked"]);
    assert_eq!(
        field_of(Kind::Route, "carriers")
            .unwrap()
            .text(&json!([{"carrier": "a", "priority": 1, "weight": 70}])),
        "a:1:70"
    );
    for kind in Kind::ALL {
        assert!(fields_of(kind).iter().any(|field| field.is_in_name), "{kind}");
        assert!(kind == Kind::Operator || fields_of(kind).iter().any(|field| field.is_column), "{kind}");
    }
}
