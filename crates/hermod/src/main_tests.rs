//! Unit tests of `main.rs`.

use super::*;

#[test]
fn command_line_definition_is_valid() {
    Cli::command().debug_assert();
}

#[test]
fn every_command_has_an_about_text_and_examples() {
    fn check(path: &str, command: &clap::Command) {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        assert!(help.starts_with("Example"), "{path} has no examples");
        assert!(help.contains(path), "the examples of {path} do not show it");
        assert!(command.get_about().is_some(), "{path} does not say what it does");
        for below in command.get_subcommands() {
            check(&format!("{path} {}", below.get_name()), below);
        }
    }
    for command in Cli::command().get_subcommands() {
        check(&format!("hermod {}", command.get_name()), command);
    }
}

/// Lists whose summary does not begin with the word.
const FURTHER_LISTS: [&str; 5] =
    ["hermod account statement", "hermod deliveries", "hermod links", "hermod messages", "hermod stats"];

#[test]
fn every_list_can_be_printed_as_csv_and_json() {
    fn check(path: &str, command: &clap::Command, lists: &mut Vec<String>) {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let says_so = about.starts_with("List ") || about.starts_with("List,");
        if !command.is_subcommand_required_set() && (says_so || FURTHER_LISTS.contains(&path)) {
            let has = |name: &str| command.get_arguments().any(|option| option.get_long() == Some(name));
            assert!(has("csv") && has("json"), "{path} has not both --csv and --json");
            lists.push(path.to_owned());
        }
        for below in command.get_subcommands() {
            check(&format!("{path} {}", below.get_name()), below, lists);
        }
    }
    let mut cli = Cli::command();
    cli.build();
    let mut lists = Vec::new();
    check("hermod", &cli, &mut lists);
    assert!(FURTHER_LISTS.iter().all(|list| lists.iter().any(|seen| seen == list)), "{lists:?}");
    assert!(lists.len() >= 32, "{lists:?}");
}

#[test]
fn every_command_is_in_one_group() {
    let help = groups::grouped(command_line()).render_help().to_string();
    for command in Cli::command().get_subcommands() {
        let line = format!("\n  {} ", command.get_name());
        assert_eq!(help.matches(&line).count(), 1, "{}: {help}", command.get_name());
    }
}

#[test]
fn paragraphs_after_the_options_are_one_line_each() {
    let serve =
        command_line().find_subcommand("serve").and_then(clap::Command::get_after_help).unwrap().to_string();
    let lines: Vec<&str> = serve.lines().collect();
    let is_prose = |line: &&str| !line.is_empty() && !line.starts_with(' ') && !line.ends_with(':');
    assert!(!lines.windows(2).any(|pair| pair.iter().all(is_prose)), "{serve}");
    assert!(serve.starts_with("Examples:\n  Start from"), "{serve}");
}

/// Finds commands in a text: in backticks, on lines of their own, after a prompt.
fn commands_in(text: &str) -> Vec<String> {
    let joined = text.replace("\\\n", " ");
    let lines = joined.lines().map(|line| line.trim_start_matches([' ', '$', '#']).to_owned());
    let ticked = joined.split('`').skip(1).step_by(2).map(|code| code.replace('\n', " "));
    lines.chain(ticked).filter(|line| line.starts_with("hermod ")).collect()
}

/// Checks that a command and its options exist. Values are not checked: many are placeholders.
fn is_known(cli: &clap::Command, line: &str) -> Result<(), String> {
    let ends = ["|", ">", "<", "#", ";", "&&", "||"];
    let words: Vec<&str> = line.split_whitespace().skip(1).take_while(|word| !ends.contains(word)).collect();
    let (mut command, mut words) = (cli, words.as_slice());
    while let [word, rest @ ..] = words
        && let Some(below) = command.find_subcommand(word)
    {
        (command, words) = (below, rest);
    }
    if let [word, ..] = words
        && !word.starts_with('-')
        && command.has_subcommands()
        && command.get_positionals().next().is_none()
    {
        return Err(format!("{} has no command {word}", command.get_name()));
    }
    let flags = words.iter().filter_map(|word| word.strip_prefix("--")).filter(|flag| !flag.is_empty());
    for flag in flags.map(|flag| flag.split(['=', ',', '.', ')']).next().unwrap_or_default()) {
        let known = command.get_arguments().any(|argument| argument.get_long() == Some(flag));
        if !known {
            return Err(format!("{} has no option --{flag}", command.get_name()));
        }
    }
    Ok(())
}

#[test]
fn every_command_in_the_documentation_and_in_examples_exists() {
    fn examples(command: &clap::Command, texts: &mut Vec<(String, String)>) {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        texts.push((format!("help of {}", command.get_name()), help));
        command.get_subcommands().for_each(|below| examples(below, texts));
    }
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let pages = std::fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let pages = pages.filter(|path| path.extension().is_some_and(|kind| kind == "md"));
    let mut texts: Vec<(String, String)> = pages
        .chain([root.join("README.md")])
        .map(|path| (path.display().to_string(), std::fs::read_to_string(&path).unwrap()))
        .collect();
    examples(&Cli::command(), &mut texts);
    let mut cli = Cli::command();
    cli.build();
    let (mut seen, mut wrong) = (0, Vec::new());
    for (place, text) in &texts {
        for line in commands_in(text) {
            seen += 1;
            wrong.extend(is_known(&cli, &line).err().map(|error| format!("{place}: {line}: {error}")));
        }
    }
    assert!(seen > 200, "{seen}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}
