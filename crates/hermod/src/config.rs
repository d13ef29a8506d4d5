//! `hermod config`: prints the default settings and an example provision file, and checks a settings file.

use crate::failure::{CommandResult, Failure};
use crate::{output, provision_file};
use clap::{Args, Subcommand};
use hermod_gateway::clock::Clock;
use hermod_gateway::config::{Config as Settings, DEFAULT_TOML};
use hermod_gateway::tls::Tls;
use hermod_operator::setup::file_entries::EXAMPLE_TOML;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  hermod config default > hermod.toml
  hermod config provision > provision.toml
  hermod config check --config hermod.toml";

/// Print the default settings, or check a settings file
#[derive(Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    command: ConfigCommand,
}

#[derive(Subcommand)]
enum ConfigCommand {
    /// Print every setting with its default and an explanation
    #[command(after_help = "Example:\n  hermod config default > hermod.toml")]
    Default,
    /// Print an example provision file with every key explained
    #[command(after_help = "Example:\n  hermod config provision > provision.toml")]
    Provision,
    /// Check a settings file with its provision file and certificate, and print the effective settings
    ///
    /// Opens and changes nothing. Secrets are hidden. Errors have file, line and key.
    #[command(after_help = "Example:\n  hermod config check --config hermod.toml && echo valid\n\n\
                            Exit codes: 0 valid, 2 invalid.")]
    Check {
        /// The settings file
        #[arg(long, value_name = "FILE")]
        config: PathBuf,
    },
}

impl ConfigArgs {
    pub(crate) fn run(self) -> CommandResult {
        match self.command {
            ConfigCommand::Default => output::print(DEFAULT_TOML),
            ConfigCommand::Provision => output::print(EXAMPLE_TOML),
            ConfigCommand::Check { config } => check(&config),
        }
    }
}

fn check(path: &std::path::Path) -> CommandResult {
    let settings = Settings::load(path).map_err(Failure::usage)?;
    let wanted = match &settings.provision.file {
        Some(file) => {
            let wanted = provision_file::read(file)?;
            if let Some(warning) = provision_file::exposure(file, &wanted) {
                eprintln!("hermod: {warning}");
            }
            Some((file, wanted))
        }
        None => None,
    };
    let https = settings.https.wanted().map(|(_, files)| files);
    for files in https.into_iter().chain(settings.operations.certificate_files()) {
        Tls::load(files, &[], Clock::real().now()).map_err(Failure::usage)?;
    }
    let mut text =
        format!("# {} is valid. Effective settings:\n\n{}\n", path.display(), settings.to_toml().trim_end());
    if let Some((file, wanted)) = wanted {
        let file = file.display();
        text.push_str(&format!("\n# {file} is valid, as far as it can be checked without the store:\n\n"));
        text.push_str(&format!("{}\n", wanted.to_toml().trim_end()));
    }
    output::print(&text)
}
