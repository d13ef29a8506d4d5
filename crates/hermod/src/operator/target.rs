//! Selects the gateway of a command: by its data folder, running or not, or by its address.

use super::in_process::InProcess;
use super::operator_client::OperatorClient;
use crate::client::{HttpClient, Url};
use crate::data_folder::{self, DataFolder, IN_USE_LOOK, IN_USE_WAIT_MAX};
use crate::failure::{CommandResult, Failure};
use crate::input_file::first_line;
use crate::runtime;
use clap::{Args, Subcommand};
use hermod_gateway::clock::Clock;
use hermod_gateway::config::Config;
use hermod_gateway::running::{self, AuditKey, OPERATOR_URL_FILE};
use hermod_gateway::secrets::{Pepper, PepperError, Secret, SecretSource, StoreContents, operator_token};
use hermod_operator::http::BASE;
use hyper::header::HeaderValue;
use std::path::{Path, PathBuf};

#[derive(Args)]
#[command(next_help_heading = "Gateway")]
pub(crate) struct TargetArgs {
    #[command(flatten)]
    folder: DataFolder,
    /// Address of the operator API of another gateway; the path defaults to /operator/v1
    #[arg(long, global = true, value_name = "URL", env = "HERMOD_OPERATOR_URL")]
    url: Option<String>,
    /// File with the operator's token in its first line [default: from the settings, else
    /// HERMOD_OPERATOR_TOKEN, else operator.token in the data folder]
    #[arg(long, global = true, value_name = "FILE", env = "HERMOD_OPERATOR_TOKEN_FILE")]
    token_file: Option<PathBuf>,
    /// Trust the certificate authorities in this file (PEM) instead of those of the system
    #[arg(long, global = true, value_name = "FILE", env = "HERMOD_OPERATOR_CA")]
    ca: Option<PathBuf>,
    /// Allow http:// to another machine; the token is then readable on the network
    #[arg(long, global = true)]
    plain_http: bool,
    /// Show whole numbers and texts, which the roles support and finance get masked, for this reason; it is written into the
    /// audit log
    #[arg(long, global = true, value_name = "REASON")]
    unmask: Option<String>,
    /// Print the response as JSON
    #[arg(long, global = true, help_heading = "Output")]
    json: bool,
}

/// A command that calls the operator API.
pub(crate) trait ClientCommand {
    async fn run(self, client: &OperatorClient) -> CommandResult;
}

// Without doc comments: they would become the texts about the commands.
#[derive(Args)]
pub(crate) struct OnGateway<C: Args> {
    #[command(flatten)]
    command: C,
    #[command(flatten)]
    target: TargetArgs,
}

#[derive(Args)]
pub(crate) struct VerbOnGateway<V: Subcommand> {
    #[command(flatten)]
    target: TargetArgs,
    #[command(subcommand)]
    verb: V,
}

impl<C: Args + ClientCommand> OnGateway<C> {
    pub(crate) fn run(self) -> CommandResult {
        self.target.run(MissingDir::Refuse, async move |client| self.command.run(client).await)
    }
}

impl<V: Subcommand + ClientCommand> VerbOnGateway<V> {
    pub(crate) fn run(self) -> CommandResult {
        self.target.run(MissingDir::Refuse, async move |client| self.verb.run(client).await)
    }
}

/// What to do if the data folder does not exist.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum MissingDir {
    Refuse,
    /// Create it, to set up a gateway before it first runs.
    Create,
    /// Use an empty temporary folder.
    UseTemporary,
}

/// Who uses the data folder.
enum FreeOrRunning<T> {
    Free(T),
    Running(OperatorClient),
}

impl TargetArgs {
    /// Runs a command with a client of the selected gateway.
    pub(crate) fn run(
        self,
        missing: MissingDir,
        command: impl AsyncFnOnce(&OperatorClient) -> CommandResult,
    ) -> CommandResult {
        runtime::block_on(async move {
            let reason = self.unmask.as_deref().map(reason_header).transpose()?;
            let client = self.open(missing).await?.giving_reason(reason);
            let ended = command(&client).await;
            client.print_folder();
            client.close().await.and(ended)
        })
    }

    async fn open(self, missing: MissingDir) -> Result<OperatorClient, Failure> {
        let json = self.json;
        if let Some(url) = &self.url {
            let url = Url::parse(url, BASE).map_err(Failure::usage)?;
            // The token of a local data folder is never sent to another address.
            let file = self.token_file.as_deref();
            let file = file.ok_or_else(|| {
                Failure::usage("--url also needs --token-file, the file with the token of that gateway")
            })?;
            return Ok(OperatorClient::remote(self.client(url)?, read_token(file)?, json));
        }
        let config = self.settings()?;
        // The folder of a running gateway whose store is on a server has no database; the gateway answers for it.
        let is_served = || running::Store::is_in_use(&config.data.folder).map_err(Failure::failed);
        if data_folder::is_data_folder(&config.data)? || is_served()? {
            return self.open_folder(&config, json).await;
        }
        match missing {
            MissingDir::Create => {
                Ok(OperatorClient::in_process(InProcess::open(&config).await?, &config, json))
            }
            MissingDir::UseTemporary => {
                Ok(OperatorClient::in_process(InProcess::open_temporary(&config).await?, &config, json))
            }
            MissingDir::Refuse => Err(data_folder::missing(&config.data.folder)),
        }
    }

    /// Returns the data folder, for a command that reads its files. Fails if the target is an address.
    pub(crate) fn folder(&self) -> Result<PathBuf, Failure> {
        match self.url {
            None => self.folder.existing(),
            Some(_) => {
                Err(Failure::usage("this command needs a local data folder: give --data-dir, without --url"))
            }
        }
    }

    /// Returns the PostgreSQL server that has the store; none if it is embedded in the data folder.
    pub(crate) fn server(&self) -> Result<Option<running::Server>, Failure> {
        self.settings()?.data.store.server().map_err(Failure::failed)
    }

    /// Whether the pepper is not in the data folder, but where the settings or the environment say.
    pub(crate) fn keeps_pepper_elsewhere(&self) -> Result<bool, Failure> {
        Ok(Pepper::source(&self.settings()?.data).is_elsewhere())
    }

    /// Returns the key of the audit log, or why there is none: the pepper is missing, cannot be read, or is that of another store.
    pub(crate) fn audit_key(&self) -> Result<Result<AuditKey, String>, Failure> {
        let data = self.settings()?.data;
        let pepper = match Pepper::load(&data, StoreContents::OnServer) {
            Ok(pepper) => pepper,
            Err(PepperError::NotOnThisNode(path)) => {
                return Ok(Err(format!("{} is missing", path.display())));
            }
            Err(error) => return Ok(Err(error.to_string())),
        };
        // A store that cannot be read is reported by the audit.
        let claimed = running::Store::pepper_of(&data.folder, self.server()?.as_ref()).ok().flatten();
        if claimed.is_some_and(|claimed| claimed != pepper.fingerprint()) {
            let place = Pepper::source(&data);
            return Ok(Err(PepperError::OfAnotherStore { place }.to_string()));
        }
        Ok(Ok(pepper.audit_key()))
    }

    pub(crate) fn wants_json(&self) -> bool {
        self.json
    }

    /// Returns a client of the gateway that runs on the data folder, if one does.
    pub(crate) async fn running(&self) -> Result<Option<OperatorClient>, Failure> {
        let config = self.settings()?;
        let free = || {
            Ok(match running::Store::is_in_use(&config.data.folder).map_err(Failure::failed)? {
                true => None,
                false => Some(()),
            })
        };
        Ok(match self.free_or_running(&config, async || free()).await? {
            FreeOrRunning::Free(()) => None,
            FreeOrRunning::Running(client) => Some(client),
        })
    }

    /// Returns the settings, with the token file of the command line.
    fn settings(&self) -> Result<Config, Failure> {
        let mut config = self.folder.settings()?;
        if self.token_file.is_some() {
            config.operator.token_file.clone_from(&self.token_file);
        }
        Ok(config)
    }

    async fn open_folder(&self, config: &Config, json: bool) -> Result<OperatorClient, Failure> {
        let open = async || InProcess::open_unless_in_use(config).await;
        Ok(match self.free_or_running(config, open).await? {
            FreeOrRunning::Free(gateway) => OperatorClient::in_process(gateway, config, json),
            FreeOrRunning::Running(client) => client,
        })
    }

    /// Finds out by the folder's lock whether a gateway runs; an address file alone may be stale. `free` returns nothing
    /// while the lock is taken.
    async fn free_or_running<T>(
        &self,
        config: &Config,
        free: impl AsyncFn() -> Result<Option<T>, Failure>,
    ) -> Result<FreeOrRunning<T>, Failure> {
        let clock = Clock::real();
        let deadline = clock.moment().plus(IN_USE_WAIT_MAX);
        loop {
            if let Some(free) = free().await? {
                return Ok(FreeOrRunning::Free(free));
            }
            if let Ok(text) = std::fs::read_to_string(config.data.folder.join(OPERATOR_URL_FILE))
                && let Some(url) = text.lines().next()
            {
                let url = Url::parse(url, BASE).map_err(Failure::failed)?;
                let client = match text.lines().nth(1) {
                    // The gateway's own certificate need not have the name or address of this machine.
                    Some(fingerprint) => HttpClient::pinning(url, fingerprint),
                    None => self.client(url),
                };
                let client = OperatorClient::remote(client?, token(config)?, self.json);
                let client = client.of_folder(&config.data.folder);
                if client.is_reachable().await {
                    return Ok(FreeOrRunning::Running(client));
                }
            }
            if clock.moment() >= deadline {
                let holder = running::Store::folder_holder(&config.data.folder).ok().flatten();
                let holder = holder.map(|holder| format!(" ({holder})")).unwrap_or_default();
                return Err(Failure::failed(format!(
                    "{} is in use by a hermod process{holder} whose operator API does not respond",
                    config.data.folder.display()
                )));
            }
            clock.sleep(IN_USE_LOOK).await;
        }
    }

    fn client(&self, url: Url) -> Result<HttpClient, Failure> {
        if !url.is_private() && !self.plain_http {
            return Err(Failure::usage(format!(
                "{url} would send the token unencrypted: use https://, or allow it with --plain-http"
            )));
        }
        HttpClient::new(url, self.ca.as_deref()).map_err(Failure::usage)
    }
}

fn token(config: &Config) -> Result<Secret, Failure> {
    let token = match operator_token::source(config) {
        SecretSource::Variable { value, .. } => check_token(value.reveal().trim()),
        SecretSource::File(path) | SecretSource::DataFolder(path) => read_token(&path),
    };
    token.map_err(|failure| failure.with_advice("give the file of the token with --token-file"))
}

/// Returns a reason as the value of a header.
fn reason_header(reason: &str) -> Result<HeaderValue, Failure> {
    HeaderValue::from_bytes(reason.trim().as_bytes())
        .map_err(|_| Failure::usage("--unmask: a reason is one line of text"))
}

fn read_token(file: &Path) -> Result<Secret, Failure> {
    check_token(&first_line(file)?)
}

fn check_token(token: &str) -> Result<Secret, Failure> {
    if token.bytes().all(|byte| byte.is_ascii_graphic()) {
        Ok(Secret::new(token))
    } else {
        Err(Failure::usage("the operator's token has invalid characters"))
    }
}
