//! Operator commands beside a running gateway, on a data folder without a gateway, and remotely.

use super::operator_fixture::OperatorFixture;
use super::operator_walkthrough::run_operator_walkthrough;
use super::process::path;
use serde_json::{Value, json};

#[test]
fn operator_commands_work_beside_a_running_gateway() {
    let mut fixture = OperatorFixture::with_gateway();
    run_operator_walkthrough(&fixture);
    assert_eq!(fixture.serving.take().unwrap().terminate(), 0);
    assert_eq!(
        fixture.json(&["account", "list"])["items"].as_array().map(Vec::len),
        Some(2),
        "both accounts are stored"
    );
}

#[test]
fn operator_commands_work_without_a_running_gateway() {
    let fixture = OperatorFixture::without_gateway();
    run_operator_walkthrough(&fixture);
    let (code, out, _) = super::process::run(&["audit", "--data-dir", path(&fixture.data())]);
    assert_eq!(code, 0, "{out}");
}

#[test]
fn operator_commands_work_remotely() {
    run_operator_walkthrough(&OperatorFixture::over_url());
}

#[test]
fn review_commands_list_show_and_decide_a_case() {
    let fixture = OperatorFixture::with_gateway();
    fixture.apply(&[]);
    fixture.run_ok(&["screen", "set", "links", "pattern=bit\\.ly"]);
    let made = fixture.json(&["key", "add", "k2", "connection=shop-http"]);
    let customer = super::process::Caller {
        address: fixture.address.clone(),
        key: "k2".to_owned(),
        secret: made["secrets"][0]["secret"].as_str().unwrap().to_owned(),
    };
    let body = json!({ "to": "+4915112345678", "text": "win at \u{1b}[2Jbit.ly" }).to_string();
    let (status, answer) = customer.call("POST", "/sms", &body);
    assert_eq!((status, answer["error"].as_str().unwrap().starts_with("HELD_FOR_REVIEW")), (403, true));
    let list = fixture.run_ok(&["review", "list"]);
    assert!(list.contains("shop") && list.contains("links"), "{list}");
    let id = fixture.json(&["review", "list"])["items"][0]["id"].to_string();
    let case = fixture.run_ok(&["review", "show", &id]);
    assert!(case.contains("win at \\u{1b}[2Jbit.ly"), "control characters are escaped: {case:?}");
    assert_eq!(
        fixture.run_ok(&["review", "approve", &id, "--by", "alice"]),
        format!("Case {id} is approved.\n")
    );
    assert_eq!(customer.call("POST", "/sms", &body).0, 202);
    assert_eq!(fixture.json(&["review", "list", "--state", "approved"])["items"][0]["decided_by"], "alice");
}

#[test]
fn invalid_commands_and_files_are_rejected_with_their_reason() {
    let fixture = OperatorFixture::without_gateway();
    fixture.assert_fails(&["account", "list"], 2, "is not a data folder of Hermod");
    assert!(!fixture.data().exists(), "reading does not create a data folder");
    fixture.apply(&["--dry-run"]);
    assert!(!fixture.data().exists(), "a dry run does not create a data folder");
    std::fs::write(fixture.data(), "a file").unwrap();
    fixture.assert_fails(&["account", "list"], 1, "Not a directory");
    std::fs::remove_file(fixture.data()).unwrap();
    fixture.apply(&[]);

    let bad = fixture.file("bad.toml");
    for (text, expect) in [
        ("[[account]]\nname = \"x\"\n", "bad.toml: REFUSED: account \"x\": missing field `currency`"),
        (
            "[[account]]\nname = \"x\"\ncurrency = \"EUR\"\nfoo = 1\n",
            "bad.toml:4: account 1.foo: unknown field",
        ),
        (
            "[[route]]\nprefix = \"1\"\ncarriers = [\"acne\"]\n",
            "bad.toml: REFUSED: route \"1\" refers to carrier \"acne\"",
        ),
    ] {
        std::fs::write(&bad, text).unwrap();
        fixture.assert_fails(&["apply", path(&bad)], 2, expect);
    }
    fixture.assert_fails(&["apply", "/nonexistent.toml"], 2, "/nonexistent.toml: cannot be read");
    fixture.assert_fails(
        &["route", "set", "1", "carriers=acne"],
        1,
        "REFUSED: route \"1\" refers to carrier \"acne\"",
    );
    fixture.assert_fails(&["carrier", "add", "new"], 1, "REFUSED: carrier \"new\" is new and has no");
    fixture.assert_fails(&["account", "set", "shop"], 2, "FIELD=VALUE");
    fixture.assert_fails(
        &["account", "set", "nobody", "verified=true"],
        1,
        "REFUSED: account \"nobody\": missing field `currency`",
    );
    fixture.assert_fails(&["account", "verify", "nobody"], 1, "NOT_FOUND: there is no account \"nobody\"");
    fixture.assert_fails(&["key", "rotate", "nobody"], 1, "NOT_FOUND: ");
    fixture.assert_fails(&["price", "set", "49", "per_part=five"], 1, "REFUSED: ");
    fixture.assert_fails(&["screen", "set", "s", "pattern=("], 1, "REFUSED: ");
    fixture.assert_fails(
        &["control", "set", "c", "messages_per_day=1", "spend_per_day=1"],
        1,
        "has exactly one of",
    );
    fixture.assert_fails(&["topup", "shop"], 2, "<AMOUNT>");
    let (code, out, stderr) = fixture.run(&["account", "show", "nobody", "--json"]);
    let refused: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, stderr), (1, format!("hermod: {}\n", refused["error"].as_str().unwrap())));
}

#[test]
fn wrong_or_invalid_token_is_rejected() {
    let mut fixture = OperatorFixture::over_url();
    let wrong = fixture.file("wrong");
    std::fs::write(&wrong, "wrong-wrong-wrong-wrong\n").unwrap();
    let right = fixture.target.clone();
    fixture.target[3] = path(&wrong).to_owned();
    fixture.assert_fails(&["account", "list"], 1, "INVALID_TOKEN: ");
    std::fs::write(&wrong, "two words that are long enough\n").unwrap();
    fixture.assert_fails(&["account", "list"], 2, "token has invalid characters");
    fixture.target =
        vec!["--url".to_owned(), "http://gateway.example".to_owned(), right[2].clone(), right[3].clone()];
    fixture.assert_fails(&["account", "list"], 2, "allow it with --plain-http");
    fixture.target = right[..2].to_vec();
    fixture.assert_fails(&["account", "list"], 2, "--url also needs --token-file");
}

#[test]
fn stale_operator_url_after_a_crash_is_not_used() {
    let mut fixture = OperatorFixture::with_gateway();
    fixture.apply(&[]);
    let mut serving = fixture.serving.take().unwrap();
    serving.child.kill().unwrap();
    serving.child.wait().unwrap();
    assert!(fixture.data().join("operator.url").exists(), "the killed gateway left its file");
    // Another process has the port now and must not get the token.
    let stranger = std::net::TcpListener::bind(&fixture.address).unwrap();
    stranger.set_nonblocking(true).unwrap();
    assert!(fixture.run_ok(&["account", "list"]).contains("shop"));
    assert!(stranger.accept().is_err(), "the other process was called");
}

#[test]
fn concurrent_commands_on_a_data_folder_wait_for_each_other() {
    let fixture = OperatorFixture::without_gateway();
    fixture.apply(&[]);
    std::thread::scope(|scope| {
        let posting: Vec<_> =
            (0..4).map(|_| scope.spawn(|| fixture.run_ok(&["topup", "shop", "1"]))).collect();
        for posted in posting {
            assert!(posted.join().unwrap().contains("was posted to shop"));
        }
    });
    assert_eq!(fixture.json(&["account", "show", "shop"])["money"]["balance"], json!(104));
}
