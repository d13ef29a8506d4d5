//! Unit tests of `changes.rs`.

use super::*;

#[test]
fn difference_has_a_line_for_each_changed_entry() {
    let applied = r#"{"dry_run": true, "secrets": [], "warnings": [], "changes": [
            {"kind": "account", "name": "shop", "effect": "created", "fields": [], "left": []},
            {"kind": "connection", "name": "shop-http", "effect": "updated",
             "fields": [{"field": "rate", "before": 10, "after": 20}, {"field": "allow", "before": null, "after": ["192.0.2.7"]}], "left": []},
            {"kind": "route", "name": "*", "effect": "same", "fields": [], "left": []},
            {"kind": "key", "name": "old", "effect": "removed", "fields": [], "left": []}]}"#;
    let applied: AppliedView = serde_json::from_str(applied).unwrap();
    let expect = "+ account shop\n~ connection shop-http\n    rate: 10 -> 20\n    allow: nothing -> [\"192.0.2.7\"]\n\
                      - key old\n= 1 unchanged\nThis was a dry run: nothing was changed.\n";
    assert_eq!(difference(&applied, Paint::Plain), expect);
}

#[test]
fn secrets_are_printed_with_the_command_that_makes_another() {
    let issued = |key: &str| SecretView { key: key.to_owned(), secret: format!("secret of {key}") };
    let text = secrets_text(&[issued("shop-key-1"), issued("webhooks of shop")]);
    let expect = "\nNew secrets, shown only now: only a digest of each is stored. hermod key rotate KEY makes another.\n\
                      \u{20} shop-key-1  secret of shop-key-1\n\
                      \nWebhooks are signed with this secret, shown only now: it is stored encrypted. hermod webhook secret \
                      stage shop makes another.\n  webhooks of shop  secret of webhooks of shop\n";
    assert_eq!(text, expect);
    assert!(!secrets_text(&[issued("webhooks of shop")]).contains("digest"));
}

#[test]
fn difference_without_changes_is_one_line() {
    let applied =
        AppliedView { dry_run: false, changes: Vec::new(), secrets: Vec::new(), warnings: Vec::new() };
    assert_eq!(difference(&applied, Paint::Plain), "Nothing to change.\n");
}

#[test]
fn each_kind_of_secret_is_printed_with_its_own_advice() {
    for (key, heading, advice) in [
        ("shop-key-1", "New secrets", "hermod key rotate KEY"),
        (
            "token of operator ann",
            "New tokens",
            "hermod operator remove ann and hermod operator add ann role=ROLE",
        ),
        ("password of shop-smpp", "New SMPP passwords", "hermod connection set shop-smpp password=@FILE"),
        ("webhooks of shop", "Webhooks are signed", "hermod webhook secret stage shop"),
    ] {
        let text = secrets_text(&[SecretView { key: key.to_owned(), secret: "s3cret".to_owned() }]);
        assert!(text.contains(heading) && text.contains(advice), "{text}");
        assert_eq!(text.matches("hermod key").count(), usize::from(key == "shop-key-1"), "{text}");
        assert!(text.ends_with(&format!("  {key}  s3cret\n")), "{text}");
    }
}
