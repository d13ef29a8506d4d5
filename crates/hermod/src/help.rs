//! `hermod help`, `hermod completions` and `hermod man`: the command line describes itself to people, shells and man.

use crate::ending::{Ended, Failure};
use crate::show;
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

/// What the program is called.
const NAME: &str = "hermod";

/// Explain a command, or list all of them
#[derive(Args)]
#[command(after_help = HELP_EXAMPLES)]
pub(crate) struct Help {
    /// The command, such as: account set
    #[arg(value_name = "COMMAND")]
    words: Vec<String>,
}

/// Print what a shell needs to complete commands and options
#[derive(Args)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub(crate) struct Completions {
    shell: Shell,
}

/// Write a man page for every command
#[derive(Args)]
#[command(after_help = MAN_EXAMPLES)]
pub(crate) struct Man {
    /// The folder for the pages; made if it is not there
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

impl Help {
    pub(crate) fn run(self, mut cli: Command) -> Ended {
        cli.build();
        let mut command = &mut cli;
        for (place, word) in self.words.iter().enumerate() {
            let known = command.find_subcommand(word).is_some();
            if !known {
                let path = [NAME].into_iter().chain(self.words[..place].iter().map(String::as_str));
                let path = path.collect::<Vec<_>>().join(" ");
                return Err(Failure::mend(format!(
                    "{path} has no command \"{}\": {path} --help lists those it has",
                    show::safe(word)
                )));
            }
            command = command.find_subcommand_mut(word).expect("it was found just now");
        }
        show::say(&format!("{}\n", command.render_help().to_string().trim_end()))
    }
}

impl Completions {
    pub(crate) fn run(self, mut cli: Command) -> Ended {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut cli, NAME, &mut script);
        show::say(&String::from_utf8_lossy(&script))
    }
}

impl Man {
    pub(crate) fn run(self, cli: Command) -> Ended {
        let folder = self.folder.display();
        let written = std::fs::create_dir_all(&self.folder)
            .and_then(|()| clap_mangen::generate_to(cli.disable_help_subcommand(true), &self.folder));
        written.map_err(|error| Failure::failed(format!("{folder}: {error}")))?;
        show::say(&format!("The pages are in {folder}: man {folder}/hermod.1\n"))
    }
}
