//! Unit tests of `alarm_command.rs`, with real programs.

use super::*;
use crate::live_status::{Alarm, AlarmKind};
use hermod_domain::time::Timestamp;

fn notification() -> AlarmNotification {
    let at = Timestamp::parse("2026-11-19T10:00:00Z").unwrap();
    let alarm = Alarm {
        kind: AlarmKind::CarrierDown,
        carrier: "acme".to_owned(),
        about: String::new(),
        detail: "$(touch hurt); `id`".to_owned(),
        first_at: at,
        last_at: at,
        count: 1,
    };
    AlarmNotification { id: "alarm_1".to_owned(), alarm, is_over: false, at, node: None }
}

fn words(command: &[&str]) -> Vec<String> {
    command.iter().map(|word| (*word).to_owned()).collect()
}

#[tokio::test]
async fn command_gets_the_alarm_as_json_and_in_variables_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let (json, variables) = (folder.path().join("json"), folder.path().join("variables"));
    let script = format!("cat > {}; env > {}", json.display(), variables.display());
    assert_eq!(run(&words(&["/bin/sh", "-c", &script]), &notification()).await, Ok(()));
    assert_eq!(std::fs::read_to_string(json).unwrap(), notification().body());
    let seen = std::fs::read_to_string(variables).unwrap();
    assert!(seen.contains("HERMOD_ALARM=carrier-down\n"), "{seen}");
    assert!(seen.contains("HERMOD_ALARM_DETAIL=$(touch hurt); `id`\n"), "{seen}");
    let foreign = seen.lines().filter(|line| !line.starts_with("HERMOD_ALARM"));
    let foreign: Vec<&str> = foreign
        .filter(|line| {
            !["PATH", "PWD", "SHLVL", "_", "OLDPWD"].iter().any(|own| line.split('=').next() == Some(own))
        })
        .collect();
    assert!(foreign.is_empty(), "{foreign:?}");
}

#[tokio::test]
async fn command_that_fails_or_is_missing_is_an_error() {
    let failed = run(&words(&["/bin/sh", "-c", "exit 3"]), &notification()).await.unwrap_err();
    assert!(failed.contains("/bin/sh failed") && failed.contains('3'), "{failed}");
    let missing = run(&words(&["/nowhere/page"]), &notification()).await.unwrap_err();
    assert!(missing.starts_with("/nowhere/page cannot be started"), "{missing}");
    // It does not read its input.
    assert_eq!(run(&words(&["/bin/true"]), &notification()).await, Ok(()));
}
