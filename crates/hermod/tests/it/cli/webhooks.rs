//! The operator's webhook commands, with and without a running gateway.

use super::operator_fixture::OperatorFixture;
use super::process::path;

/// Returns the secret in a command's output, the only word of its length.
#[track_caller]
fn shown_secret(out: &str) -> String {
    let found = out.split_whitespace().find(|word| word.len() == 40);
    found.unwrap_or_else(|| panic!("no secret in {out}")).to_owned()
}

#[test]
fn webhook_commands_manage_addresses_secrets_and_events() {
    for fixture in [OperatorFixture::with_gateway(), OperatorFixture::without_gateway()] {
        fixture.apply(&[]);
        fixture.assert_fails(
            &["account", "set", "shop", "dlr_webhook=https://10.0.0.1/"],
            1,
            "private network",
        );
        let out = fixture.run_ok(&["account", "set", "shop", "dlr_webhook=https://shop.example/dlr"]);
        assert!(out.contains("dlr_webhook: nothing -> https://shop.example/dlr"), "{out}");
        let first = shown_secret(&out);
        assert!(
            out.contains("it is stored encrypted. hermod webhook secret stage shop makes another."),
            "{out}"
        );
        assert!(!out.contains("digest"), "{out}");
        let shown = fixture.run_ok(&["webhook", "show", "shop"]);
        assert!(shown.contains("https://shop.example/dlr") && !shown.contains(&first), "{shown}");

        fixture.assert_fails(&["webhook", "secret", "switch", "shop"], 1, "stage one first");
        let staged = shown_secret(&fixture.run_ok(&["webhook", "secret", "stage", "shop"]));
        assert_ne!(staged, first);
        let out = fixture.run_ok(&["webhook", "secret", "switch", "shop"]);
        assert!(out.contains("24 hours"), "{out}");
        assert!(!fixture.run_ok(&["webhook", "show", "shop", "--json"]).contains(&staged));
        let own = fixture.file("own-secret.txt");
        std::fs::write(&own, "a-secret-of-their-own\n").unwrap();
        let out = fixture.run_ok(&["webhook", "secret", "stage", "shop", "--secret-file", path(&own)]);
        assert!(out.starts_with("Staged") && !out.contains("a-secret-of-their-own"), "{out}");
        fixture.run_ok(&["webhook", "secret", "drop", "shop"]);

        assert_eq!(fixture.run_ok(&["webhook", "list", "shop", "--state", "failed"]), "No webhook events.\n");
        fixture.assert_fails(
            &["webhook", "attempts", "shop", "evt_1"],
            1,
            "there is no webhook event \"evt_1\"",
        );
        fixture.assert_fails(
            &["webhook", "replay", "shop", "evt_1"],
            1,
            "there is no webhook event \"evt_1\"",
        );
        let out = fixture.run_ok(&["webhook", "replay", "shop", "--since", "2026-11-15"]);
        assert_eq!(out, "There is no event to post again.\n");
        assert_eq!(fixture.run_ok(&["webhook", "replay", "shop", "--waiting"]), out);
        fixture.assert_fails(&["webhook", "replay", "shop", "evt_1", "--waiting"], 2, "cannot be used with");
        fixture.assert_fails(&["webhook", "replay", "shop"], 2, "required");
        fixture.assert_fails(&["webhook", "show", "nobody"], 1, "there is no account \"nobody\"");
    }
}
