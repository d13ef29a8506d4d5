//! `hermod serve`: runs a gateway until a signal stops it.

use crate::data_folder::{IN_USE_LOOK, IN_USE_WAIT_MAX};
use crate::failure::{CommandResult, Failure};
use crate::operator::{PASSWORD_OF, TOKEN_OF, WEBHOOKS_OF};
use crate::runtime::{self, Signals, bind, run_until_stopped};
use crate::{output, provision_file};
use clap::Args;
use hermod_gateway::clock::Clock;
use hermod_gateway::config::Config;
use hermod_gateway::running::{self, GatewayOptions, Opened, Running, StartError, StoreError};
use hermod_gateway::telemetry;
use hermod_gateway::tls::{CertificateFiles, Tls};
use hermod_operator::api::OPERATOR_SIDE;
use hermod_operator::entry::plan::Made;
use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::sync::Arc;

const EXAMPLES: &str = "\
Examples:
  Start from the commented defaults:
    hermod config default > hermod.toml
    hermod serve --config hermod.toml

  Reload a renewed certificate at once (without the signal it is reloaded within seconds):
    kill -HUP PID

  Shut down (systemd, Kubernetes and Ctrl-C send the same signals); a second signal stops at once:
    kill -TERM PID

Settings that are not in the file have their defaults. At SIGTERM or SIGINT, /readyz is 503 for a while, then no connection
is accepted, binds are unbound, requests in progress are finished, outstanding responses of carriers are awaited, the store
is closed, and the exit code is 0. The times are in [shutdown].";

/// Run the gateway
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ServeArgs {
    /// Settings file (TOML); `hermod config default` prints one
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
}

impl ServeArgs {
    pub(crate) fn run(self) -> CommandResult {
        let config = Config::load(&self.config).map_err(Failure::usage)?;
        telemetry::start_logging(&config.log).map_err(Failure::usage)?;
        runtime::block_on(serve(config))
    }
}

async fn serve(config: Config) -> CommandResult {
    // Files and addresses are checked before the store is opened.
    let file = config.provision.file.clone();
    let wanted = file.as_deref().map(provision_file::read).transpose()?;
    let wanted = wanted.map(|wanted| wanted.judged_by(config.webhooks.rules()));
    if let (Some(file), Some(wanted)) = (&file, &wanted)
        && let Some(warning) = provision_file::exposure(file, wanted)
    {
        tracing::warn!("{warning}");
    }
    let clock = Clock::real();
    let https = config.https.wanted();
    let https = https.map(|(address, files)| Ok((address, load_certificate(files, &clock)?))).transpose()?;
    let smpps = config.smpp.wanted_tls(&config.https);
    let smpps = smpps
        .map(|(address, files)| Tls::load(files, &[], clock.now()).map(|tls| (address, Arc::new(tls))))
        .transpose()
        .map_err(Failure::usage)?;
    let mut signals = Signals::listen()?;
    let http = bind(config.http.listen, "change [http] listen").await?;
    let https = match https {
        Some((address, tls)) => Some((bind(address, "change [https] listen").await?, tls)),
        None => None,
    };
    let smpp = match config.smpp.wanted_plain() {
        Some(address) => Some(bind(address, "change [smpp] listen, or write allow_plain = false").await?),
        None => None,
    };
    let smpps = match smpps {
        Some((address, tls)) => Some((bind(address, "change [smpp] tls_listen").await?, tls)),
        None => None,
    };
    let operations = match config.operations.listen {
        Some(address) => Some(bind(address, "change [operations] listen").await?),
        None => None,
    };
    let opened = tokio::select! {
        opened = open_when_free(&config, &clock) => opened?,
        () = signals.wait_for_stop() => return Ok(()),
    };
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

/// Opens the data folder, and waits while a command uses it.
async fn open_when_free(config: &Config, clock: &Clock) -> Result<Opened, Failure> {
    let deadline = clock.moment().plus(IN_USE_WAIT_MAX);
    let mut has_logged = false;
    loop {
        match running::open(config, clock) {
            Err(StartError::Store(StoreError::InUse(folder))) if clock.moment() < deadline => {
                if !std::mem::replace(&mut has_logged, true) {
                    let folder = folder.display();
                    tracing::info!(%folder, "Another hermod process uses the data folder; waiting for it to end");
                }
                clock.sleep(IN_USE_LOOK).await;
            }
            opened => return opened.map_err(Failure::failed),
        }
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
        (key.to_owned(), format!("hermod operator remove {operator} and hermod operator add {operator}"))
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
