//! Every command of the runbook is run, in its order, on the demo.

use super::process::{self, Caller, path, run, start_demo};

const RUNBOOK: &str = include_str!("../../../../../docs/runbook.md");

#[test]
fn every_command_of_the_runbook_succeeds() {
    let folder = tempfile::tempdir().unwrap();
    let data = &folder.path().join("data");
    let (demo, ready) = start_demo(data);
    let customer = Caller::of(&ready);
    let account = process::json(data, &["account", "list"])["items"][0]["name"].as_str().unwrap().to_owned();
    let backup = folder.path().join("backup");
    let id = customer.send("Hello");
    customer.wait_for_status(&id, "delivered");

    let stands_for = [
        ("shop-key-1", customer.key.as_str()),
        ("shop", account.as_str()),
        ("north", "demo"),
        ("/var/backups/hermod/today", path(&backup)),
        ("30s", "1s"),
    ];
    let commands: Vec<&str> = RUNBOOK.lines().filter_map(|line| line.strip_prefix("$ hermod ")).collect();
    assert!(commands.len() > 25, "{commands:?}");
    for command in commands {
        let words: Vec<String> = words_of(command)
            .map(|word| {
                let found = stands_for.iter().find(|(name, _)| *name == word);
                found.map_or(word.to_owned(), |(_, value)| (*value).to_owned())
            })
            .collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (code, out, stderr) = run(&[&words[..], &["--data-dir", path(data)]].concat());
        assert_eq!(code, 0, "hermod {command}: {out}{stderr}");
    }
    assert_eq!(demo.terminate(), 0);
}

/// Splits a command as a shell does that knows double quotes only.
fn words_of(command: &str) -> impl Iterator<Item = &str> {
    let pieces = command.split('"').enumerate();
    pieces.flat_map(|(place, piece)| match place % 2 {
        0 => piece.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>(),
        _ => vec![piece],
    })
}
