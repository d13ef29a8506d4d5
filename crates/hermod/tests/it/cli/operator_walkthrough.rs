//! One sequence of operator commands with their output, run locally, beside a gateway and remotely.

use super::files::export_and_import;
use super::operator_fixture::{FILE, OperatorFixture};
use super::process::path;
use serde_json::json;

/// Runs the whole sequence.
pub(crate) fn run_operator_walkthrough(fixture: &OperatorFixture) {
    apply_file(fixture);
    set_entries(fixture);
    list_entries(fixture);
    export_and_import(fixture);
    manage_customers(fixture);
    post_ledger_entries(fixture);
}

fn apply_file(fixture: &OperatorFixture) {
    let everything = "+ carrier acme\n+ route *\n+ price *\n+ account shop\n+ sender shop/Shop\n+ connection shop-http\n\
                      + key shop-key-1\n";
    let tried = fixture.apply(&["--dry-run"]);
    assert_eq!(tried, format!("{everything}This was a dry run: nothing was changed.\n"));
    let applied = fixture.apply(&[]);
    let (difference, secrets) = applied.split_once("\nNew secrets, shown only now").expect("a secret");
    assert_eq!(difference, everything);
    assert!(secrets.contains("  shop-key-1  "), "{secrets}");
    assert_eq!(fixture.apply(&[]), "Nothing to change.\n");
    assert_eq!(fixture.apply(&["--dry-run"]), "Nothing to change.\n");

    std::fs::write(fixture.file("provision.toml"), FILE.replace("\"0.05\"", "\"0.06\"")).expect("a file");
    let changed = "~ price *\n    per_part: 0.05 -> 0.06\n= 6 unchanged\n";
    assert_eq!(fixture.apply(&["--dry-run"]), format!("{changed}This was a dry run: nothing was changed.\n"));
    assert_eq!(fixture.apply(&[]), changed);
    std::fs::write(fixture.file("provision.toml"), FILE).expect("a file");
    assert_eq!(
        fixture.json(&["apply", path(&fixture.file("provision.toml"))])["changes"][2]["effect"],
        "updated"
    );
}

fn set_carriers_and_routes(fixture: &OperatorFixture) {
    let password = fixture.file("password");
    std::fs::write(&password, "canary09\n").expect("a file");
    for (args, expect) in [
        (
            &[
                "carrier",
                "set",
                "backup",
                "address=127.0.0.1:8",
                "system_id=hermod",
                &format!("password=@{}", path(&password)),
                "window=5",
                "rate=50",
            ][..],
            "+ carrier backup\n",
        ),
        (&["carrier", "set", "backup", "rate=60"], "~ carrier backup\n    rate: 50 -> 60\n"),
        (
            &["carrier", "disable", "backup"],
            "~ carrier backup\n    disabled: false -> true\n0 parts wait, 0 are sent and not answered, 0 wait for a receipt.\n",
        ),
        (&["carrier", "enable", "backup"], "~ carrier backup\n    disabled: true -> false\n"),
        (
            &["carrier", "set", "backup", "links=2", "long_messages=sar", "destination=0/1"],
            "~ carrier backup\n    destination: nothing -> 0/1\n    links: nothing -> 2\n    long_messages: nothing -> sar\n",
        ),
        (
            &["carrier", "set", "backup", "long_messages=", "destination="],
            "~ carrier backup\n    destination: 0/1 -> nothing\n    long_messages: sar -> nothing\n",
        ),
        (&["route", "set", "49", "carriers=backup,acme"], "+ route 49\n"),
        (&["route", "remove", "49"], "- route 49\n"),
        (
            &["route", "set", "shop/mcc262@Shop", "carriers=acme:1:70,backup:1:30"],
            "+ route shop/mcc262@Shop\n",
        ),
    ] {
        assert_eq!(fixture.run_ok(args), expect, "{args:?}");
    }
}

fn set_entries(fixture: &OperatorFixture) {
    set_carriers_and_routes(fixture);
    for (args, expect) in [
        (&["price", "set", "shop/49@2027-01-01", "per_part=0.0375"][..], "+ price shop/49@2027-01-01\n"),
        (&["price", "set", "mcc262", "per_part=0.04"], "+ price mcc262\n"),
        (&["price", "remove", "mcc262"], "- price mcc262\n"),
        (&["connection", "set", "shop-2", "account=shop", "allow=192.0.2.0/24"], "+ connection shop-2\n"),
        (&["connection", "set", "shop-2", "closed=true"], "~ connection shop-2\n    closed: false -> true\n"),
        (&["sender", "approve", "Shop24", "--account", "shop"], "+ sender shop/Shop24\n"),
        (&["sender", "block", "Bank"], "+ sender */Bank\n"),
        (&["sender", "remove", "*/Bank"], "- sender */Bank\n"),
        (
            &["sender", "set", "shop/Shop24", "reason=A new shop."],
            "~ sender shop/Shop24\n    reason: nothing -> A new shop.\n",
        ),
        (&["number", "set", "80808/shop", "account=shop"], "+ number 80808/SHOP\n"),
        (&["number", "remove", "80808/shop"], "- number 80808/SHOP\n"),
        (&["screen", "set", "links", "pattern=bit\\.ly"], "+ screen links\n"),
        (&["screen", "remove", "links"], "- screen links\n"),
        (&["block", "add", "+49900", "reason=Fraud."], "+ block 49900\n"),
        (&["block", "set", "49900", "direction=sent"], "~ block 49900\n    direction: both -> sent\n"),
        (&["block", "add", "shop/4990100-4990199"], "+ block shop/4990100-4990199\n"),
        (&["block", "remove", "shop/4990100-4990199"], "- block shop/4990100-4990199\n"),
        (&["control", "set", "day", "account=shop", "spend_per_day=50"], "+ control day\n"),
        (&["control", "set", "day", "mode=watch"], "~ control day\n    mode: enforce -> watch\n"),
    ] {
        assert_eq!(fixture.run_ok(args), expect, "{args:?}");
    }
    let out = fixture.run_ok(&["control", "set", "day", "spend_per_day=", "per_recipient=20:1h"]);
    assert!(
        out.contains("spend_per_day: 50 -> nothing") && out.contains("per_recipient: nothing -> "),
        "{out}"
    );
}

fn list_entries(fixture: &OperatorFixture) {
    for (args, expect) in [
        (
            &["carrier", "list"][..],
            "NAME    ADDRESS      SYSTEM ID  WINDOW  RATE  LINKS\n\
             acme    127.0.0.1:9  hermod         10   100\n\
             backup  127.0.0.1:8  hermod          5    60      2\n",
        ),
        (
            &["carrier", "show", "backup"],
            "  name              backup\n  address           127.0.0.1:8\n  system_id         hermod\n  \
             window            5\n  rate              60\n  links             2\n  response_timeout  1m\n  \
             enquire_link      30s\n  disabled          no\n",
        ),
        (
            &["route", "list"],
            "NAME              CARRIERS\n*                 acme\n\
             shop/mcc262@Shop  acme:1:70, backup:1:30\n",
        ),
        (
            &["price", "list", "--account", "shop"],
            "NAME                PER PART\nshop/49@2027-01-01    0.0375\n",
        ),
        (
            &["sender", "list"],
            "NAME         STATE     REASON\nshop/Shop    approved\nshop/Shop24  approved  A new shop.\n",
        ),
        (&["number", "list"], "There are no numbers yet.\n"),
        (&["screen", "list"], "There are no screens yet.\n"),
        (&["block", "list"], "NAME   DIRECTION  REASON\n49900  sent       Fraud.\n"),
        (&["control", "list"], "NAME  ACCOUNT  MODE   PER RECIPIENT\nday   shop     watch  20:1h\n"),
        (
            &["account", "list"],
            "NAME  BALANCE  CURRENCY  CREDIT LIMIT  MINIMUM  VERIFIED  COUNTRIES\nshop      100  EUR                  0        0  yes       DE\n",
        ),
    ] {
        assert_eq!(fixture.run_ok(args), expect, "{args:?}");
    }
    let connections = fixture.run_ok(&["connection", "list", "--account", "shop"]);
    assert!(connections.contains("192.0.2.0/24") && connections.contains("CLOSED"), "{connections}");
}

fn manage_customers(fixture: &OperatorFixture) {
    let made = fixture.run_ok(&[
        "account",
        "add",
        "bakery",
        "currency=EUR",
        "opening_balance=25",
        "countries=DE,AT",
        "senders=Bakery",
    ]);
    assert_eq!(made, "+ account bakery\n+ sender bakery/Bakery\n");
    assert_eq!(
        fixture.run_ok(&["account", "verify", "bakery"]),
        "~ account bakery\n    verified: false -> true\n"
    );
    let set = fixture.run_ok(&["account", "set", "bakery", "credit_limit=12.345678", "countries=*"]);
    assert!(set.contains("credit_limit: 0 -> 12.345678") && set.contains("-> *"), "{set}");
    let shown = fixture.run_ok(&["account", "show", "bakery"]);
    for line in
        ["name          bakery", "verified      yes", "balance       25 EUR", "available     37.345678"]
    {
        assert!(shown.contains(line), "{line} in {shown}");
    }
    fixture.assert_fails(
        &["account", "add", "bakery", "currency=EUR"],
        1,
        "account \"bakery\" already exists",
    );

    assert!(fixture.run_ok(&["account", "opt-outs", "bakery"]).contains("No opt-outs."));
    let added =
        fixture.run_ok(&["account", "opt-outs", "bakery", "--add", "+4915112345678", "--how", "by letter"]);
    assert!(added.starts_with("+4915112345678 is opted out of bakery since "), "{added}");
    assert!(fixture.run_ok(&["account", "opt-outs", "bakery"]).contains("by letter"));
    let lifted = fixture.run_ok(&["account", "opt-outs", "bakery", "--lift", "+4915112345678"]);
    assert_eq!(lifted, "bakery can send to +4915112345678 again.\n");
    fixture.assert_fails(&["account", "opt-outs", "bakery", "--lift", "+4915112345678"], 1, "NOT_FOUND: ");
    assert!(fixture.run_ok(&["account", "traffic", "bakery"]).contains("No traffic controls apply."));
    assert!(fixture.run_ok(&["account", "traffic", "shop"]).contains("one number: 20 per 1h"));

    look_up_routes(fixture);
    assert_eq!(fixture.run_ok(&["review", "list"]), "No review cases in this state.\n");
    fixture.assert_fails(&["review", "show", "7"], 1, "NOT_FOUND: ");
    fixture.assert_fails(&["review", "approve", "7", "--by", "alice"], 1, "NOT_FOUND: ");
    fixture.assert_fails(&["review", "reject", "7"], 1, "NOT_FOUND: ");
    suspend_account(fixture);
    assert_eq!(
        fixture.run_ok(&["account", "close", "bakery"]),
        "~ account bakery\n    closed: false -> true\n"
    );
    assert_eq!(
        fixture.run_ok(&["account", "set", "bakery", "closed=false"]),
        "~ account bakery\n    closed: true -> false\n"
    );
}

fn suspend_account(fixture: &OperatorFixture) {
    let suspend = ["account", "suspend", "bakery", "--reason", "unpaid invoice"];
    let suspended = "~ account bakery\n    suspended: nothing -> unpaid invoice\n";
    assert_eq!(fixture.run_ok(&suspend), suspended);
    assert_eq!(fixture.run_ok(&suspend), "Nothing to change.\n");
    assert!(fixture.run_ok(&["account", "show", "bakery"]).contains("unpaid invoice"));
    let list = fixture.run_ok(&["account", "list"]);
    assert!(list.contains("SUSPENDED") && list.contains("unpaid invoice"), "{list}");
    let found = fixture.run_ok(&["lookup", "+4915112345678", "--account", "bakery"]);
    assert!(found.contains("ACCOUNT_SUSPENDED: "), "{found}");
    let resumed = "~ account bakery\n    suspended: unpaid invoice -> nothing\n";
    assert_eq!(fixture.run_ok(&["account", "resume", "bakery"]), resumed);
    assert_eq!(fixture.run_ok(&["account", "resume", "bakery"]), "Nothing to change.\n");
    let changes = fixture.run_ok(&["changes", "--account", "bakery", "--action", "account.update"]);
    assert!(changes.contains("unpaid invoice"), "{changes}");

    let too_long = "x".repeat(201);
    for reason in [" ", &too_long] {
        fixture.assert_fails(
            &["account", "suspend", "bakery", "--reason", reason],
            1,
            "the reason of a suspension has 1 to 200 characters in one line",
        );
    }
    fixture.assert_fails(&["account", "suspend", "bakery"], 2, "--reason");
    fixture.assert_fails(&["account", "suspend", "bakery", "--reason", ""], 2, "--reason");
    fixture.assert_fails(&["account", "suspend", "nobody", "--reason", "fraud"], 1, "NOT_FOUND: ");
    fixture.assert_fails(&["account", "resume", "nobody"], 1, "NOT_FOUND: ");
}

fn look_up_routes(fixture: &OperatorFixture) {
    let found = fixture.run_ok(&["lookup", "+4915112345678", "--account", "shop"]);
    for part in ["Germany (DE)", "goes by route * to carrier acme", "0.05", "country enabled  yes"] {
        assert!(found.contains(part), "{part} in {found}");
    }
    let explained =
        fixture.run_ok(&["route", "explain", "+4915112345678", "--account", "shop", "--from", "Shop"]);
    for part in [
        "goes by route shop/mcc262@Shop to carrier ",
        "backup",
        "broader entry",
        "A part without a response is resent up to three times",
    ] {
        assert!(explained.contains(part), "{part} in {explained}");
    }
    let explained = fixture.json(&["route", "explain", "+4915112345678"]);
    assert_eq!((&explained["route"], &explained["carrier"]), (&json!("*"), &json!("acme")));
    fixture.assert_fails(&["route", "explain", "0151"], 1, "INVALID_FIELD: ");
    fixture.assert_fails(&["route", "set", "44", "carriers=acme:x"], 2, "expected a whole number");
    fixture.assert_fails(&["carrier", "set", "backup", "links"], 2, "FIELD=VALUE");
    fixture.assert_fails(&["carrier", "set", "backup", "linkz=1"], 2, "unknown field linkz");
}

fn post_ledger_entries(fixture: &OperatorFixture) {
    let posted = fixture.run_ok(&["topup", "bakery", "0.1", "--note", "cash", "--reference", "R-1"]);
    assert!(
        posted.starts_with("The top-up of 0.1 EUR was posted to bakery.\n  reference  R-1\n"),
        "{posted}"
    );
    assert!(posted.contains("balance       25.1 EUR"), "{posted}");
    let again = fixture.run_ok(&["topup", "bakery", "0.1", "--note", "cash", "--reference", "R-1"]);
    assert!(again.contains("was posted to bakery before; nothing was posted now."), "{again}");
    fixture.assert_fails(&["topup", "bakery", "5", "--reference", "R-1"], 1, "REFERENCE_TAKEN: ");
    fixture.assert_fails(&["topup", "bakery", "-5"], 1, "REFUSED: ");
    fixture.assert_fails(&["invoice", "bakery"], 1, "NOTHING_OWED: ");

    assert!(fixture.run_ok(&["adjust", "bakery", "-30.100001"]).contains("balance       -5.000001 EUR"));
    let invoiced = fixture.run_ok(&["invoice", "bakery"]);
    assert!(
        invoiced.contains("The invoice of 5.000001 EUR") && invoiced.contains("credit used   5.000001"),
        "{invoiced}"
    );
    let paid = fixture.json(&["payment", "bakery", "6"]);
    assert_eq!(
        (&paid["balance"]["balance"], &paid["balance"]["credit_used"]),
        (&json!(0.999_999), &json!(0))
    );
    let reference =
        fixture.json(&["account", "ledger", "bakery", "--limit", "1"])["items"][0]["reference"].clone();
    assert_eq!(reference.as_str().map(str::len), Some(20), "a reference is generated");

    let statement = fixture.run_ok(&["account", "statement", "bakery"]);
    for part in ["opening", "+25", "+0.1", "-30.100001", "+5.000001", "cash", "R-1", "0.999999"] {
        assert!(statement.contains(part), "{part} in {statement}");
    }
    let none =
        fixture.run_ok(&["account", "statement", "bakery", "--from", "2020-01-01", "--to", "2020-01-31"]);
    assert!(none.contains("2020-01-01 to 2020-01-31, in EUR"), "{none}");
    fixture.assert_fails(&["account", "statement", "bakery", "--from", "yesterday"], 1, "INVALID_FIELD: ");
    fixture.assert_fails(&["topup", "nobody", "5"], 1, "NOT_FOUND: ");
}
