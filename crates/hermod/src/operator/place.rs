//! Which gateway a command is about: the one of a data folder, running or not, or one at an address.

use super::desk::Desk;
use super::here::Here;
use crate::client::{Client, Url};
use crate::data_folder::{self, DataFolder, IN_USE_LOOK, IN_USE_WAIT_MAX};
use crate::ending::{Ended, Failure};
use crate::runtime;
use crate::secret_file::first_line;
use clap::Args;
use hermod_gateway::clock::Clock;
use hermod_gateway::config::Config;
use hermod_gateway::edges::operator_api::BASE;
use hermod_gateway::running::{self, OPERATOR_URL_FILE};
use hermod_gateway::secrets::Secret;
use hermod_gateway::secrets::operator_token;
use std::path::{Path, PathBuf};

#[derive(Args)]
#[command(next_help_heading = "Which gateway")]
pub(crate) struct Place {
    #[command(flatten)]
    folder: DataFolder,
    /// A gateway somewhere else; without a path, /operator/v1 is meant
    #[arg(long, global = true, value_name = "URL", env = "HERMOD_OPERATOR_URL")]
    url: Option<String>,
    /// File with the operator's token in its first line; otherwise the one of the settings, or operator.token in the data folder
    #[arg(long, global = true, value_name = "FILE", env = "HERMOD_OPERATOR_TOKEN_FILE")]
    token_file: Option<PathBuf>,
    /// Trust the certificate authorities in this file (PEM) instead of this machine's
    #[arg(long, global = true, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Allow http:// to another machine, where everyone on the way can read the token
    #[arg(long, global = true)]
    plain_http: bool,
    /// Print the answer as it came, in JSON
    #[arg(long, global = true, help_heading = "Output")]
    json: bool,
}

/// What to do where there is no data folder yet.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Absent {
    Refuse,
    /// Make one: a gateway can be set up before it first runs.
    Make,
    /// Do as if there were an empty one.
    Imagine,
}

/// Who has the data folder.
enum FreeOrRunning<T> {
    Free(T),
    Running(Desk),
}

impl Place {
    /// Does a command's work at the gateway it is about.
    pub(crate) fn work(self, absent: Absent, work: impl AsyncFnOnce(&Desk) -> Ended) -> Ended {
        runtime::block_on(async move {
            let desk = self.open(absent).await?;
            let ended = work(&desk).await;
            desk.say_where();
            desk.close().await.and(ended)
        })
    }

    async fn open(self, absent: Absent) -> Result<Desk, Failure> {
        let json = self.json;
        if let Some(url) = &self.url {
            let url = Url::parse(url, BASE).map_err(Failure::mend)?;
            // The token of a folder here is not for somebody there.
            let file = self.token_file.as_deref();
            let file = file
                .ok_or_else(|| Failure::mend("--url wants the file of that gateway's token: --token-file"))?;
            return Ok(Desk::remote(self.client(url)?, read_token(file)?, json));
        }
        let config = self.settings()?;
        if data_folder::is_data_folder(&config.data.folder)? {
            return self.open_folder(&config, json).await;
        }
        match absent {
            Absent::Make => Ok(Desk::here(Here::open(&config).await?, &config, json)),
            Absent::Imagine => Ok(Desk::here(Here::imagine(&config).await?, &config, json)),
            Absent::Refuse => Err(data_folder::missing(&config.data.folder)),
        }
    }

    /// The data folder, for a command that works on its files. There are no files at an address.
    pub(crate) fn folder(&self) -> Result<PathBuf, Failure> {
        match self.url {
            None => self.folder.existing(),
            Some(_) => Err(Failure::mend(
                "this command works on a data folder of this machine: name it with --data-dir, without --url",
            )),
        }
    }

    pub(crate) fn wants_json(&self) -> bool {
        self.json
    }

    /// The gateway that works on the data folder, if one does.
    pub(crate) async fn running(&self) -> Result<Option<Desk>, Failure> {
        let config = self.settings()?;
        let free = || {
            Ok(match running::Store::is_in_use(&config.data.folder).map_err(Failure::failed)? {
                true => None,
                false => Some(()),
            })
        };
        Ok(match self.free_or_running(&config, async || free()).await? {
            FreeOrRunning::Free(()) => None,
            FreeOrRunning::Running(desk) => Some(desk),
        })
    }

    /// The settings that the command goes by, with the token that the command line names.
    fn settings(&self) -> Result<Config, Failure> {
        let mut config = self.folder.settings()?;
        if self.token_file.is_some() {
            config.operator.token_file.clone_from(&self.token_file);
        }
        Ok(config)
    }

    async fn open_folder(&self, config: &Config, json: bool) -> Result<Desk, Failure> {
        let open = async || Here::open_unless_in_use(config).await;
        Ok(match self.free_or_running(config, open).await? {
            FreeOrRunning::Free(here) => Desk::here(here, config, json),
            FreeOrRunning::Running(desk) => desk,
        })
    }

    /// The folder's lock says whether a gateway runs: an address it left behind may be somebody else's by now. `free`
    /// returns nothing while the lock is taken.
    async fn free_or_running<T>(
        &self,
        config: &Config,
        free: impl AsyncFn() -> Result<Option<T>, Failure>,
    ) -> Result<FreeOrRunning<T>, Failure> {
        let clock = Clock::real();
        let give_up = clock.moment().plus(IN_USE_WAIT_MAX);
        loop {
            if let Some(free) = free().await? {
                return Ok(FreeOrRunning::Free(free));
            }
            if let Ok(url) = first_line(&config.data.folder.join(OPERATOR_URL_FILE)) {
                let url = Url::parse(&url, BASE).map_err(Failure::failed)?;
                let desk =
                    Desk::remote(self.client(url)?, token(config)?, self.json).of_folder(&config.data.folder);
                if desk.answers().await {
                    return Ok(FreeOrRunning::Running(desk));
                }
            }
            if clock.moment() >= give_up {
                return Err(Failure::failed(format!(
                    "{} is in use by a hermod process that does not answer as its operator API",
                    config.data.folder.display()
                )));
            }
            clock.sleep(IN_USE_LOOK).await;
        }
    }

    fn client(&self, url: Url) -> Result<Client, Failure> {
        if !url.is_private() && !self.plain_http {
            return Err(Failure::mend(format!(
                "{url} would carry the token readable to everyone on the way: use https://, or insist with --plain-http"
            )));
        }
        Client::new(url, self.ca.as_deref()).map_err(Failure::mend)
    }
}

fn token(config: &Config) -> Result<Secret, Failure> {
    read_token(&operator_token::token_file(config))
        .map_err(|failure| failure.and_then_say("name the file of the token with --token-file"))
}

fn read_token(file: &Path) -> Result<Secret, Failure> {
    let token = first_line(file)?;
    if token.bytes().all(|byte| byte.is_ascii_graphic()) {
        Ok(Secret::new(token))
    } else {
        Err(Failure::mend("the operator's token has characters that no token has"))
    }
}
