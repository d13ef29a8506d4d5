//! Output of price, route, lookup, list and show commands.

use super::operator_fixture::{FILE, OperatorFixture};
use super::process::path;
use std::os::unix::fs::PermissionsExt as _;

#[test]
fn prices_and_routes_by_country_are_set_and_lookup_shows_the_effective_price() {
    let fixture = OperatorFixture::without_gateway();
    fixture.apply(&[]);
    assert_eq!(fixture.run_ok(&["price", "set", "US", "per_part=0.01"]), "+ price US\n");
    assert_eq!(fixture.run_ok(&["price", "set", "shop/de", "per_part=0.04"]), "+ price shop/DE\n");
    assert_eq!(fixture.run_ok(&["route", "set", "US", "carriers=acme"]), "+ route US\n");
    let list = fixture.run_ok(&["price", "list"]);
    assert!(list.starts_with("NAME     PER PART\n") && list.contains("\nUS           0.01\n"), "{list}");
    assert!(fixture.run_ok(&["route", "list"]).contains("US"));

    let out = fixture.run_ok(&["lookup", "+12025550123", "--account", "shop"]);
    assert!(out.contains("0.01 EUR (price US)"), "{out}");
    assert!(out.contains("by route US to carrier acme"), "{out}");
    assert!(out.contains("COUNTRY_BLOCKED: "), "{out}");
    let out = fixture.run_ok(&["lookup", "+4915112345678", "--account", "shop"]);
    assert!(out.contains("0.04 EUR (price shop/DE)"), "{out}");
    assert!(out.contains("A message of this account would be accepted now."), "{out}");
    assert!(fixture.run_ok(&["lookup", "+33612345678", "--account", "shop"]).contains("0.05 EUR (price *)"));

    let out = fixture.run_ok(&["price", "set", "mcc310", "per_part=0.02"]);
    assert_eq!(
        out,
        "+ price mcc310\nWarning: price \"mcc310\" matches no number of United States: the number data has no numbers of MCC 310. \
         Use the country, US, or a prefix.\n"
    );
    assert_eq!(fixture.run_ok(&["price", "set", "mcc262", "per_part=0.02"]), "+ price mcc262\n");
    fixture.assert_fails(&["price", "set", "ZZ", "per_part=0.02"], 1, "expected 49, 262-01, mcc262, DE or *");
}

#[test]
fn price_of_0_that_is_free_and_price_that_stays_in_force_are_named() {
    let fixture = OperatorFixture::without_gateway();
    fixture.apply(&[]);
    fixture.assert_fails(&["price", "set", "US", "per_part=0"], 1, "say so with free = true");
    assert_eq!(fixture.run_ok(&["price", "set", "US", "per_part=0", "free=true"]), "+ price US\n");
    assert_eq!(
        fixture.run_ok(&["price", "set", "49@2020-01-01", "per_part=0.04"]),
        "+ price 49@2020-01-01\n"
    );
    assert_eq!(
        fixture.run_ok(&["price", "set", "49", "per_part=0.06"]),
        "+ price 49\nWarning: price \"49\" has no effect now: price \"49@2020-01-01\" begins later and stays in force.\n"
    );
    for (at, applies, other) in
        [("2019-06-01", "49", "49@2020-01-01"), ("2026-01-01T12:00:00Z", "49@2020-01-01", "49")]
    {
        let list = fixture.run_ok(&["price", "list", "--at", at]);
        let is_marked = |name: &str| {
            let line = list.lines().find(|line| line.split_whitespace().next() == Some(name));
            line.is_some_and(|line| line.split_whitespace().nth(1) == Some("yes"))
        };
        assert!(is_marked(applies) && !is_marked(other) && is_marked("*"), "{at}: {list}");
    }
    let list = fixture.json(&["price", "list", "--at", "2019-06-01"]);
    let applies = |name: &str| {
        list["items"].as_array().unwrap().iter().find(|item| item["name"] == name).unwrap()["applies"].clone()
    };
    assert_eq!((applies("49"), applies("49@2020-01-01")), (true.into(), false.into()), "{list}");
    fixture.assert_fails(&["price", "list", "--at", "soon"], 2, "\"soon\" is not a day such as");
}

#[test]
fn lookup_lists_every_reason_to_reject_a_message() {
    let fixture = OperatorFixture::without_gateway();
    fixture.apply(&[]);
    fixture.run_ok(&["account", "set", "shop", "verified=false", "minimum=99.99"]);
    fixture.run_ok(&["account", "opt-outs", "shop", "--add", "+4915112345678", "--imported"]);
    assert!(fixture.run_ok(&["account", "opt-outs", "shop"]).contains("import  list"));
    let out = fixture.run_ok(&["lookup", "+4915112345678", "--account", "shop", "--from", "Bank"]);
    for code in ["VERIFICATION_REQUIRED", "SENDER_NOT_APPROVED", "RECIPIENT_OPTED_OUT", "INSUFFICIENT_CREDIT"]
    {
        assert!(out.contains(&format!("  {code}: ")), "{code} in {out}");
    }
    fixture.run_ok(&["block", "add", "shop/4915100-4915199"]);
    let out = fixture.run_ok(&["lookup", "+4915112345678", "--account", "shop"]);
    assert!(out.contains("DESTINATION_BLOCKED: ") && out.contains("shop/4915100-4915199\n"), "{out}");
    fixture.run_ok(&["account", "close", "shop"]);
    assert!(
        fixture.run_ok(&["lookup", "+4915112345678", "--account", "shop"]).contains("The account is closed")
    );
}

#[test]
fn list_and_show_commands_have_the_expected_columns_and_fields() {
    let fixture = OperatorFixture::without_gateway();
    fixture.apply(&[]);
    fixture.run_ok(&["topup", "shop", "23.5"]);
    let list = fixture.run_ok(&["account", "list"]);
    assert!(list.starts_with("NAME  BALANCE  CURRENCY") && list.contains("shop    123.5  EUR"), "{list}");
    let shown = fixture.run_ok(&["connection", "show", "shop-http"]);
    assert!(shown.contains("account         shop") && shown.contains("closed          no"), "{shown}");
    fixture.assert_fails(&["connection", "show", "nobody"], 1, "NOT_FOUND");
    for args in [&["key", "show", "shop-key-1"][..], &["route", "show", "*"]] {
        assert!(!fixture.run_ok(args).is_empty(), "{args:?}");
    }
    fixture.run_ok(&["control", "set", "day", "messages_per_day=5", "mode=enforce"]);
    fixture.run_ok(&["control", "set", "look", "messages_per_day=1", "mode=watch"]);
    assert!(fixture.run_ok(&["control", "show", "day"]).contains("messages_per_day  5"));
    let traffic = fixture.run_ok(&["account", "traffic", "shop"]);
    let row = |control: &str| traffic.lines().find(|line| line.starts_with(control)).unwrap().trim_end();
    assert!(row("day").ends_with("per day"), "an enforcing control is not marked as watching: {traffic}");
    assert!(row("look").ends_with('0'), "{traffic}");
}

#[test]
fn provision_file_with_secrets_readable_by_others_gets_a_warning() {
    let fixture = OperatorFixture::without_gateway();
    let file = fixture.file("provision.toml");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let (code, _, stderr) = fixture.run(&["apply", path(&file), "--create"]);
    assert_eq!((code, stderr.contains(&format!("chmod 600 {}", path(&file)))), (0, true), "{stderr}");
    let without: Vec<&str> = FILE.lines().filter(|line| !line.starts_with("password")).collect();
    std::fs::write(&file, without.join("\n")).unwrap();
    let (code, _, stderr) = fixture.run(&["apply", path(&file), "--dry-run"]);
    assert_eq!((code, stderr.as_str()), (0, ""), "a file without secrets gets no warning");
}
