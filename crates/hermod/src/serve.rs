//! `hermod serve`: a gateway as its settings say, until it is told to stop.

use crate::ending::{Ended, Failure};
use crate::runtime::{self, bind};
use crate::signals::{Signals, run_until_told};
use clap::Args;
use hermod_gateway::clock::Clock;
use hermod_gateway::config::{Config, Source};
use hermod_gateway::provision::{self, Effect, Wanted};
use hermod_gateway::running::{self, GatewayOptions, Opened, Running};
use hermod_gateway::telemetry;
use hermod_gateway::tls::{CertificateFiles, Tls};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const EXAMPLES: &str = "\
Examples:
  Start from the commented defaults:
    hermod config default > hermod.toml
    hermod serve --config hermod.toml

  Take a renewed certificate at once (without a signal it is noticed within seconds):
    kill -HUP PID

  Stop it in good order (systemd, Kubernetes and Ctrl-C do the same); a second signal stops it at once:
    kill -TERM PID

What is not in the settings file has its default. SIGTERM or SIGINT: new messages get 503, requests under way are
finished, carriers' answers are waited for, the store's log is emptied, exit code 0.";

/// Run the gateway
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Serve {
    /// The settings file (TOML); `hermod config default` prints one
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
}

impl Serve {
    pub(crate) fn run(self) -> Ended {
        let config = Config::load(&self.config).map_err(Failure::mend)?;
        telemetry::start_logging(&config.log).map_err(Failure::mend)?;
        runtime::block_on(serve(config))
    }
}

async fn serve(config: Config) -> Ended {
    // Everything a person may have got wrong first: it should be said before anything is opened.
    let file = config.provision.file.clone();
    let wanted = file.as_deref().map(read_wanted).transpose()?;
    let clock = Clock::real();
    let https = config.https.wanted();
    let https = https.map(|(address, files)| Ok((address, load_certificate(files, &clock)?))).transpose()?;
    let mut signals = Signals::listen()?;
    let http = bind(config.http.listen, "change [http] listen").await?;
    let https = match https {
        Some((address, tls)) => Some((bind(address, "change [https] listen").await?, tls)),
        None => None,
    };
    let operations = match config.operations.listen {
        Some(address) => Some(bind(address, "change [operations] listen").await?),
        None => None,
    };
    let opened = running::open(&config, &clock).map_err(Failure::failed)?;
    if let (Some(wanted), Some(file)) = (&wanted, &file) {
        apply(&opened, wanted, file, &clock).await?;
    }
    let options = GatewayOptions { config, http, https, operations, clock };
    let running = Running::start(options, opened).await.map_err(Failure::failed)?;
    tracing::info!(
        address = %running.http_addr(),
        version = env!("CARGO_PKG_VERSION"),
        "Hermod serves http://{}/api/v1",
        running.http_addr()
    );
    if let Some(address) = running.https_addr() {
        tracing::info!(%address, "Hermod serves https://{address}/api/v1");
    }
    run_until_told(running, &mut signals, async {}).await
}

fn load_certificate(files: CertificateFiles, clock: &Clock) -> Result<Arc<Tls>, Failure> {
    Tls::load(files, &[running::HTTPS_PROTOCOL], clock.now()).map(Arc::new).map_err(Failure::mend)
}

fn read_wanted(file: &Path) -> Result<Wanted, Failure> {
    Source::read(file).and_then(|source| Wanted::parse(&source)).map_err(Failure::mend)
}

async fn apply(opened: &Opened, wanted: &Wanted, file: &Path, clock: &Clock) -> Ended {
    let plan = provision::apply(&opened.store, &opened.pepper, wanted, clock.now()).await;
    let plan = plan.map_err(|error| match error {
        provision::ProvisionError::Refused(refusal) => {
            Failure::mend(format!("{}: {refusal}", file.display()))
        }
        provision::ProvisionError::Store(fault) => Failure::failed(fault),
    })?;
    for change in plan.changes.iter().filter(|change| change.effect != Effect::Same) {
        tracing::info!(kind = %change.kind, name = change.name, effect = change.effect.as_str(), "Provisioned");
    }
    Ok(())
}
