//! The operator API of a gateway that is opened in this process for one command, on a data folder where no gateway runs.
//! It neither listens nor sends.

use crate::client::{ApiRequest, ApiResponse, CallError, StreamedResponse, read, read_pieces};
use crate::failure::{CommandResult, Failure};
use bytes::Bytes;
use hermod_gateway::clock::Clock;
use hermod_gateway::config::{Config, LogFormat, LogSection};
use hermod_gateway::gateway::{Gateway, load_catalogue};
use hermod_gateway::running::{self, Opened, StartError, StoreError};
use hermod_gateway::secrets::{Secret, operator_token, random_token};
use hermod_gateway::telemetry;
use hermod_gateway::workers::Workers;
use hermod_operator::http;
use hyper::Response;
use hyper::body::Body;
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Random characters in the name of a temporary data folder.
const TEMPORARY_CHARACTERS: usize = 16;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

pub(super) struct InProcess {
    gateway: Arc<Gateway>,
    workers: Workers,
    api: http::OperatorApi,
    token: Secret,
    /// The data folder, if it is removed at the end of the command.
    temporary: Option<PathBuf>,
}

impl InProcess {
    /// Opens a data folder, and creates it if it does not exist.
    pub(super) async fn open(config: &Config) -> Result<InProcess, Failure> {
        create_folder(&config.data.folder)?;
        InProcess::open_unless_in_use(config).await?.ok_or_else(|| in_use(config))
    }

    /// Opens an existing data folder. Returns nothing if another process uses it.
    pub(super) async fn open_unless_in_use(config: &Config) -> Result<Option<InProcess>, Failure> {
        // Asked first: a node that runs also has the address for the other nodes, which opening needs.
        if running::Store::is_in_use(&config.data.folder).map_err(Failure::failed)? {
            return Ok(None);
        }
        InProcess::open_by(running::open, config).await
    }

    async fn open_by(
        open: fn(&Config, &Clock) -> Result<Opened, StartError>,
        config: &Config,
    ) -> Result<Option<InProcess>, Failure> {
        // The store reports problems in the log. Logging has started already if this is a second command.
        let _ = telemetry::start_logging(&LogSection { format: LogFormat::Human, level: "error".to_owned() });
        let clock = Clock::real();
        let Opened { store, pepper, operator_token } = match open(config, &clock) {
            Ok(opened) => opened,
            Err(StartError::Store(StoreError::InUse(_))) => return Ok(None),
            Err(error) => return Err(Failure::failed(error)),
        };
        let token = operator_token::find(config).map_err(Failure::failed)?;
        let catalogue = load_catalogue(&store).await.map_err(Failure::failed)?;
        let https = config.https.wanted().map(|(address, _)| address);
        let mut gateway = Gateway::new(clock, store, pepper, catalogue, config.messages.validity.into());
        gateway.webhook_rules = config.webhooks.rules();
        gateway.portal_url = running::portal_url(config, config.http.listen, https);
        let gateway = Arc::new(gateway);
        let workers = Workers::default();
        let api = http::OperatorApi::new(gateway.clone(), operator_token, workers.clone());
        Ok(Some(InProcess { gateway, workers, api, token: Secret::new(token), temporary: None }))
    }

    /// Opens an empty temporary data folder.
    pub(super) async fn open_temporary(config: &Config) -> Result<InProcess, Failure> {
        let name = format!("hermod-dry-run-{}", random_token(TEMPORARY_CHARACTERS).map_err(Failure::failed)?);
        let folder = std::env::temp_dir().join(name);
        let mut config = config.clone();
        config.data.folder.clone_from(&folder);
        create_folder(&config.data.folder)?;
        let gateway = InProcess::open_by(running::open_unclaimed, &config).await?;
        let gateway = gateway.ok_or_else(|| in_use(&config))?;
        Ok(InProcess { temporary: Some(folder), ..gateway })
    }

    /// Whether the data folder is removed at the end of the command.
    pub(super) fn is_temporary(&self) -> bool {
        self.temporary.is_some()
    }

    pub(super) fn token(&self) -> &Secret {
        &self.token
    }

    pub(super) async fn call(&self, request: ApiRequest) -> Result<ApiResponse, CallError> {
        read(self.response(request).await).await.map_err(CallError::Lost)
    }

    /// Sends a request, and passes the pieces of its response on as they are made.
    pub(super) async fn stream(
        &self,
        request: ApiRequest,
        piece: &mut dyn FnMut(&[u8]) -> Result<(), String>,
    ) -> Result<StreamedResponse, CallError> {
        read_pieces(self.response(request).await, piece).await.map_err(CallError::Lost)
    }

    async fn response(
        &self,
        request: ApiRequest,
    ) -> Response<impl Body<Data = Bytes, Error: Into<BoxError>> + Unpin> {
        let service = TowerToHyperService::new(self.api.clone().router());
        match service.call(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        }
    }

    pub(super) async fn close(self) -> CommandResult {
        let InProcess { gateway, workers, api, token: _, temporary } = self;
        drop(api);
        workers.stop().await;
        gateway.store.close().await.map_err(Failure::failed)?;
        if let Some(folder) = temporary {
            let removed = std::fs::remove_dir_all(&folder);
            removed.map_err(|error| Failure::failed(format!("{}: {error}", folder.display())))?;
        }
        Ok(())
    }
}

fn in_use(config: &Config) -> Failure {
    Failure::failed(StoreError::InUse(config.data.folder.clone()))
}

/// Creates a folder that only its owner may read: it will hold secrets.
fn create_folder(folder: &Path) -> CommandResult {
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|error| Failure::failed(format!("{}: {error}", folder.display())))
}
