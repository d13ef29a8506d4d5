//! Unit tests of `names.rs`.

use super::*;

#[track_caller]
fn check(kind: Kind, name: &str, expect: &str) {
    let actual = match read(kind, name) {
        Ok((name, fields)) => format!("{name} {}", Value::Object(fields)),
        Err(_) => "refused".to_owned(),
    };
    assert_eq!(actual, expect, "{kind} {name:?}");
}

#[test]
fn name_implies_its_key_fields() {
    check(Kind::Account, "shop", r#"shop {"name":"shop"}"#);
    check(Kind::Key, "k", r#"k {"key":"k"}"#);
    check(Kind::Route, "*", r#"* {"prefix":"*"}"#);
    check(Kind::Route, "262-01", r#"262-01 {"network":"262-01"}"#);
    check(Kind::Route, "shop/mcc262@A&B", r#"shop/mcc262@A&B {"account":"shop","mcc":"262","sender":"A&B"}"#);
    check(Kind::Route, "*@12345", r#"*@12345 {"prefix":"*","sender":"12345"}"#);
    check(Kind::Price, "49", r#"49 {"prefix":"49"}"#);
    check(Kind::Price, "262-01", r#"262-01 {"network":"262-01"}"#);
    check(Kind::Price, "US", r#"US {"country":"US"}"#);
    check(Kind::Price, "shop/de", r#"shop/DE {"account":"shop","country":"DE"}"#);
    check(Kind::Route, "DE@Shop", r#"DE@Shop {"country":"DE","sender":"Shop"}"#);
    check(
        Kind::Price,
        "shop/mcc262@2026-01-01",
        r#"shop/mcc262@2026-01-01 {"account":"shop","from":"2026-01-01","mcc":"262"}"#,
    );
    check(
        Kind::Price,
        "list:standard/de@2026-01-01",
        r#"list:standard/DE@2026-01-01 {"country":"DE","from":"2026-01-01","price_list":"standard"}"#,
    );
    check(Kind::Cost, "north/49", r#"north/49 {"carrier":"north","prefix":"49"}"#);
    check(
        Kind::Cost,
        "north/262-01:number@2026-01-01",
        r#"north/262-01:number@2026-01-01 {"carrier":"north","from":"2026-01-01","network":"262-01","sender_kind":"number"}"#,
    );
    check(Kind::ExchangeRate, "USD-EUR", r#"USD-EUR {"base":"USD","quote":"EUR"}"#);
    check(Kind::PriceList, "standard", r#"standard {"name":"standard"}"#);
    check(Kind::Block, "49900", r#"49900 {"prefix":"49900"}"#);
    check(Kind::Block, "shop/*", r#"shop/* {"account":"shop","prefix":"*"}"#);
    check(Kind::Block, "4990000-4990099", r#"4990000-4990099 {"range":"4990000-4990099"}"#);
    check(
        Kind::Block,
        "shop/premium-and-satellite",
        r#"shop/premium-and-satellite {"account":"shop","list":"premium-and-satellite"}"#,
    );
    check(Kind::Sender, "*/Bank", r#"*/Bank {"sender":"Bank"}"#);
    check(Kind::Sender, "shop/A&B", r#"shop/A&B {"account":"shop","sender":"A&B"}"#);
}

#[test]
fn name_is_converted_to_its_canonical_form() {
    check(
        Kind::Sender,
        "shop/4915112345678",
        r#"shop/+4915112345678 {"account":"shop","sender":"+4915112345678"}"#,
    );
    check(Kind::Route, "49@4915112345678", r#"49@+4915112345678 {"prefix":"49","sender":"+4915112345678"}"#);
    check(Kind::Number, "80808/shop", r#"80808/SHOP {"keyword":"SHOP","number":"80808"}"#);
    check(Kind::Block, "+4915112345678", r#"4915112345678 {"prefix":"4915112345678"}"#);
    check(Kind::Block, "+4990-+4999", r#"4990-4999 {"range":"4990-4999"}"#);
    check(
        Kind::Price,
        "49@2026-01-01T01:00:00+01:00",
        r#"49@2026-01-01 {"from":"2026-01-01","prefix":"49"}"#,
    );
}

#[test]
fn invalid_name_is_rejected() {
    for (kind, name) in [
        (Kind::Route, ""),
        (Kind::Route, "+49"),
        (Kind::Route, "shop"),
        (Kind::Route, "49@"),
        (Kind::Route, "shop/"),
        (Kind::Route, "49@not a name!"),
        (Kind::Price, "x"),
        (Kind::Price, "shop/"),
        (Kind::Price, "list:49"),
        (Kind::Cost, "49"),
        (Kind::Cost, "north/49:any"),
        (Kind::ExchangeRate, "EUR"),
        (Kind::ExchangeRate, "EUR-XXQ"),
        (Kind::Price, "49@yesterday"),
        (Kind::Price, "mcc26"),
        (Kind::Price, "ZZ"),
        (Kind::Block, ""),
        (Kind::Block, "+"),
        (Kind::Block, "shop"),
        (Kind::Block, "4990-49"),
        (Kind::Block, "satellite-only"),
        (Kind::Sender, "Bank"),
        (Kind::Sender, "shop/"),
        (Kind::Number, "Bank"),
    ] {
        check(kind, name, "refused");
    }
}

#[test]
fn email_addresses_are_checked_and_written_in_lower_case() {
    for (text, expect) in [
        ("ann@example.com", Some("ann@example.com")),
        ("Ann.Lee+sms@Example.COM", Some("ann.lee+sms@example.com")),
        ("root@localhost", Some("root@localhost")),
        ("ann", None),
        ("@example.com", None),
        ("ann@", None),
        ("ann@example..com", None),
        ("ann@@example.com", None),
        ("a b@example.com", None),
        ("ann@example.com\r\nBcc: x@example.com", None),
        ("ann/x@example.com", None),
        ("<ann@example.com>", None),
    ] {
        assert_eq!(canonical_email(text).as_deref(), expect, "{text}");
    }
    assert_eq!(canonical_email(&format!("{}@example.com", "a".repeat(250))), None);
}
