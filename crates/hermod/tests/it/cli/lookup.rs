//! Output of price, route, lookup, list and show commands.

use super::operator_fixture::{FILE, Office};
use super::process::path;
use std::os::unix::fs::PermissionsExt as _;

#[test]
fn prices_and_routes_by_country_are_set_and_lookup_shows_the_effective_price() {
    let office = Office::closed();
    office.apply(&[]);
    assert_eq!(office.does(&["price", "set", "US", "0.01"]), "+ price US\n");
    assert_eq!(office.does(&["price", "set", "de", "0.04", "--account", "shop"]), "+ price shop/DE\n");
    assert_eq!(office.does(&["route", "set", "US", "--carrier", "acme"]), "+ route US\n");
    let list = office.does(&["price", "list"]);
    assert!(list.contains("US") && list.ends_with("in the currency of the sending account.\n"), "{list}");
    assert!(office.does(&["route", "list"]).contains("US"));

    let told = office.does(&["lookup", "+12025550123", "--account", "shop"]);
    assert!(told.contains("0.01 EUR (price US)"), "{told}");
    assert!(told.contains("by route US to carrier acme"), "{told}");
    assert!(told.contains("COUNTRY_BLOCKED: "), "{told}");
    let told = office.does(&["lookup", "+4915112345678", "--account", "shop"]);
    assert!(told.contains("0.04 EUR (price shop/DE)"), "{told}");
    assert!(told.contains("A message of this account would be accepted now."), "{told}");
    assert!(office.does(&["lookup", "+33612345678", "--account", "shop"]).contains("0.05 EUR (price *)"));

    let told = office.does(&["price", "set", "mcc310", "0.02"]);
    assert_eq!(
        told,
        "+ price mcc310\nWarning: price \"mcc310\" matches no number of United States: the number data has no numbers of MCC 310. \
         Use the country, US, or a prefix.\n"
    );
    assert_eq!(office.does(&["price", "set", "mcc262", "0.02"]), "+ price mcc262\n");
    office.is_refused(&["price", "set", "ZZ", "0.02"], 1, "expected 49, 262-01, mcc262, DE or *");
}

#[test]
fn lookup_lists_every_reason_to_reject_a_message() {
    let office = Office::closed();
    office.apply(&[]);
    office.does(&["account", "set", "shop", "--verified", "false", "--minimum", "99.99"]);
    office.does(&["account", "opt-outs", "shop", "--add", "+4915112345678"]);
    let told = office.does(&["lookup", "+4915112345678", "--account", "shop", "--from", "Bank"]);
    for code in ["VERIFICATION_REQUIRED", "SENDER_NOT_APPROVED", "RECIPIENT_OPTED_OUT", "INSUFFICIENT_CREDIT"]
    {
        assert!(told.contains(&format!("  {code}: ")), "{code} in {told}");
    }
    office.does(&["account", "close", "shop"]);
    assert!(
        office.does(&["lookup", "+4915112345678", "--account", "shop"]).contains("The account is closed")
    );
}

#[test]
fn list_and_show_commands_have_the_expected_columns_and_fields() {
    let office = Office::closed();
    office.apply(&[]);
    office.does(&["topup", "shop", "23.5"]);
    let list = office.does(&["account", "list"]);
    assert!(list.starts_with("NAME  BALANCE  CURRENCY") && list.contains("shop    123.5  EUR"), "{list}");
    let shown = office.does(&["connection", "show", "shop-http"]);
    assert!(shown.contains("account         shop") && shown.contains("closed          no"), "{shown}");
    office.is_refused(&["connection", "show", "nobody"], 1, "NOT_FOUND");
    for args in [&["key", "show", "shop-key-1"][..], &["route", "show", "*"]] {
        assert!(!office.does(args).is_empty(), "{args:?}");
    }
    office.does(&["control", "set", "day", "--messages-per-day", "5", "--mode", "enforce"]);
    office.does(&["control", "set", "look", "--messages-per-day", "1", "--mode", "watch"]);
    assert!(office.does(&["control", "show", "day"]).contains("messages_per_day  5"));
    let traffic = office.does(&["account", "traffic", "shop"]);
    let row = |control: &str| traffic.lines().find(|line| line.starts_with(control)).unwrap().trim_end();
    assert!(row("day").ends_with("per day"), "an enforcing control is not marked as watching: {traffic}");
    assert!(row("look").ends_with('0'), "{traffic}");
}

#[test]
fn provision_file_with_secrets_readable_by_others_gets_a_warning() {
    let office = Office::closed();
    let file = office.file("provision.toml");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let (code, _, told) = office.ran(&["apply", path(&file), "--create"]);
    assert_eq!((code, told.contains(&format!("chmod 600 {}", path(&file)))), (0, true), "{told}");
    let without: Vec<&str> = FILE.lines().filter(|line| !line.starts_with("password")).collect();
    std::fs::write(&file, without.join("\n")).unwrap();
    let (code, _, told) = office.ran(&["apply", path(&file), "--dry-run"]);
    assert_eq!((code, told.as_str()), (0, ""), "a file without secrets gets no warning");
}
