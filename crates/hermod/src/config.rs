//! `hermod config`: the defaults, an example of what to provision, and a judgement on a file of yours.

use crate::ending::{Ended, Failure};
use crate::{provision_file, show};
use clap::{Args, Subcommand};
use hermod_gateway::clock::Clock;
use hermod_gateway::config::{Config as Settings, DEFAULT_TOML};
use hermod_gateway::provision::EXAMPLE_TOML;
use hermod_gateway::tls::Tls;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  hermod config default > hermod.toml
  hermod config provision > provision.toml
  hermod config check --config hermod.toml";

/// Print default settings, or check yours
#[derive(Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct Config {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Print every setting with its default and its explanation
    #[command(after_help = "Example:\n  hermod config default > hermod.toml")]
    Default,
    /// Print an example of carriers, routes, prices and customers, every key explained
    #[command(after_help = "Example:\n  hermod config provision > provision.toml")]
    Provision,
    /// Check a settings file, the provision file and the certificate it names; print what is in effect
    ///
    /// Nothing is opened or changed. Secrets are hidden. What is wrong is told with file, line and key.
    #[command(after_help = "Example:\n  hermod config check --config hermod.toml && echo fine\n\n\
                            Exit codes: 0 all is well, 2 something needs mending.")]
    Check {
        /// The settings file
        #[arg(long, value_name = "FILE")]
        config: PathBuf,
    },
}

impl Config {
    pub(crate) fn run(self) -> Ended {
        match self.what {
            What::Default => show::say(DEFAULT_TOML),
            What::Provision => show::say(EXAMPLE_TOML),
            What::Check { config } => check(&config),
        }
    }
}

fn check(path: &std::path::Path) -> Ended {
    let settings = Settings::load(path).map_err(Failure::mend)?;
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
    if let Some((_, files)) = settings.https.wanted() {
        Tls::load(files, &[], Clock::real().now()).map_err(Failure::mend)?;
    }
    let mut text = format!("# {} is fine. In effect:\n\n{}\n", path.display(), settings.to_toml().trim_end());
    if let Some((file, wanted)) = wanted {
        let file = file.display();
        text.push_str(&format!("\n# {file} is fine too, as far as can be told without the store:\n\n"));
        text.push_str(&format!("{}\n", wanted.to_toml().trim_end()));
    }
    show::say(&text)
}
