//! The operator API of a gateway that is put together in this process on a data folder where none runs, for the length of
//! one command. Nothing listens, nothing is sent.

use crate::client::{Answer, Ask, CallError, read};
use crate::ending::{Ended, Failure};
use hermod_gateway::clock::Clock;
use hermod_gateway::config::{Config, Log, LogFormat};
use hermod_gateway::edges::operator_api;
use hermod_gateway::provision;
use hermod_gateway::running::{self, Opened, StartError, StoreError};
use hermod_gateway::secrets::operator_token;
use hermod_gateway::secrets::{Secret, random_token};
use hermod_gateway::telemetry;
use hermod_gateway::workers::Workers;
use hermod_gateway::world::World;
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const IMAGINED_CHARACTERS: usize = 16;

pub(super) struct Here {
    world: Arc<World>,
    workers: Workers,
    desk: operator_api::Desk,
    token: Secret,
    /// A folder that is there for this command only.
    imagined: Option<PathBuf>,
}

impl Here {
    /// Opens a data folder, made if need be.
    pub(super) async fn open(config: &Config) -> Result<Here, Failure> {
        make_folder(&config.data.folder)?;
        let opened = Here::open_unless_in_use(config).await?;
        opened.ok_or_else(|| Failure::failed(StoreError::InUse(config.data.folder.clone())))
    }

    /// Opens a data folder that is there, unless a process works on it.
    pub(super) async fn open_unless_in_use(config: &Config) -> Result<Option<Here>, Failure> {
        // What the store has to say it says in the log; a second command in this process has it already.
        let _ = telemetry::start_logging(&Log { format: LogFormat::Human, level: "error".to_owned() });
        let clock = Clock::real();
        let Opened { store, pepper, operator_token } = match running::open(config, &clock) {
            Ok(opened) => opened,
            Err(StartError::Store(StoreError::InUse(_))) => return Ok(None),
            Err(error) => return Err(Failure::failed(error)),
        };
        let token = operator_token::read(&operator_token::token_file(config)).map_err(Failure::failed)?;
        let catalogue = provision::load_catalogue(&store).await.map_err(Failure::failed)?;
        let world = World::new(clock, store, pepper, catalogue, config.messages.validity.into())
            .judging_webhooks_by(config.webhooks.rules());
        let world = Arc::new(world);
        let workers = Workers::default();
        let desk = operator_api::Desk::new(world.clone(), operator_token, workers.clone());
        Ok(Some(Here { world, workers, desk, token: Secret::new(token), imagined: None }))
    }

    /// An empty data folder that vanishes again.
    pub(super) async fn imagine(config: &Config) -> Result<Here, Failure> {
        let name = format!("hermod-dry-run-{}", random_token(IMAGINED_CHARACTERS).map_err(Failure::failed)?);
        let folder = std::env::temp_dir().join(name);
        let mut config = config.clone();
        config.data.folder.clone_from(&folder);
        let here = Here::open(&config).await?;
        Ok(Here { imagined: Some(folder), ..here })
    }

    /// Whether its folder vanishes with it.
    pub(super) fn is_temporary(&self) -> bool {
        self.imagined.is_some()
    }

    pub(super) fn token(&self) -> &Secret {
        &self.token
    }

    pub(super) async fn call(&self, ask: Ask) -> Result<Answer, CallError> {
        let service = TowerToHyperService::new(operator_api::router(self.desk.clone()));
        let response = match service.call(ask).await {
            Ok(response) => response,
            Err(never) => match never {},
        };
        read(response).await.map_err(CallError::Lost)
    }

    pub(super) async fn close(self) -> Ended {
        let Here { world, workers, desk, token: _, imagined } = self;
        drop(desk);
        workers.stop().await;
        world.store.close().await.map_err(Failure::failed)?;
        if let Some(folder) = imagined {
            let removed = std::fs::remove_dir_all(&folder);
            removed.map_err(|error| Failure::failed(format!("{}: {error}", folder.display())))?;
        }
        Ok(())
    }
}

/// For its owner only: it will hold secrets.
fn make_folder(folder: &Path) -> Ended {
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|error| Failure::failed(format!("{}: {error}", folder.display())))
}
