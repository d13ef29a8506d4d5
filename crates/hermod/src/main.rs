//! `hermod`: parses the command line and runs the command, each in the file of its name.

mod audit;
mod backup;
mod client;
mod config;
mod copy_store;
mod customer;
mod data_folder;
mod demo;
mod failure;
mod groups;
mod help;
mod input_file;
mod journal;
mod migrate;
mod operator;
mod output;
mod provision_file;
mod runtime;
mod serve;
mod smpp;
mod webhook;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use customer::{balance, inbound, send, status};
use failure::CommandResult;
use operator::{
    alarms, apply, audit_log, binds, customer_requests, deliveries, entry_commands, links, lookup,
    maintenance, message, messages, money, nodes, opt_out_files, queue, record, requests, restore, search,
    stats, tail,
};
use std::process::ExitCode;

/// Hermod, an SMS gateway: customers send over HTTP and SMPP, carriers deliver over SMPP. Every message is stored and
/// charged exactly once before it is acknowledged.
#[derive(Parser)]
#[command(
    name = "hermod",
    version,
    arg_required_else_help = true,
    max_term_width = 110,
    after_help = EXAMPLES,
    disable_help_subcommand = true
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  Try it with a simulated carrier and a funded account:
    hermod demo

  Run a gateway:
    hermod config default > hermod.toml
    hermod config provision > provision.toml
    hermod apply provision.toml --create
    hermod serve --config hermod.toml

  Operate it, while it runs or not:
    hermod account list
    hermod topup shop 100
    hermod review list
    hermod links

  Find out what happened:
    hermod messages --to +4915112345678
    hermod message 15506713804701696
    hermod stats --by country
    hermod requests --grouped

  Send as a customer:
    hermod send --to +4915112345678 --text Hello

  Audit and back up, while it runs or not:
    hermod audit
    hermod backup backups/monday

Help about a command: hermod help serve

Exit codes:
  0    success, or orderly shutdown
  1    failure, or the audit found violations
  2    the command line or a file is invalid; the error says where
  74   disk error of the store; every acknowledged message is stored
  130  stopped at once by a second signal";

#[derive(Subcommand)]
enum Command {
    Serve(serve::ServeArgs),
    Demo(demo::DemoArgs),
    Config(config::ConfigArgs),
    Audit(audit::AuditArgs),
    Backup(backup::BackupArgs),
    Journal(journal::JournalArgs),
    Migrate(migrate::MigrateArgs),
    CopyStore(copy_store::CopyStoreArgs),
    Version(help::VersionArgs),
    Send(send::SendArgs),
    Status(status::StatusArgs),
    Inbound(inbound::InboundArgs),
    Balance(balance::BalanceArgs),
    Apply(apply::ApplyArgs),
    #[command(flatten)]
    Entry(entry_commands::EntryCommand),
    OptOut(opt_out_files::OptOutFilesArgs),
    Topup(money::TopUpArgs),
    Invoice(money::InvoiceArgs),
    Payment(money::PaymentArgs),
    Adjust(money::AdjustArgs),
    Queue(queue::QueueArgs),
    Links(links::LinksArgs),
    Binds(binds::BindsArgs),
    Nodes(nodes::NodesArgs),
    Alarms(alarms::AlarmsArgs),
    Messages(Box<search::MessagesArgs>),
    Message(message::MessageArgs),
    Tail(tail::TailArgs),
    Stats(stats::StatsArgs),
    Requests(requests::RequestsArgs),
    Record(record::RecordArgs),
    Deliveries(deliveries::DeliveriesArgs),
    Reports(messages::ReportsArgs),
    Changes(audit_log::ChangesArgs),
    Restore(restore::RestoreArgs),
    SetAside(maintenance::SetAsideArgs),
    Erase(maintenance::EraseArgs),
    Review(messages::ReviewArgs),
    CustomerRequest(customer_requests::CustomerRequestArgs),
    Lookup(lookup::LookupArgs),
    Smpp(smpp::SmppArgs),
    Webhook(webhook::WebhookArgs),
    Help(help::HelpArgs),
    Completions(help::CompletionsArgs),
    Man(help::ManArgs),
}

fn command_line() -> clap::Command {
    groups::with_joined_paragraphs(Cli::command())
}

fn main() -> ExitCode {
    let matches = groups::grouped(command_line()).get_matches();
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let ended: CommandResult = match cli.command {
        Command::Serve(command) => command.run(),
        Command::Demo(command) => command.run(),
        Command::Config(command) => command.run(),
        Command::Audit(command) => command.run(),
        Command::Backup(command) => command.run(),
        Command::Journal(command) => command.run(),
        Command::Migrate(command) => command.run(),
        Command::CopyStore(command) => command.run(),
        Command::Version(command) => command.run(),
        Command::Send(command) => command.run(),
        Command::Status(command) => command.run(),
        Command::Inbound(command) => command.run(),
        Command::Balance(command) => command.run(),
        Command::Apply(command) => command.run(),
        Command::Entry(command) => command.run(),
        Command::OptOut(command) => command.run(),
        Command::Topup(command) => command.run(),
        Command::Invoice(command) => command.run(),
        Command::Payment(command) => command.run(),
        Command::Adjust(command) => command.run(),
        Command::Queue(command) => command.run(),
        Command::Links(command) => command.run(),
        Command::Binds(command) => command.run(),
        Command::Nodes(command) => command.run(),
        Command::Alarms(command) => command.run(),
        Command::Messages(command) => command.run(),
        Command::Message(command) => command.run(),
        Command::Tail(command) => command.run(),
        Command::Stats(command) => command.run(),
        Command::Requests(command) => command.run(),
        Command::Record(command) => command.run(),
        Command::Deliveries(command) => command.run(),
        Command::Reports(command) => command.run(),
        Command::Changes(command) => command.run(),
        Command::Restore(command) => command.run(),
        Command::SetAside(command) => command.run(),
        Command::Erase(command) => command.run(),
        Command::Review(command) => command.run(),
        Command::CustomerRequest(command) => command.run(),
        Command::Lookup(command) => command.run(),
        Command::Smpp(command) => command.run(),
        Command::Webhook(command) => command.run(),
        Command::Help(command) => command.run(groups::grouped(command_line())),
        Command::Completions(command) => command.run(command_line()),
        Command::Man(command) => command.run(command_line()),
    };
    failure::exit_code(ended)
}

#[cfg(test)]
mod tests {
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
        let serve = command_line()
            .find_subcommand("serve")
            .and_then(clap::Command::get_after_help)
            .unwrap()
            .to_string();
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
        let words: Vec<&str> =
            line.split_whitespace().skip(1).take_while(|word| !ends.contains(word)).collect();
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
}
