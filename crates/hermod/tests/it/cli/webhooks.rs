//! The operator's webhook commands, with and without a running gateway.

use super::operator_fixture::Office;
use super::process::path;

/// Returns the secret in a command's output, the only word of its length.
#[track_caller]
fn shown_secret(out: &str) -> String {
    let found = out.split_whitespace().find(|word| word.len() == 40);
    found.unwrap_or_else(|| panic!("no secret in {out}")).to_owned()
}

#[test]
fn webhook_commands_manage_addresses_secrets_and_events() {
    for office in [Office::open(), Office::closed()] {
        office.apply(&[]);
        office.is_refused(
            &["account", "set", "shop", "--dlr-webhook", "https://10.0.0.1/"],
            1,
            "private network",
        );
        let out = office.does(&["account", "set", "shop", "--dlr-webhook", "https://shop.example/dlr"]);
        assert!(out.contains("dlr_webhook: nothing -> https://shop.example/dlr"), "{out}");
        let first = shown_secret(&out);
        assert!(
            out.contains("it is stored encrypted. hermod webhook secret stage shop makes another."),
            "{out}"
        );
        assert!(!out.contains("digest"), "{out}");
        let shown = office.does(&["webhook", "show", "shop"]);
        assert!(shown.contains("https://shop.example/dlr") && !shown.contains(&first), "{shown}");

        office.is_refused(&["webhook", "secret", "switch", "shop"], 1, "stage one first");
        let staged = shown_secret(&office.does(&["webhook", "secret", "stage", "shop"]));
        assert_ne!(staged, first);
        let out = office.does(&["webhook", "secret", "switch", "shop"]);
        assert!(out.contains("24 hours"), "{out}");
        assert!(!office.does(&["webhook", "show", "shop", "--json"]).contains(&staged));
        let own = office.file("own-secret.txt");
        std::fs::write(&own, "a-secret-of-their-own\n").unwrap();
        let out = office.does(&["webhook", "secret", "stage", "shop", "--secret-file", path(&own)]);
        assert!(out.starts_with("Staged") && !out.contains("a-secret-of-their-own"), "{out}");
        office.does(&["webhook", "secret", "drop", "shop"]);

        assert_eq!(office.does(&["webhook", "list", "shop", "--state", "failed"]), "No webhook events.\n");
        office.is_refused(
            &["webhook", "attempts", "shop", "evt_1"],
            1,
            "there is no webhook event \"evt_1\"",
        );
        office.is_refused(&["webhook", "replay", "shop", "evt_1"], 1, "there is no webhook event \"evt_1\"");
        let out = office.does(&["webhook", "replay", "shop", "--since", "2026-11-15"]);
        assert_eq!(out, "0 events are posted again.\n");
        office.is_refused(&["webhook", "replay", "shop"], 2, "required");
        office.is_refused(&["webhook", "show", "nobody"], 1, "there is no account \"nobody\"");
    }
}
