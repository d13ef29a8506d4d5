//! `hermod user`, `hermod operator` and `hermod changes`, on a folder where no gateway runs and beside the demo.

use super::process::{command, json, path, run, start_demo};
use std::path::Path;

#[test]
fn user_is_invited_listed_and_removed_and_the_changes_are_in_the_audit_log() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let (demo, ready) = start_demo(&data);
    assert_eq!(ready["portal_email"], "demo@example.com");
    assert!(ready["portal_password"].as_str().is_some_and(|password| password.len() >= 12), "{ready}");
    let invited =
        json(&data, &["user", "invite", "Ann@Example.com", "--account", "demo", "--role", "viewer"]);
    let link = invited["link"].as_str().unwrap();
    assert!(link.starts_with("http://127.0.0.1:") && link.contains("/links/"), "{link}");
    assert_eq!((&invited["email"], &invited["is_reset"]), (&"ann@example.com".into(), &false.into()));
    let users = command(&data, &["user", "list"]);
    let ann = users.lines().find(|line| line.starts_with("ann@example.com")).unwrap();
    let cells: Vec<&str> = ann.split_whitespace().skip(1).collect();
    assert_eq!(cells, ["demo:viewer", "demo"], "the account, and that it is pending: {users}");
    command(&data, &["user", "invite", "ann@example.com", "--account", "demo", "--role", "billing"]);
    assert!(command(&data, &["user", "list"]).contains("demo:billing"));
    let reset = command(&data, &["user", "reset-second-factor", "Ann@Example.com"]);
    assert_eq!(reset, "ann@example.com has no second factor; nothing changed.\n");
    let (code, _, error) =
        run(&["user", "reset-second-factor", "nobody@example.com", "--data-dir", path(&data)]);
    assert!(code == 1 && error.contains("NOT_FOUND"), "{error}");
    command(&data, &["user", "remove", "ann@example.com"]);
    drop(demo);
    // The same on the folder without a gateway.
    let changes = json(&data, &["changes", "--account", "demo", "--limit", "5"]);
    let rows = changes["items"].as_array().unwrap();
    let actions: Vec<&str> = rows.iter().map(|row| row["action"].as_str().unwrap()).collect();
    assert_eq!(actions, ["user.remove", "user.invite", "user.update", "user.invite", "user.create"]);
    assert!(
        rows.iter().all(|row| row["by"] == "operator" && row["subject"] == "ann@example.com"),
        "{changes}"
    );
    assert!(!changes.to_string().contains("links/"), "{changes}");
    let (code, out, _) = run(&["user", "invite", "not an address", "--data-dir", path(&data)]);
    assert_eq!(code, 1, "{out}");
    let audit = command(&data, &["audit"]);
    assert!(audit.contains("audit log") && audit.contains("No violations."), "{audit}");
}

#[test]
fn invitation_of_an_existing_user_says_what_its_link_replaces() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let (demo, ready) = start_demo(&data);
    let email = ready["portal_email"].as_str().unwrap();
    command(&data, &["account", "add", "other", "currency=EUR"]);
    let invite = ["user", "invite", email, "--account", "other"];
    let invited = json(&data, &invite);
    assert_eq!((&invited["is_reset"], &invited["starts_afresh"]), (&true.into(), &true.into()), "{invited}");
    let text = command(&data, &invite);
    let note = format!("{email} is already a user. Using the link ends all sessions, replaces the password");
    assert!(text.contains(&note) && text.contains("accepts under Invitations instead"), "{text}");
    for invite in
        [&["user", "invite", email][..], &["user", "invite", "new@example.com", "--account", "other"]]
    {
        assert_eq!(json(&data, invite)["starts_afresh"], false, "{invite:?}");
        let text = command(&data, invite);
        assert!(!text.contains("is already a user"), "{text}");
    }
    drop(demo);
}

#[test]
fn named_operators_are_in_the_audit_log_and_a_revoked_token_is_rejected_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let (demo, _) = start_demo(&data);
    let url = std::fs::read_to_string(data.join("operator.url")).unwrap();
    let files = ["ann", "bob"].map(|name| {
        let added = json(&data, &["operator", "add", name, "role=finance"]);
        let file = folder.path().join(name);
        std::fs::write(&file, added["secrets"][0]["secret"].as_str().unwrap()).unwrap();
        file
    });
    let top_up = |file: &Path| run(&["topup", "demo", "1", "--url", url.trim(), "--token-file", path(file)]);
    for file in &files {
        let (code, out, error) = top_up(file);
        assert_eq!(code, 0, "{out}{error}");
    }
    let (code, _, error) = run(&["operator", "add", "ann", "role=finance", "--data-dir", path(&data)]);
    assert!(code == 1 && error.contains("ALREADY_EXISTS"), "{error}");
    command(&data, &["operator", "remove", "ann"]);
    let (code, _, error) = top_up(&files[0]);
    assert!(code == 1 && error.contains("INVALID_TOKEN"), "{error}");
    assert_eq!(top_up(&files[1]).0, 0);
    let by = |name: &str, action: &str| -> Vec<String> {
        let changes = json(&data, &["changes", "--by", name, "--action", action, "--since", "1h"]);
        let rows = changes["items"].as_array().unwrap();
        rows.iter().map(|row| row["by"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(by("ann", "ledger"), ["operator ann"]);
    assert_eq!(by("operator bob", "ledger.top-up"), ["operator bob", "operator bob"]);
    assert_eq!(by("operator", "operator"), ["operator"; 3], "two added, one removed");
    let list = command(&data, &["operator", "list"]);
    assert!(list.contains("bob") && !list.contains("ann"), "{list}");
    assert!(command(&data, &["customer-request", "list"]).contains("No requests found."));
    drop(demo);
}
