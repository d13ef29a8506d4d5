//! Help of the command line: grouped help, shell completions, man pages, and tables that fit the
//! terminal.

use super::process::{hermod, output_of, path, run, start_demo};
use std::io::Write;
use std::process::{Command, Stdio};

#[test]
fn help_lists_commands_in_groups_and_explains_each() {
    let (code, out, _) = run(&["help"]);
    assert_eq!(code, 0);
    for part in
        ["\nRun:\n", "\nSet up:\n", "\nMoney:\n", "\nSend:\n", "\nOperate:\n", "\nHelp:\n", "  topup "]
    {
        assert!(out.contains(part), "{part} in {out}");
    }
    assert_eq!(run(&["--help"]).1, out, "both print the same help");
    let (code, out, _) = run(&["help", "account", "set"]);
    assert!(code == 0 && out.contains("Usage: hermod account set") && out.contains("Example"), "{out}");
    let (code, _, stderr) = run(&["help", "account", "sett"]);
    let expect = "hermod account has no command \"sett\": hermod account --help lists its commands";
    assert_eq!((code, stderr.contains(expect)), (2, true), "{stderr}");
}

#[test]
fn completion_scripts_contain_every_command() {
    for shell in ["bash", "zsh", "fish"] {
        let (code, script, stderr) = run(&["completions", shell]);
        assert_eq!((code, stderr.as_str()), (0, ""), "{shell}");
        for word in ["test-bind", "data-dir", "topup", "completions"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
        // In fish, only commands and options are completed.
        assert!(script.contains("credit_limit=") || shell == "fish", "{shell}");
    }
    // bash completes the commands that begin with "ap".
    let script = format!(
        "{}\nCOMP_WORDS=(hermod ap); COMP_CWORD=1; _hermod hermod ap hermod; echo \"${{COMPREPLY[@]}}\"\n",
        run(&["completions", "bash"]).1
    );
    let mut bash = Command::new("bash");
    bash.args(["--noprofile", "--norc"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = bash.spawn().expect("bash is everywhere");
    child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "apply\n",
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let (code, _, stderr) = run(&["completions", "cmd"]);
    assert_eq!((code, stderr.contains("possible values")), (2, true), "{stderr}");
}

#[test]
fn man_command_writes_a_page_for_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man1");
    let (code, out, _) = run(&["man", path(&pages)]);
    assert_eq!((code, out.contains("hermod.1")), (0, true), "{out}");
    for (page, part) in
        [("hermod.1", "SYNOPSIS"), ("hermod-serve.1", "config"), ("hermod-account-set.1", "credit")]
    {
        let text =
            std::fs::read_to_string(pages.join(page)).unwrap_or_else(|error| panic!("{page}: {error}"));
        assert!(text.contains(".TH ") && text.contains(part), "{page}: {text}");
    }
    let (code, _, stderr) = run(&["man", "/proc/nowhere"]);
    assert_eq!((code, stderr.contains("/proc/nowhere: ")), (1, true), "{stderr}");
}

#[test]
fn tables_fit_the_terminal_and_piped_output_has_one_line_for_each_row() {
    let folder = tempfile::tempdir().unwrap();
    let (demo, _) = start_demo(folder.path());
    let listed = |columns: &str| {
        let mut command = hermod(&["account", "list", "--data-dir", path(folder.path())]);
        if !columns.is_empty() {
            command.env("COLUMNS", columns);
        }
        let (code, out, stderr) = output_of(&mut command);
        assert_eq!((code, stderr.as_str()), (0, ""), "{out}");
        out
    };
    let wide = listed("");
    assert!(wide.starts_with("NAME ") && wide.lines().count() == 2, "{wide}");
    assert_eq!(listed("500"), wide);
    let narrow = listed("30");
    assert!(narrow.contains("NAME") && narrow.contains("\nCURRENCY"), "{narrow}");
    assert!(narrow.lines().all(|line| line.chars().count() <= 30), "{narrow}");
    assert_eq!(demo.terminate(), 0);
}
