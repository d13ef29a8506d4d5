//! `hermod user` and `hermod changes`, on a folder where no gateway runs and beside the demo.

use super::process::{command, json, path, run, start_demo};

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
    assert!(users.contains("ann@example.com") && users.contains("demo (viewer)"), "{users}");
    command(&data, &["user", "invite", "ann@example.com", "--account", "demo", "--role", "billing"]);
    assert!(command(&data, &["user", "list"]).contains("demo (billing)"));
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
