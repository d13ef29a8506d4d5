//! `hermod demo`: a complete gateway with a simulated carrier, a funded account, and two showcase accounts with traffic.

mod control;
mod credentials;
mod history;
mod mo;
mod seed;
mod showcase;
mod welcome;

use crate::failure::{CommandResult, Failure};
use crate::provision_file;
use crate::runtime::{self, Signals, bind, run_until_stopped};
use clap::{Args, Subcommand};
use control::ControlSocket;
use credentials::DemoCredentials;
use hermod_gateway::clock::Clock;
use hermod_gateway::config::{Config, IpNetwork, LogFormat, LogSection, Period, ShutdownSection};
use hermod_gateway::running::{self, GatewayOptions, Running};
use hermod_gateway::secrets::operator_token;
use hermod_gateway::telemetry;
use hermod_operator::api::OPERATOR_SIDE;
use hermod_simulator::carrier::{CarrierOptions, Outcome, RecordMode, Script, SimulatedCarrier};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use welcome::{DemoSmpp, WelcomeText};

const EXAMPLES: &str = "\
Examples:
  hermod demo

  On a free port, with address and credentials as JSON in the first line:
    hermod demo --http-port 0 --json | head -1

  An MO message, from another terminal:
    hermod demo mo --from +4915112345678 --text STOP

  With your own customers, prices and rules:
    hermod config provision > provision.toml
    hermod demo --apply provision.toml

The first start creates the data folder with an account that holds EUR 1,000,000, or with the entries
of the file; later starts keep all data and credentials. Two more accounts, aurora and kite, show the
portal with three days of traffic and get a few new messages per minute. The simulated carrier is named demo: routes
of a file may use it, and a file without carriers and routes sends everything to it. Numbers that end
in 5550101 to 5550109 have fixed outcomes, which the welcome lists. Ctrl-C stops the demo.";

const SMPP_PORT: u16 = 2775;
const SMPP_TLS_PORT: u16 = 2776;
/// Time until the simulated carrier's DELIVRD receipt.
const RECEIPT_AFTER: Duration = Duration::from_millis(300);
/// Time until a part in doubt is sent again; shorter than in production, so that it can be watched.
const IN_DOUBT_WAIT: Period = Period::from_secs(5);
/// Connections of each kind: their sum is below the usual limit of open files.
const CONNECTIONS_MAX: u32 = 250;
/// Time to wait for pending receipts at the end: the carrier keeps them in memory only.
const RECEIPTS_WAIT_MAX: Duration = Duration::from_secs(5);
const RECEIPTS_CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// Consecutive checks that must find no pending receipt.
const RECEIPTS_QUIET_CHECKS: u32 = 3;

/// The log levels if none is given. A showcase account's webhook fails on purpose: `hermod alarms` shows it, and no warning greets
/// a newcomer.
const LOG_LEVELS: &str = "warn,hermod_gateway::live_status::alarms=error";

/// Run a complete gateway with a simulated carrier and a funded account
#[derive(Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct DemoArgs {
    #[command(subcommand)]
    command: Option<DemoCommand>,
    #[command(flatten)]
    start: Start,
}

#[derive(Subcommand)]
enum DemoCommand {
    Mo(mo::MoArgs),
}

#[derive(Args)]
struct Start {
    /// Data folder, created if it does not exist
    #[arg(long, value_name = "DIR", default_value = "hermod-data")]
    data_dir: PathBuf,
    /// Port of the HTTP API on the loopback; 0 selects a free one
    #[arg(long, value_name = "N", default_value_t = 8080)]
    http_port: u16,
    /// Port of SMPP [default: 2775, or a free one if it is in use]
    #[arg(long, value_name = "N")]
    smpp_port: Option<u16>,
    /// Port of SMPP over TLS [default: 2776, or a free one if it is in use]
    #[arg(long, value_name = "N")]
    smpp_tls_port: Option<u16>,
    /// Use this provision file instead of the demo's own data
    #[arg(long, value_name = "FILE")]
    apply: Option<PathBuf>,
    /// Leave out the showcase accounts with their past and their new messages
    #[arg(long, conflicts_with = "apply")]
    without_showcase: bool,
    /// Print address and credentials as JSON instead of the welcome
    #[arg(long)]
    json: bool,
    /// Log level on standard error: error, warn, info, debug or trace [default: warn]
    #[arg(long, value_name = "LEVEL")]
    log: Option<String>,
}

impl DemoArgs {
    pub(crate) fn run(self) -> CommandResult {
        match self.command {
            Some(DemoCommand::Mo(mo)) => mo.run(),
            None => self.start.run(),
        }
    }
}

impl Start {
    fn run(self) -> CommandResult {
        let level = self.log.clone().unwrap_or_else(|| LOG_LEVELS.to_owned());
        let log = LogSection { format: LogFormat::Human, level };
        telemetry::start_logging(&log).map_err(|sentence| Failure::usage(format!("--log: {sentence}")))?;
        runtime::block_on(self.serve())
    }

    fn config(&self) -> Config {
        let mut config = Config::defaults();
        config.http.listen = SocketAddr::from((Ipv4Addr::LOCALHOST, self.http_port));
        config.data.folder.clone_from(&self.data_dir);
        config.messages.in_doubt_wait = IN_DOUBT_WAIT;
        config.shutdown = ShutdownSection::AT_ONCE;
        // Below the default limit of open files.
        config.http.max_connections = CONNECTIONS_MAX;
        config.smpp.max_sessions = CONNECTIONS_MAX;
        config.webhooks.max_posts = CONNECTIONS_MAX;
        // For `hermod webhook listen` on this machine.
        config.webhooks.allow_http = true;
        config.webhooks.allow = ["127.0.0.0/8", "::1"].into_iter().filter_map(IpNetwork::parse).collect();
        config
    }

    async fn serve(self) -> CommandResult {
        let config = self.config();
        // Errors in the file are reported before anything is opened.
        let file = self.apply.as_deref().map(provision_file::read).transpose()?;
        let mut signals = Signals::listen()?;
        let http = bind(config.http.listen, "use --http-port 0 for a free port").await?;
        let smpp = bind_or_else(self.smpp_port, SMPP_PORT, "use --smpp-port 0 for a free port").await?;
        let smpps = bind_or_else(self.smpp_tls_port, SMPP_TLS_PORT, "use --smpp-tls-port 0 for a free port");
        let smpps = smpps.await?;
        let mut credentials = DemoCredentials::load_or_make(&self.data_dir)?;
        let clock = Clock::real();
        let tls = Arc::new(credentials::load_or_make_certificate(&self.data_dir, &clock)?);
        let opened = running::open(&config, &clock).map_err(Failure::failed)?;
        let token = operator_token::find(&config).map_err(Failure::failed)?;
        let number = file.as_ref().map_or_else(|| Some(seed::NUMBER.to_owned()), seed::first_number);
        let carrier = start_carrier(number.as_deref()).await?;
        let has_showcase = file.is_none() && !self.without_showcase;
        if has_showcase && opened.store.was_empty() {
            showcase::make(&opened, carrier.addr(), &config.webhooks, &clock).await?;
        }
        let wanted = match &file {
            Some(file) => seed::with_carrier(file.clone(), carrier.addr()),
            None => seed::wanted(&credentials, carrier.addr()),
        };
        let wanted = wanted.judged_by(config.webhooks.rules());
        let source = self.apply.as_deref().unwrap_or(Path::new("the demo's own data"));
        let plan = provision_file::apply(&opened, &wanted, source, &clock).await?;
        credentials.remember(&plan.secrets, &self.data_dir)?;
        let options = GatewayOptions {
            config,
            http,
            https: None,
            smpp: Some(smpp),
            smpps: Some((smpps, tls.clone())),
            operations: None,
            operator: Some(OPERATOR_SIDE),
            pages: Some(hermod_portal::server::pages()),
            clock: clock.clone(),
        };
        let running = Running::start(options, opened).await.map_err(Failure::failed)?;
        let control = ControlSocket::open(&self.data_dir, number.clone())?;
        let url = format!("http://{}/", running.http_addr());
        let portal = seed::make_portal_user(running.gateway(), url, &credentials.portal_password).await?;

        let data_dir = std::fs::canonicalize(&self.data_dir).unwrap_or(self.data_dir);
        let welcome = WelcomeText {
            address: running.http_addr(),
            keys: credentials.of_file(&wanted),
            smpp: DemoSmpp {
                port: running.smpp_addr().map(|address| address.port()),
                tls_port: running.smpps_addr().map(|address| address.port()),
                fingerprint: tls.fingerprint(),
                binds: credentials::binds_of(&wanted),
            },
            portal,
            operator_token: token,
            data_dir: &data_dir,
            number,
            file: self.apply.as_deref(),
        };
        let told = if self.json { welcome.print_json() } else { welcome.print() };
        let gateway = running.gateway().clone();
        let trickle = showcase::run_trickle(has_showcase.then_some(&*gateway), &carrier);
        let busy = async { tokio::join!(control.serve(&carrier, &clock), trickle) };
        let ended = tokio::select! {
            ended = run_until_stopped(running, &mut signals, receipts_delivered(&carrier, &clock)) => ended,
            _ = busy => Ok(()),
        };
        carrier.stop().await;
        ended.and(told)
    }
}

/// Binds the port of the flag, or else the default one, or a free one if that is in use by a second demo.
async fn bind_or_else(port: Option<u16>, default: u16, advice: &str) -> Result<TcpListener, Failure> {
    let on = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    match port {
        Some(port) => bind(on(port), advice).await,
        None => match TcpListener::bind(on(default)).await {
            Ok(listener) => Ok(listener),
            Err(_) => bind(on(0), advice).await,
        },
    }
}

/// `number` is the destination of replies to messages from a name.
async fn start_carrier(number: Option<&str>) -> Result<SimulatedCarrier, Failure> {
    let mut script =
        Script::new().magic_numbers(RECEIPT_AFTER).receipt_after(RECEIPT_AFTER, Outcome::Delivered);
    if let Some(number) = number {
        script = script.reply_number_for_names(number);
    }
    let options = CarrierOptions { record: RecordMode::Compact, ..CarrierOptions::new(script) };
    let started = SimulatedCarrier::start(options).await;
    started.map_err(|error| Failure::failed(format!("cannot start the simulated carrier: {error}")))
}

/// Waits until the carrier has no pending receipts, up to a limit.
async fn receipts_delivered(carrier: &SimulatedCarrier, clock: &Clock) {
    let give_up = clock.moment().plus(RECEIPTS_WAIT_MAX);
    let mut quiet = 0;
    while quiet < RECEIPTS_QUIET_CHECKS && clock.moment() < give_up {
        clock.sleep(RECEIPTS_CHECK_INTERVAL).await;
        quiet = if carrier.receipts_pending() == 0 { quiet + 1 } else { 0 };
    }
}
