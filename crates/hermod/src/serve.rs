//! `hermod serve`: runs a gateway until a signal stops it.

use crate::data_folder::{IN_USE_LOOK, IN_USE_WAIT_MAX};
use crate::failure::{CommandResult, Failure};
use crate::operator::{PASSWORD_OF, TOKEN_OF, WEBHOOKS_OF};
use crate::runtime::{self, Signals, bind, run_until_stopped};
use crate::{output, provision_file};
use clap::Args;
use hermod_gateway::clock::Clock;
use hermod_gateway::config::Config;
use hermod_gateway::running::{self, GatewayOptions, Opened, Running, StartError, Store, StoreError};
use hermod_gateway::telemetry;
use hermod_gateway::tls::{CertificateFiles, Tls};
use hermod_operator::api::OPERATOR_SIDE;
use hermod_operator::entry::plan::Made;
use hermod_operator::restore;
use std::io::IsTerminal as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;

const EXAMPLES: &str = "\
Examples:
  Start from the commented defaults:
    hermod config default > hermod.toml
    hermod serve --config hermod.toml

  Reload a renewed certificate at once (without the signal it is reloaded within seconds):
    kill -HUP PID

  Look at what a store would send before it sends anything, such as after PostgreSQL was restored:
    hermod serve --config hermod.toml --hold

  Shut down (systemd, Kubernetes and Ctrl-C send the same signals); a second signal stops at once:
    kill -TERM PID

Settings that are not in the file have their defaults. At SIGTERM or SIGINT, /readyz is 503 for a while, then no connection
is accepted, binds are unbound, requests in progress are finished, outstanding responses of carriers are awaited, the store
is closed, and the exit code is 0. The times are in [shutdown].";

/// A command uses the data folder for less than this.
const IN_USE_LOG_AFTER: Duration = Duration::from_secs(1);

/// Run the gateway
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ServeArgs {
    /// Settings file (TOML); `hermod config default` prints one
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Hold the gateway: no carrier is bound and nothing is sent, until `hermod restore release`, also after a restart. A
    /// restored backup is held without this option
    #[arg(long)]
    hold: bool,
    /// Accept new messages while the gateway is held; they wait. Without this option they get 503 and binds are rejected
    #[arg(long)]
    accept_while_held: bool,
}

/// What the command line says beside the settings.
struct HoldWanted {
    hold: bool,
    accepts_messages: bool,
}

impl ServeArgs {
    pub(crate) fn run(self) -> CommandResult {
        let config = Config::load(&self.config).map_err(Failure::usage)?;
        telemetry::start_logging(&config.log).map_err(Failure::usage)?;
        let wanted = HoldWanted { hold: self.hold, accepts_messages: self.accept_while_held };
        runtime::block_on(serve(config, wanted))
    }
}

async fn serve(config: Config, HoldWanted { hold, accepts_messages }: HoldWanted) -> CommandResult {
    // Files are checked before the store is opened.
    let file = config.provision.file.clone();
    let wanted = file.as_deref().map(provision_file::read).transpose()?;
    let wanted = wanted.map(|wanted| wanted.judged_by(config.webhooks.rules()));
    if let (Some(file), Some(wanted)) = (&file, &wanted)
        && let Some(warning) = provision_file::exposure(file, wanted)
    {
        tracing::warn!("{warning}");
    }
    let clock = Clock::real();
    let addresses = Addresses::load(&config, &clock)?;
    let mut signals = Signals::listen()?;
    let (Listeners { http, https, smpp, smpps, operations }, opened) = tokio::select! {
        opened = open_when_free(&config, &addresses, &clock) => opened?,
        () = signals.wait_for_stop() => return Ok(()),
    };
    let held = restore::hold_before_start(&opened.store, hold, accepts_messages, clock.now());
    held.await.map_err(Failure::failed)?;
    if let (Some(wanted), Some(file)) = (&wanted, &file) {
        print_secrets(&provision_file::apply(&opened, wanted, file, &clock).await?.secrets);
    }
    let options = GatewayOptions {
        config,
        http,
        https,
        smpp,
        smpps,
        operations,
        operator: Some(OPERATOR_SIDE),
        pages: Some(hermod_portal::server::pages()),
        clock,
    };
    let running = Running::start(options, opened).await.map_err(Failure::failed)?;
    log_addresses(&running);
    run_until_stopped(running, &mut signals, async {}).await
}

fn log_addresses(running: &Running) {
    tracing::info!(
        address = %running.http_addr(),
        version = env!("CARGO_PKG_VERSION"),
        "Hermod serves http://{}/api/v1",
        running.http_addr()
    );
    if let Some(address) = running.https_addr() {
        tracing::info!(%address, "Hermod serves https://{address}/api/v1");
    }
    if let Some(address) = running.smpp_addr() {
        tracing::info!(%address, "Customers bind at {address}, without TLS");
    }
    if let Some(address) = running.smpps_addr() {
        tracing::info!(%address, "Customers bind at {address}, over TLS");
    }
}

/// Where to listen, with the certificates.
struct Addresses {
    http: SocketAddr,
    https: Option<(SocketAddr, Arc<Tls>)>,
    smpp: Option<SocketAddr>,
    smpps: Option<(SocketAddr, Arc<Tls>)>,
    operations: Option<(SocketAddr, Option<Arc<Tls>>)>,
}

struct Listeners {
    http: TcpListener,
    https: Option<(TcpListener, Arc<Tls>)>,
    smpp: Option<TcpListener>,
    smpps: Option<(TcpListener, Arc<Tls>)>,
    operations: Option<(TcpListener, Option<Arc<Tls>>)>,
}

impl Addresses {
    /// Loads the certificates. Fails if one is not valid.
    fn load(config: &Config, clock: &Clock) -> Result<Addresses, Failure> {
        let https = config.https.wanted();
        let https =
            https.map(|(address, files)| Ok((address, load_certificate(files, clock)?))).transpose()?;
        let smpps = config.smpp.wanted_tls(&config.https);
        let smpps = smpps
            .map(|(address, files)| Tls::load(files, &[], clock.now()).map(|tls| (address, Arc::new(tls))))
            .transpose()
            .map_err(Failure::usage)?;
        let operations_tls = config.operations.certificate_files();
        let operations_tls = operations_tls.map(|files| load_certificate(files, clock)).transpose()?;
        Ok(Addresses {
            http: config.http.listen,
            https,
            smpp: config.smpp.wanted_plain(),
            smpps,
            operations: config.operations.listen.map(|address| (address, operations_tls)),
        })
    }

    async fn bind(&self) -> Result<Listeners, Failure> {
        let http = bind(self.http, "change [http] listen").await?;
        let https = bind_tls(self.https.as_ref(), "change [https] listen").await?;
        let smpp = match self.smpp {
            Some(address) => Some(bind(address, "change [smpp] listen, or write allow_plain = false").await?),
            None => None,
        };
        let smpps = bind_tls(self.smpps.as_ref(), "change [smpp] tls_listen").await?;
        let operations = match &self.operations {
            Some((address, tls)) => Some((bind(*address, "change [operations] listen").await?, tls.clone())),
            None => None,
        };
        Ok(Listeners { http, https, smpp, smpps, operations })
    }
}

async fn bind_tls(
    wanted: Option<&(SocketAddr, Arc<Tls>)>,
    instead: &str,
) -> Result<Option<(TcpListener, Arc<Tls>)>, Failure> {
    match wanted {
        Some((address, tls)) => Ok(Some((bind(*address, instead).await?, tls.clone()))),
        None => Ok(None),
    }
}

/// Binds the listeners and opens the data folder. While another process uses the folder, waits and holds no port: they may be
/// those of a gateway that runs on the folder.
async fn open_when_free(
    config: &Config,
    addresses: &Addresses,
    clock: &Clock,
) -> Result<(Listeners, Opened), Failure> {
    let (log_at, deadline) = (clock.moment().plus(IN_USE_LOG_AFTER), clock.moment().plus(IN_USE_WAIT_MAX));
    let mut has_logged = false;
    loop {
        let in_use = match try_open(config, addresses, clock).await? {
            Ok(opened) => return Ok(opened),
            Err(in_use) => in_use,
        };
        let holder = Store::folder_holder(&config.data.folder).ok().flatten();
        if clock.moment() >= deadline {
            return Err(Failure::failed(match holder {
                Some(holder) => format!("{in_use} (it is used by {holder})"),
                None => in_use.to_string(),
            }));
        }
        if clock.moment() >= log_at && !std::mem::replace(&mut has_logged, true) {
            let folder = config.data.folder.display();
            let holder = holder.map_or_else(|| "another process".to_owned(), |holder| holder.to_string());
            tracing::warn!(%folder, "Another hermod process uses the data folder: waiting for {holder} to end");
        }
        clock.sleep(IN_USE_LOOK).await;
    }
}

/// Binds the listeners and opens the data folder, unless another process uses the folder: then it returns the store's error, and
/// no listener is bound.
async fn try_open(
    config: &Config,
    addresses: &Addresses,
    clock: &Clock,
) -> Result<Result<(Listeners, Opened), StoreError>, Failure> {
    let folder: &Path = &config.data.folder;
    if Store::is_in_use(folder).map_err(Failure::failed)? {
        return Ok(Err(StoreError::InUse(folder.to_owned())));
    }
    let listeners = addresses.bind().await?;
    match running::open(config, clock) {
        Ok(opened) => Ok(Ok((listeners, opened))),
        Err(StartError::Store(error @ StoreError::InUse(_))) => Ok(Err(error)),
        Err(error) => Err(Failure::failed(error)),
    }
}

fn load_certificate(files: CertificateFiles, clock: &Clock) -> Result<Arc<Tls>, Failure> {
    Tls::load(files, &running::HTTPS_PROTOCOLS, clock.now()).map(Arc::new).map_err(Failure::usage)
}

/// Returns what a secret is of, and the command that makes another: a key of the API, what an account's webhooks are signed with, the
/// SMPP password of a connection, or the token of an operator.
fn new_secret_words(key: &str) -> (String, String) {
    if let Some(account) = key.strip_prefix(WEBHOOKS_OF) {
        (key.to_owned(), format!("hermod webhook secret stage {account}"))
    } else if let Some(connection) = key.strip_prefix(PASSWORD_OF) {
        (key.to_owned(), format!("hermod connection set {connection} password=@FILE"))
    } else if let Some(operator) = key.strip_prefix(TOKEN_OF) {
        (
            key.to_owned(),
            format!("hermod operator remove {operator} and hermod operator add {operator} role=ROLE"),
        )
    } else {
        (format!("key {key}"), format!("hermod key rotate {key}"))
    }
}

/// Prints generated secrets on a terminal. Elsewhere standard output may be a log, which must not have secrets.
fn print_secrets(secrets: &[Made]) {
    let is_terminal = std::io::stdout().is_terminal();
    for Made { key, secret } in secrets {
        let (what, again) = new_secret_words(key);
        if is_terminal {
            // An error of the terminal is ignored: another secret can be generated.
            let _ = output::print(&format!("New secret for {what}, shown only now: {}\n", secret.reveal()));
        } else {
            tracing::warn!(key, "A secret was generated and not printed: {again} makes another");
        }
    }
}
