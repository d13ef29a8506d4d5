//! The project's own commands, run as `cargo xtask <command>`. This file parses the command line.

mod advisories;
mod bench;
mod client;
mod cluster;
mod gateway_files;
mod long_tests;
mod manifests;
mod numbers;
mod packages;
mod postgres;
mod programs;
mod rules;
mod rust_paths;
mod rust_source;
mod sbom;
mod shell;
mod tally;
mod test;
mod tidy;
mod tools;
mod tree;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(
    name = "cargo xtask",
    bin_name = "cargo xtask",
    about = "Hermod's own commands: check, test and tidy the workspace",
    after_help = "Start here: `cargo xtask test` is the one gate. What passes it can be merged; continuous \
                  integration runs exactly that and nothing else. While writing, `cargo xtask fmt` and \
                  `cargo xtask tidy` take a second each."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the one gate: every check and every test, stopping at the first failure
    ///
    /// In order: tools (installs what is missing), formatting, tidy, clippy, tests, documentation, cargo-deny,
    /// unused dependencies. The last line is `N passed, N failed`, summed over every test that ran.
    Test,
    /// Check the project's rules: layers, file sizes, documents, dependencies
    ///
    /// Each violation names the file, the line, what is wrong and what to write instead.
    Tidy,
    /// Check what we depend on: banned crates, duplicate versions, licences, sources, unused dependencies
    ///
    /// Uses cargo-deny with deny.toml. The pinned version is built once (about a minute) into your cache folder.
    Deny,
    /// Compare every crate that we build with the RustSec database of known vulnerabilities
    ///
    /// Exit code 0: no vulnerabilities. 1: vulnerabilities, each with the version that fixes it. 3: the database could not be
    /// fetched or read. Not part of the gate, whose result must not change overnight: run
    /// it every day. Exceptions are in deny.toml under [advisories], each with its reason.
    Advisories(advisories::AdvisoriesOptions),
    /// Write the product's bill of materials as CycloneDX JSON: crates, versions, licences, checksums
    Sbom(sbom::SbomOptions),
    /// Format every Rust file in the workspace
    Fmt,
    /// Run benchmarks: the real binaries on the loopback, each figure with a reference from the same run
    Bench(bench::Benchmark),
    /// Print the path of schemathesis, which tests the APIs against their documents; install it if it is missing
    ///
    /// `cargo xtask test` does this by itself, and so does the test when it is run alone.
    Schemathesis,
    /// Print the path of a third-party SMPP library that the tests use as a carrier; install it if it is missing
    ///
    /// `cargo xtask test` does this by itself, and so do the tests when they are run alone.
    Smsc { library: client::Library },
    /// Print the path of a third-party program that the tests use as a customer or decoder; install it if it is missing
    ///
    /// `cargo xtask test` does this by itself, and so do the tests when they are run alone.
    Client { client: client::Client },
    /// Take pictures of every page of the demo in four variants: wide and phone, light and dark
    Screenshots(long_tests::ScreenshotsOptions),
    /// Kill the gateway repeatedly under load and compare all records
    Crash(long_tests::CrashOptions),
    /// Run the gateway with faulty carriers, or several nodes with faults, and compare all records
    #[command(subcommand)]
    Chaos(long_tests::Chaos),
    /// Run three nodes on this machine, with PostgreSQL, HAProxy and a simulated carrier
    #[command(subcommand)]
    Cluster(cluster::Command),
    /// Run random commands, crashes and clock jumps against the engine alone, and compare it with a simple model
    Simulate(long_tests::SimulateOptions),
    /// Build the data about phone numbers anew: countries, operators and networks
    ///
    /// Needs the registries of Python and npm; the versions of the packages are pinned, so the same command writes
    /// the same files. Nothing else needs it: its result is committed.
    Numbers(numbers::NumbersOptions),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Test => test::run(),
        Command::Tidy => tidy::run(),
        Command::Deny => tidy::deny(),
        Command::Advisories(options) => return advisories::run(&options),
        Command::Sbom(options) => sbom::run(&options),
        Command::Fmt => tidy::format(),
        Command::Bench(bench) => bench::run(&bench),
        Command::Schemathesis => packages::schemathesis().map(|program| println!("{program}")),
        Command::Smsc { library } => library.ensure().map(|place| println!("{place}")),
        Command::Client { client } => client.ensure().map(|program| println!("{program}")),
        Command::Screenshots(options) => long_tests::take_screenshots(&options),
        Command::Crash(options) => long_tests::crash(&options),
        Command::Chaos(chaos) => long_tests::chaos(&chaos),
        Command::Cluster(command) => cluster::run(&command),
        Command::Simulate(options) => long_tests::simulate(&options),
        Command::Numbers(options) => numbers::run(&options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("xtask: {failure}");
            ExitCode::FAILURE
        }
    }
}
