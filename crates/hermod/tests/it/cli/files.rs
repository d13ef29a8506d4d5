//! Exports and imports: the setup as a provision file, entries, opt-outs and lists as CSV.

use super::operator_fixture::OperatorFixture;
use super::process::path;
use hermod_operator::kind::Kind;

/// Exports and imports what the walkthrough has set up, and leaves it as it is.
pub(crate) fn export_and_import(fixture: &OperatorFixture) {
    export_setup(fixture);
    import_entries(fixture);
    import_rate_sheet(fixture);
    import_opt_outs(fixture);
    print_lists(fixture);
}

fn export_setup(fixture: &OperatorFixture) {
    let export = fixture.run_ok(&["config", "export"]);
    let file = fixture.file("exported.toml");
    std::fs::write(&file, &export).expect("a file");
    assert!(export.contains("[[carrier]]\nname = \"acme\"\naddress = \"127.0.0.1:9\"\n"), "{export}");
    assert!(!export.contains("canary"), "{export}");
    assert_eq!(fixture.run_ok(&["apply", path(&file)]), "Nothing to change.\n");
    assert_eq!(fixture.run_ok(&["config", "export"]), export);
    let prices = fixture.run_ok(&["config", "export", "--kind", "price", "--kind", "block"]);
    assert!(prices.contains("[[price]]") && prices.contains("[[block]]") && !prices.contains("[[route]]"));
    let shop = fixture.run_ok(&["config", "export", "--account", "shop", "--full"]);
    assert!(shop.contains("[[key]]") && !shop.contains("[[carrier]]"), "{shop}");
    fixture.assert_fails(&["config", "export", "--account", "shoop"], 1, "NOT_FOUND: ");
    fixture.assert_fails(&["config", "export", "--json"], 2, "TOML");
}

fn import_entries(fixture: &OperatorFixture) {
    let file = fixture.file("entries.csv");
    for kind in Kind::ALL {
        let command = kind.command();
        std::fs::write(&file, fixture.run_ok(&[&command, "export"])).expect("a file");
        assert_eq!(fixture.run_ok(&[&command, "import", path(&file)]), "Nothing to change.\n", "{kind}");
    }
    std::fs::write(&file, "\u{feff}account;prefix;per_part\r\nshop;47;0.02\r\n").expect("a file");
    assert_eq!(
        fixture.run_ok(&["price", "import", path(&file), "--dry-run"]),
        "+ price shop/47\nThis was a dry run: nothing was changed.\n"
    );
    assert_eq!(fixture.run_ok(&["price", "import", path(&file)]), "+ price shop/47\n");
    assert_eq!(fixture.run_ok(&["price", "remove", "shop/47"]), "- price shop/47\n");
    std::fs::write(&file, "prefix,per_part\n47,\"0,02\"\n").expect("a file");
    let import = ["price", "import", path(&file)];
    fixture.assert_fails(&import, 2, "entries.csv: INVALID_CSV: line 2, column per_part: \"0,02\"");
    fixture.assert_fails(&["price", "import", "missing.csv"], 2, "missing.csv");
}

/// Imports a rate sheet, and takes it back.
fn import_rate_sheet(fixture: &OperatorFixture) {
    let file = fixture.file("sheet.csv");
    std::fs::write(&file, "MCC;MNC;Price;Currency;From\n262;1;0,031;EUR;01.01.2999\n262;99;0,03;EUR;\n")
        .expect("a file");
    let import = ["rates", "import", "acme", path(&file)];
    let plan = fixture.run_ok(&[&import[..], &["--dry-run"]].concat());
    let expect = "2 rows for acme, a partial sheet: 1 new\n\n\
                  DESTINATION  CHANGE   THEN  CURRENCY  FROM\n\
                  262-01       new     0.031  EUR       2999-01-01T00:00:00Z\n\n\
                  1 row cannot be read and changes nothing:\n  line 3: there is no network 262-99\n";
    assert_eq!(plan, format!("{expect}This was a dry run: nothing was changed.\n"));
    let (code, out, stderr) = fixture.run(&import);
    assert_eq!((code, out.as_str()), (1, expect));
    assert!(stderr.contains("nothing was changed: confirm the plan with --yes"), "{stderr}");
    let confirmed = [&import[..], &["--yes"]].concat();
    let applied = "Applied. Until its costs apply, the sheet can be taken back: hermod rates undo acme\n";
    assert_eq!(fixture.run_ok(&confirmed), format!("{expect}{applied}"));
    assert!(fixture.run_ok(&confirmed).starts_with("2 rows for acme, a partial sheet: 1 unchanged\n"));
    assert!(fixture.run_ok(&["rates", "list", "acme"]).contains("sheet.csv"));
    assert_eq!(fixture.run_ok(&["rates", "undo", "acme"]), "Costs of sheet 1 (sheet.csv) taken back: 1.\n");
    std::fs::write(&file, "a;b\n1;2\n").expect("a file");
    fixture.assert_fails(&import, 2, "sheet.csv: REFUSED: the sheet has no line with headers");
}

fn import_opt_outs(fixture: &OperatorFixture) {
    let file = fixture.file("opt-outs.csv");
    std::fs::write(&file, "number;how\n4915112345678;by letter\n'+4915112345679;\n").expect("a file");
    let import = ["opt-out", "import", path(&file), "--account", "shop"];
    assert_eq!(
        fixture.run_ok(&[&import[..], &["--dry-run"]].concat()),
        "2 of 2 numbers would be opted out; 0 are already.\nThis was a dry run: nothing was changed.\n"
    );
    assert_eq!(fixture.run_ok(&import), "Opted out 2 of 2 numbers; 0 were already.\n");
    assert_eq!(fixture.run_ok(&import), "Opted out 0 of 2 numbers; 2 were already.\n");
    let export = fixture.run_ok(&["opt-out", "export", "--account", "shop"]);
    assert!(export.starts_with("account,number,since,source,how\r\nshop,4915112345678,20"), "{export}");
    assert!(export.contains(",import,by letter\r\nshop,4915112345679,"), "{export}");
    fixture.assert_fails(
        &["opt-out", "import", path(&file)],
        2,
        "opt-outs.csv: INVALID_CSV: line 2, column account",
    );
    for number in ["+4915112345678", "+4915112345679"] {
        fixture.run_ok(&["account", "opt-outs", "shop", "--lift", number]);
    }
}

fn print_lists(fixture: &OperatorFixture) {
    for (args, expect) in [
        (
            &["price", "list", "--csv"][..],
            "name,per_part,free,closed,until\r\n*,0.05,,,\r\nshop/49@2027-01-01,0.0375,,,\r\n",
        ),
        (
            &["route", "list", "--csv", "--account", "shop"],
            "\r\nshop/mcc262@Shop,\"acme:1:70, backup:1:30\",",
        ),
        (&["account", "list", "--csv"], "name,balance,currency,"),
        (&["account", "opt-outs", "shop", "--csv"], "number,source,how,at\r\n"),
        (&["account", "ledger", "shop", "--csv"], "opening balance"),
        (&["account", "statement", "shop", "--csv"], "day,line,balance,credit_used,"),
        (&["review", "list", "--csv"], "id,"),
        (&["queue", "list", "--csv"], "carrier,"),
        (&["deliveries", "--csv"], "carrier,"),
    ] {
        let out = fixture.run_ok(args);
        assert!(out.contains(expect), "{args:?}: {out}");
    }
    let page = fixture.json(&["changes", "--limit", "1"]);
    assert_eq!(page["items"].as_array().map(Vec::len), Some(1));
    let all = fixture.run_ok(&["changes", "--limit", "1", "--csv"]);
    assert!(all.starts_with("number,") && all.lines().count() > 20, "{all}");
    fixture.assert_fails(&["price", "list", "--csv", "--json"], 2, "cannot be used with");
}
