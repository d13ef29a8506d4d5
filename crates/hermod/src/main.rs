//! `hermod`: the gateway on the command line. This file reads the command line and hands over; each command lives in a
//! file of its own name.

mod audit;
mod backup;
mod config;
mod demo;
mod ending;
mod runtime;
mod serve;
mod signals;
mod version;

use clap::{Parser, Subcommand};
use ending::Ended;
use std::process::ExitCode;

/// Hermod, an SMS gateway: customers send over HTTP, carriers deliver over SMPP, and every message is stored and charged
/// exactly once before it is acknowledged.
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
  See it work, with a simulated carrier and a funded account:
    hermod demo

  Run it for real:
    hermod config default > hermod.toml
    hermod config provision > provision.toml
    hermod config check --config hermod.toml
    hermod serve --config hermod.toml

  Prove the books and keep a copy, while it runs or not:
    hermod audit --data-dir hermod-data
    hermod backup --data-dir hermod-data backups/monday

Every command explains itself: hermod serve --help

Exit codes:
  0    done, or stopped in good order
  1    it failed, or the audit found something wrong
  2    the command line or a file you wrote needs mending; the sentence says where
  74   the disk failed under the store; nothing was acknowledged that is not stored
  130  told to stop twice, so it stopped at once";

#[derive(Subcommand)]
enum Command {
    Serve(serve::Serve),
    Demo(demo::Demo),
    Config(config::Config),
    Audit(audit::Audit),
    Backup(backup::Backup),
    Version(version::Version),
}

fn main() -> ExitCode {
    let ended: Ended = match Cli::parse().command {
        Command::Serve(command) => command.run(),
        Command::Demo(command) => command.run(),
        Command::Config(command) => command.run(),
        Command::Audit(command) => command.run(),
        Command::Backup(command) => command.run(),
        Command::Version(command) => command.run(),
    };
    ending::exit_code(ended)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_teaches_by_example() {
        for command in Cli::command().get_subcommands() {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.starts_with("Example"), "{} has no examples", command.get_name());
            assert!(command.get_about().is_some(), "{} does not say what it does", command.get_name());
        }
    }
}
