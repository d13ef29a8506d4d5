//! `hermod-sim`: the simulator's command line. A simulated carrier, load over HTTP and SMPP with a reference endpoint for
//! each, idle binds, and a webhook receiver.

mod carrier;
mod certificate;
mod common_flags;
mod http_load;
mod mo;
mod reference_servers;
mod smpp_flags;
mod smpp_idle;
mod smpp_load;
mod terminal;
mod webhooks;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Simulated carriers, load generators and webhook receivers for tests of an SMS gateway.
#[derive(Parser)]
#[command(name = "hermod-sim", version, arg_required_else_help = true, max_term_width = 110, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  A carrier on port 2775 that delivers every message after half a second:
    hermod-sim carrier --listen 127.0.0.1:2775 --receipt-after 500ms

  Ten thousand messages to a gateway, 32 at a time:
    hermod-sim http-load --key KEY --secret SECRET --requests 10000

  The same over SMPP, through one bind with a window of 100, receipts included:
    hermod-sim smpp-load --system-id ID --password PASSWORD --messages 10000

  What this machine achieves when nothing is stored:
    hermod-sim empty-http --port 8081 &
    hermod-sim http-load --url http://127.0.0.1:8081/api/v1 --duration 10s

Every command has examples: hermod-sim help http-load";

#[derive(Subcommand)]
enum Command {
    Carrier(Box<carrier::SimulatedCarrierArgs>),
    HttpLoad(Box<http_load::HttpLoadArgs>),
    EmptyHttp(reference_servers::EmptyHttpArgs),
    SmppLoad(Box<smpp_load::SmppLoadArgs>),
    SmppIdle(Box<smpp_idle::SmppIdleArgs>),
    SmppEcho(reference_servers::SmppEchoArgs),
    Webhooks(webhooks::WebhooksArgs),
    Certificate(certificate::CertificateArgs),
}

/// The result of a command; an error is printed on stderr.
type Ended = Result<(), String>;

fn main() -> ExitCode {
    let ended = match Cli::parse().command {
        Command::Carrier(args) => run_on(args.threads, args.run()),
        Command::HttpLoad(args) => run_on(args.load.threads, args.run()),
        Command::EmptyHttp(args) => run_on(args.threads, args.run()),
        Command::SmppLoad(args) => run_on(args.load.threads, args.run()),
        Command::SmppIdle(args) => run_on(args.threads, args.run()),
        Command::SmppEcho(args) => run_on(args.threads, args.run()),
        Command::Webhooks(args) => run_on(args.threads, args.run()),
        Command::Certificate(args) => args.run(),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(sentence) => {
            terminal::print_error(&sentence);
            ExitCode::FAILURE
        }
    }
}

/// Runs a command on this many threads. The runtime for one thread has no cost for moving tasks between threads.
fn run_on(threads: usize, command: impl Future<Output = Ended>) -> Ended {
    let mut builder = if threads == 1 {
        tokio::runtime::Builder::new_current_thread()
    } else {
        tokio::runtime::Builder::new_multi_thread()
    };
    let runtime = builder.worker_threads(threads.max(1)).enable_all().build();
    runtime.map_err(|error| format!("cannot start the runtime: {error}"))?.block_on(command)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn command_line_is_valid() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_has_a_description_and_examples() {
        for command in Cli::command().get_subcommands() {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.starts_with("Examples:\n"), "{} has no examples", command.get_name());
            assert!(command.get_about().is_some(), "{} has no description", command.get_name());
        }
    }
}
