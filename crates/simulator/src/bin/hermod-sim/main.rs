//! `hermod-sim`: the other side of Hermod on the command line. Load over HTTP and SMPP, for each an endpoint that
//! stores nothing to measure it against, idle binds, and a carrier to send to.

mod carrier;
mod certificate;
mod empty_http;
mod http_load;
mod mo;
mod script_flags;
mod smpp_echo;
mod smpp_flags;
mod smpp_idle;
mod smpp_load;
mod values;
mod webhooks;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The other side of Hermod: load generators, and a carrier that keeps its own record.
#[derive(Parser)]
#[command(name = "hermod-sim", version, arg_required_else_help = true, max_term_width = 110, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  A carrier on port 2775 that delivers everything after half a second:
    hermod-sim carrier --listen 127.0.0.1:2775 --receipt-after 500ms

  Ten thousand messages to a gateway, 32 at a time:
    hermod-sim http-load --key KEY --secret SECRET --requests 10000

  The same over SMPP, through one bind with a window of 100, receipts included:
    hermod-sim smpp-load --system-id ID --password PASSWORD --messages 10000

  What this machine can do when nothing is stored:
    hermod-sim empty-http --port 8081 &
    hermod-sim http-load --url http://127.0.0.1:8081/api/v1 --duration 10s

Every subcommand has examples of its own: hermod-sim help http-load";

#[derive(Subcommand)]
enum Command {
    Carrier(Box<carrier::CarrierArgs>),
    HttpLoad(Box<http_load::HttpLoad>),
    EmptyHttp(empty_http::EmptyHttpArgs),
    SmppLoad(Box<smpp_load::SmppLoad>),
    SmppIdle(Box<smpp_idle::SmppIdle>),
    SmppEcho(smpp_echo::SmppEchoArgs),
    WebhookReceiver(webhooks::WebhooksArgs),
    Certificate(certificate::CertificateArgs),
}

/// A subcommand's end: done, or a sentence for stderr.
type Ended = Result<(), String>;

fn main() -> ExitCode {
    let ended = match Cli::parse().command {
        Command::Carrier(args) => run_on(args.threads, args.run()),
        Command::HttpLoad(args) => run_on(args.threads, args.run()),
        Command::EmptyHttp(args) => run_on(args.threads, args.run()),
        Command::SmppLoad(args) => run_on(args.threads, args.run()),
        Command::SmppIdle(args) => run_on(args.threads, args.run()),
        Command::SmppEcho(args) => run_on(args.threads, args.run()),
        Command::WebhookReceiver(args) => run_on(args.threads, args.run()),
        Command::Certificate(args) => args.run(),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(sentence) => {
            values::say_on_stderr(&format!("hermod-sim: {sentence}"));
            ExitCode::FAILURE
        }
    }
}

/// Runs on that many threads. One thread has a runtime of its own kind, which never pays for handing work over.
fn run_on(threads: usize, command: impl Future<Output = Ended>) -> Ended {
    let mut builder = if threads == 1 {
        tokio::runtime::Builder::new_current_thread()
    } else {
        tokio::runtime::Builder::new_multi_thread()
    };
    let runtime = builder.worker_threads(threads.max(1)).enable_all().build();
    runtime.map_err(|error| format!("no runtime: {error}"))?.block_on(command)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_subcommand_teaches_by_example() {
        for command in Cli::command().get_subcommands() {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.starts_with("Examples:\n"), "{} has no examples", command.get_name());
            assert!(command.get_about().is_some(), "{} does not say what it does", command.get_name());
        }
    }
}
