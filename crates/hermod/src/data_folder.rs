//! Finds the data folder and the settings of a command.

use crate::failure::Failure;
use clap::Args;
use hermod_gateway::config::{Config, DataSection, StoreAddress};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Used if it exists and the command line names neither settings nor a data folder.
const DEFAULT_SETTINGS: &str = "hermod.toml";
/// The file that makes a folder a data folder.
const DATABASE: &str = "hermod.db";
/// How long to wait for a data folder that is in use by a command or a starting gateway.
pub(crate) const IN_USE_WAIT_MAX: Duration = Duration::from_secs(10);
/// How often to check whether the folder is free.
pub(crate) const IN_USE_LOOK: Duration = Duration::from_millis(100);

#[derive(Args)]
pub(crate) struct DataFolder {
    /// Settings file of the gateway [default: hermod.toml in the current folder, if it exists]
    #[arg(long, global = true, value_name = "FILE", env = "HERMOD_CONFIG")]
    config: Option<PathBuf>,
    /// Data folder [default: from the settings file, or hermod-data]
    #[arg(long, global = true, value_name = "DIR", env = "HERMOD_DATA_DIR")]
    data_dir: Option<PathBuf>,
}

impl DataFolder {
    /// Returns the settings of the file, or the defaults, with the data folder of the command line.
    pub(crate) fn settings(&self) -> Result<Config, Failure> {
        let usual = Path::new(DEFAULT_SETTINGS);
        let file = match (&self.config, &self.data_dir) {
            (Some(file), _) => Some(file.as_path()),
            (None, None) if usual.exists() => Some(usual),
            (None, _) => None,
        };
        let mut config = match file {
            Some(file) => Config::load(file).map_err(Failure::usage)?,
            None => Config::defaults(),
        };
        if let Some(folder) = &self.data_dir {
            if let Some(file) = file.filter(|_| !same_folder(folder, &config.data.folder)) {
                return Err(Failure::usage(format!(
                    "--data-dir (or HERMOD_DATA_DIR) is {}, but the settings {} have {}: omit one of them",
                    folder.display(),
                    file.display(),
                    config.data.folder.display()
                )));
            }
            config.data.folder.clone_from(folder);
        }
        Ok(config)
    }

    /// Returns the data folder, which must exist.
    pub(crate) fn existing(&self) -> Result<PathBuf, Failure> {
        let data = self.settings()?.data;
        if is_data_folder(&data)? { Ok(data.folder) } else { Err(missing(&data.folder)) }
    }
}

/// Whether the folder has a store, or keys and the record of a store on a server. A folder that cannot be read is an error.
pub(crate) fn is_data_folder(DataSection { folder, store, .. }: &DataSection) -> Result<bool, Failure> {
    if *store != StoreAddress::Embedded {
        return Ok(folder.is_dir());
    }
    let there = folder.join(DATABASE).try_exists();
    there.map_err(|error| Failure::failed(format!("{}: {error}", folder.display())))
}

pub(crate) fn missing(folder: &Path) -> Failure {
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    Failure::usage(format!(
        "{} is not a data folder of Hermod: give the gateway's settings with --config, or its folder with --data-dir. \
         hermod serve and hermod apply FILE --create make a new one",
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
