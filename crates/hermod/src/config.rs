//! `hermod config`: prints the default settings and an example provision file, checks a settings file, and exports the setup.

use crate::failure::{CommandResult, Failure};
use crate::operator::operator_client::with_query;
use crate::operator::target::{MissingDir, TargetArgs};
use crate::{output, provision_file};
use clap::{Args, Subcommand};
use hermod_gateway::clock::Clock;
use hermod_gateway::config::{Config as Settings, DEFAULT_TOML};
use hermod_gateway::tls::Tls;
use hermod_operator::entry::views::ExportQuery;
use hermod_operator::kind::Kind;
use hermod_operator::setup::file_entries::EXAMPLE_TOML;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  hermod config default > hermod.toml
  hermod config provision > provision.toml
  hermod config check --config hermod.toml
  hermod config export > provision.toml";

const EXPORT_EXAMPLES: &str = "\
Examples:
  hermod config export > provision.toml
  hermod config export --kind price --kind route
  hermod config export --account shop
  hermod config export | hermod apply - --dry-run

Secrets are left out; the file says what becomes of them. Fields that have their default are left out too, unless --full is given.
Applied where it was exported, the file changes nothing. Two exports of the same setup are equal, so that a file under version control
shows what changed.";

/// Print the default settings, check a settings file, or export the setup
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
    /// Print the setup in force as a provision file, without secrets
    #[command(after_help = EXPORT_EXAMPLES)]
    Export(Box<ExportArgs>),
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

#[derive(Args)]
struct ExportArgs {
    /// Only entries of this kind, such as price; can be repeated
    #[arg(long = "kind", value_name = "KIND", value_parser = Kind::ALL.map(Kind::as_str))]
    kinds: Vec<String>,
    /// Only this account and what belongs to it
    #[arg(long, value_name = "NAME")]
    account: Option<String>,
    /// Also fields that have their default
    #[arg(long)]
    full: bool,
    #[command(flatten)]
    target: TargetArgs,
}

impl ExportArgs {
    fn run(self) -> CommandResult {
        let ExportArgs { kinds, account, full, target } = self;
        if target.wants_json() {
            return Err(Failure::usage("a provision file is TOML: leave out --json"));
        }
        let kinds = (!kinds.is_empty()).then(|| kinds.join(","));
        target.run(MissingDir::Refuse, async move |client| {
            client.print_file(&with_query("/export", &ExportQuery { kinds, account, full })).await
        })
    }
}

impl ConfigArgs {
    pub(crate) fn run(self) -> CommandResult {
        match self.command {
            ConfigCommand::Default => output::print(DEFAULT_TOML),
            ConfigCommand::Provision => output::print(EXAMPLE_TOML),
            ConfigCommand::Export(export) => export.run(),
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
