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
use operator::target::{OnGateway, VerbOnGateway};
use operator::{
    alarms, apply, audit_log, binds, customer_requests, deliveries, entry_commands, links, lookup,
    maintenance, message, messages, money, nodes, opt_out_files, queue, rates, record, requests, restore,
    search, stats, tail,
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

/// Makes the commands: those that run alike, and those about the command line itself.
macro_rules! commands {
    ($($(#[$attribute:meta])* $name:ident($args:ty),)*) => {
        #[derive(Subcommand)]
        enum Command {
            $($(#[$attribute])* $name($args),)*
            Help(help::HelpArgs),
            Completions(help::CompletionsArgs),
            Man(help::ManArgs),
        }

        impl Command {
            fn run(self) -> CommandResult {
                match self {
                    $(Command::$name(command) => command.run(),)*
                    Command::Help(command) => command.run(groups::grouped(command_line())),
                    Command::Completions(command) => command.run(command_line()),
                    Command::Man(command) => command.run(command_line()),
                }
            }
        }
    };
}

commands! {
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
    OptOut(VerbOnGateway<opt_out_files::OptOutVerb>),
    Topup(OnGateway<money::TopUpArgs>),
    Invoice(OnGateway<money::InvoiceArgs>),
    Payment(OnGateway<money::PaymentArgs>),
    Adjust(OnGateway<money::AdjustArgs>),
    Queue(VerbOnGateway<queue::QueueVerb>),
    Links(OnGateway<links::LinksArgs>),
    Binds(OnGateway<binds::BindsArgs>),
    Nodes(OnGateway<nodes::NodesArgs>),
    Alarms(OnGateway<alarms::AlarmsArgs>),
    Messages(Box<OnGateway<search::MessagesArgs>>),
    Message(OnGateway<message::MessageArgs>),
    Tail(OnGateway<tail::TailArgs>),
    Stats(OnGateway<stats::StatsArgs>),
    Requests(OnGateway<requests::RequestsArgs>),
    Rates(VerbOnGateway<rates::RatesVerb>),
    Record(VerbOnGateway<record::RecordCommand>),
    Deliveries(OnGateway<deliveries::DeliveriesArgs>),
    Reports(VerbOnGateway<messages::ReportsCommand>),
    Changes(OnGateway<audit_log::ChangesArgs>),
    Restore(VerbOnGateway<restore::RestoreVerb>),
    SetAside(VerbOnGateway<maintenance::SetAsideCommand>),
    Erase(OnGateway<maintenance::EraseArgs>),
    Review(VerbOnGateway<messages::ReviewCommand>),
    CustomerRequest(VerbOnGateway<customer_requests::CustomerRequestCommand>),
    Lookup(OnGateway<lookup::LookupArgs>),
    Smpp(smpp::SmppArgs),
    Webhook(webhook::WebhookArgs),
}

fn command_line() -> clap::Command {
    groups::with_joined_paragraphs(Cli::command())
}

fn main() -> ExitCode {
    let matches = groups::grouped(command_line()).get_matches();
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    failure::exit_code(cli.command.run())
}

#[cfg(test)]
#[path = "main_tests.rs"]
mod tests;
