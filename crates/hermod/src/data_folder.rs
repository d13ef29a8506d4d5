//! Which data folder a command is about, and with which settings: the gateway's own settings file says both.

use crate::ending::Failure;
use clap::Args;
use hermod_gateway::config::Config;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Taken if it is there and the command line names neither settings nor a folder.
const USUAL_SETTINGS: &str = "hermod.toml";
/// What a data folder has.
const DATABASE: &str = "hermod.db";
/// How long a process waits for a data folder that a command works on, or a gateway that is only starting.
pub(crate) const IN_USE_WAIT_MAX: Duration = Duration::from_secs(10);
/// How often it looks whether the folder is free.
pub(crate) const IN_USE_LOOK: Duration = Duration::from_millis(100);

#[derive(Args)]
pub(crate) struct DataFolder {
    /// The gateway's settings file, for its data folder and rules; hermod.toml in this folder if it is there
    #[arg(long, global = true, value_name = "FILE", env = "HERMOD_CONFIG")]
    config: Option<PathBuf>,
    /// The data folder; as the settings file says, or hermod-data
    #[arg(long, global = true, value_name = "DIR", env = "HERMOD_DATA_DIR")]
    data_dir: Option<PathBuf>,
}

impl DataFolder {
    /// The settings that the command goes by: those of the file, or the defaults, with the folder that is meant.
    pub(crate) fn settings(&self) -> Result<Config, Failure> {
        let usual = Path::new(USUAL_SETTINGS);
        let file = match (&self.config, &self.data_dir) {
            (Some(file), _) => Some(file.as_path()),
            (None, None) if usual.exists() => Some(usual),
            (None, _) => None,
        };
        let mut config = match file {
            Some(file) => Config::load(file).map_err(Failure::mend)?,
            None => Config::defaults(),
        };
        if let Some(folder) = &self.data_dir {
            if let Some(file) = file.filter(|_| !same_folder(folder, &config.data.folder)) {
                return Err(Failure::mend(format!(
                    "--data-dir (or HERMOD_DATA_DIR) names {}, and the settings {} name {}: leave one of them out",
                    folder.display(),
                    file.display(),
                    config.data.folder.display()
                )));
            }
            config.data.folder.clone_from(folder);
        }
        Ok(config)
    }

    /// The folder of a gateway that there must be.
    pub(crate) fn existing(&self) -> Result<PathBuf, Failure> {
        let folder = self.settings()?.data.folder;
        if is_data_folder(&folder)? { Ok(folder) } else { Err(missing(&folder)) }
    }
}

/// Whether there is a store in the folder. A folder that may not be read is an error, not an empty one.
pub(crate) fn is_data_folder(folder: &Path) -> Result<bool, Failure> {
    let there = folder.join(DATABASE).try_exists();
    there.map_err(|error| Failure::failed(format!("{}: {error}", folder.display())))
}

pub(crate) fn missing(folder: &Path) -> Failure {
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    Failure::mend(format!(
        "{} is no data folder of Hermod: name the gateway's settings with --config, or its folder with --data-dir. \
         hermod serve makes a new one, and so does hermod apply FILE --create",
        folder.display()
    ))
}

fn same_folder(one: &Path, other: &Path) -> bool {
    let place = |folder: &Path| {
        std::fs::canonicalize(folder)
            .or_else(|_| std::path::absolute(folder))
            .unwrap_or_else(|_| folder.to_owned())
    };
    place(one) == place(other)
}
