//! `hermod help`, `hermod completions`, `hermod man` and `hermod version`: documentation of the command line.

use crate::failure::{CommandResult, Failure};
use crate::output;
use clap::{Args, Command};
use clap_complete::Shell;
use std::path::PathBuf;

const HELP_EXAMPLES: &str = "\
Examples:
  hermod help
  hermod help account set";
const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  hermod completions bash > ~/.local/share/bash-completion/completions/hermod
  hermod completions zsh > ~/.zfunc/_hermod       (with fpath+=~/.zfunc before compinit in ~/.zshrc)
  hermod completions fish > ~/.config/fish/completions/hermod.fish

For this terminal only:
  eval \"$(hermod completions bash)\"";
const MAN_EXAMPLES: &str = "\
Examples:
  hermod man ~/.local/share/man/man1
  man hermod-account-set";

/// The name of the program.
const NAME: &str = "hermod";

/// Show the help of a command, or list all commands
#[derive(Args)]
#[command(after_help = HELP_EXAMPLES)]
pub(crate) struct HelpArgs {
    /// The command, such as: account set
    #[arg(value_name = "COMMAND")]
    words: Vec<String>,
}

/// Print the completion script of a shell
#[derive(Args)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Write a man page for every command
#[derive(Args)]
#[command(after_help = MAN_EXAMPLES)]
pub(crate) struct ManArgs {
    /// Folder of the man pages; created if it does not exist
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

impl HelpArgs {
    pub(crate) fn run(self, mut cli: Command) -> CommandResult {
        cli.build();
        let mut command = &mut cli;
        for (depth, word) in self.words.iter().enumerate() {
            let known = command.find_subcommand(word).is_some();
            if !known {
                let path = [NAME].into_iter().chain(self.words[..depth].iter().map(String::as_str));
                let path = path.collect::<Vec<_>>().join(" ");
                return Err(Failure::usage(format!(
                    "{path} has no command \"{}\": {path} --help lists its commands",
                    output::safe(word)
                )));
            }
            command = command.find_subcommand_mut(word).expect("it was found just now");
        }
        output::print(&format!("{}\n", command.render_help().to_string().trim_end()))
    }
}

impl CompletionsArgs {
    pub(crate) fn run(self, mut cli: Command) -> CommandResult {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut cli, NAME, &mut script);
        output::print(&String::from_utf8_lossy(&script))
    }
}

impl ManArgs {
    pub(crate) fn run(self, cli: Command) -> CommandResult {
        let folder = self.folder.display();
        let written = std::fs::create_dir_all(&self.folder)
            .and_then(|()| clap_mangen::generate_to(cli.disable_help_subcommand(true), &self.folder));
        written.map_err(|error| Failure::failed(format!("{folder}: {error}")))?;
        output::print(&format!("The man pages are in {folder}: man {folder}/hermod.1\n"))
    }
}

/// Print the version
#[derive(Args)]
#[command(after_help = "Example:\n  hermod version")]
pub(crate) struct VersionArgs;

impl VersionArgs {
    #[expect(clippy::unused_self, reason = "commands share one shape")]
    pub(crate) fn run(self) -> CommandResult {
        output::print(concat!("hermod ", env!("CARGO_PKG_VERSION"), "\n"))
    }
}
