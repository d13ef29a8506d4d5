//! The groups of commands on the first page of the help.

use clap::Command;

/// Every command, once; a test checks that.
const GROUPS: [(&str, &[&str]); 7] = [
    ("Run", &["demo", "serve", "config", "version"]),
    (
        "Set up",
        &[
            "apply",
            "account",
            "connection",
            "key",
            "sender",
            "number",
            "price-list",
            "price",
            "route",
            "carrier",
            "cost",
            "exchange-rate",
            "rate-profile",
            "rates",
            "screen",
            "control",
            "block",
            "opt-out",
            "user",
            "operator",
        ],
    ),
    ("Money", &["topup", "invoice", "payment", "adjust"]),
    ("Send", &["send", "status", "inbound", "balance", "smpp", "webhook"]),
    ("Look up", &["messages", "message", "tail", "stats", "requests", "record"]),
    (
        "Operate",
        &[
            "queue",
            "links",
            "binds",
            "nodes",
            "alarms",
            "changes",
            "deliveries",
            "reports",
            "set-aside",
            "review",
            "customer-request",
            "lookup",
            "erase",
            "audit",
            "backup",
            "restore",
            "journal",
            "migrate",
            "copy-store",
        ],
    ),
    ("Help", &["help", "completions", "man"]),
];

/// Joins the lines of each paragraph after the options, so that the help wraps them at the width of the terminal. Lines that
/// are indented (examples, lists) stay.
pub(crate) fn with_joined_paragraphs(command: Command) -> Command {
    let command = command.mut_subcommands(with_joined_paragraphs);
    let Some(text) = command.get_after_help().map(ToString::to_string) else { return command };
    let is_prose = |line: &str| !line.is_empty() && !line.starts_with(' ') && !line.ends_with(':');
    let mut joined = String::new();
    for (line, next) in text.lines().zip(text.lines().skip(1).chain([""])) {
        let end = if is_prose(line) && !next.is_empty() && !next.starts_with(' ') { ' ' } else { '\n' };
        joined.push_str(line);
        joined.push(end);
    }
    command.after_help(joined.trim_end().to_owned())
}

/// Lists the commands by group on the first page.
pub(crate) fn grouped(command: Command) -> Command {
    let width = GROUPS.iter().flat_map(|(_, names)| names.iter()).map(|name| name.len()).max().unwrap_or(0);
    let mut listed = String::new();
    for (group, names) in GROUPS {
        listed.push_str(&format!("{group}:\n"));
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            listed.push_str(&format!(
                "  {name:width$}  {}\n",
                about.map(ToString::to_string).unwrap_or_default()
            ));
        }
        listed.push('\n');
    }
    command.help_template(format!(
        "{{about}}\n\n{{usage-heading}} {{usage}}\n\n{listed}Options:\n{{options}}{{after-help}}"
    ))
}
