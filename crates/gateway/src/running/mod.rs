//! A running gateway: everything put together, started in order and stopped in order. The caller binds the listeners and
//! owns the clock, so a test can have it on any free port and move its time.

mod alarm_checks;
mod clock_check;
mod purge;

use crate::app::{FailOver, LOOK_EVERY};
use crate::clock::{Clock, Moment};
use crate::config::{Config, Network};
use crate::edges::http_api::MetricsPage;
use crate::edges::{carrier, http_api, operator_api, smpp, webhooks};
use crate::http::{self, Entrance, Limits, Reach, Security, TrustedProxies};
use crate::open_files::{self, Needs, OPERATIONS_CONNECTIONS_MAX};
use crate::provision::{self, ProvisionError};
use crate::secrets::operator_token::{OperatorToken, token_file};
use crate::secrets::{Pepper, PepperError, StoreContents, keep_private};
use crate::telemetry;
use crate::tls::Tls;
use crate::workers::Workers;
use crate::world::World;
use hermod_domain::numbers::Numbers;
use hermod_store::{OpenOptions, Rematched};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;

/// Who is asked where webhooks' names lead.
pub use crate::edges::webhooks::Resolver;

/// For the commands that look at a data folder from outside.
pub use hermod_store::{AuditReport, Store, StoreError};

/// How often parts whose waiting time is over are released.
const TICK: Duration = Duration::from_millis(200);
/// How often the machine's clock and the free space of the disk are looked at and histograms are folded.
const LOOK: Duration = Duration::from_secs(1);
/// How often the files of the certificates and the review cases are looked at.
const SLOW_LOOK: Duration = Duration::from_secs(5);
/// How often everything that has not ended is looked through for what has outlived its validity.
const SWEEP: Duration = Duration::from_secs(60);
/// How often idempotency keys are merged.
const MERGE_KEYS: Duration = Duration::from_secs(5);
/// How often receipts that found no part are tried again: the operator may have corrected how a carrier writes its ids.
const REMATCH: Duration = Duration::from_secs(300);

/// In the data folder while a gateway runs: the address of its operator API.
pub const OPERATOR_URL_FILE: &str = "operator.url";

/// The copy of the database that `hermod audit` reads beside a running gateway.
pub const AUDIT_COPY_FOLDER: &str = "audit-copy";

/// What is spoken over TLS with customers, as a handshake names it.
pub const HTTPS_PROTOCOL: &str = "http/1.1";

/// What a gateway is started with.
pub struct GatewayOptions {
    pub config: Config,
    pub http: TcpListener,
    /// A listener for TLS, if there is one, and the certificate it shows.
    pub https: Option<(TcpListener, Arc<Tls>)>,
    /// Where customers bind without TLS, if they may.
    pub smpp: Option<TcpListener>,
    /// And with it.
    pub smpps: Option<(TcpListener, Arc<Tls>)>,
    /// Where the operations pages are, if not beside the API.
    pub operations: Option<TcpListener>,
    pub clock: Clock,
}

/// Why a gateway did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{path}: {error}")]
    Secrets { path: PathBuf, error: std::io::Error },
    #[error(transparent)]
    Pepper(#[from] PepperError),
    #[error(transparent)]
    Provision(#[from] ProvisionError),
    #[error("a listener has no address: {0}")]
    Listener(std::io::Error),
    #[error(transparent)]
    Clock(#[from] clock_check::Nonsense),
}

/// A gateway at work. It runs until [`Running::stop`]; dropping it does not stop it.
pub struct Running {
    /// Says where the operator API is, for as long as this runs.
    url_file: PathBuf,
    http_addr: SocketAddr,
    https_addr: Option<SocketAddr>,
    smpp_addr: Option<SocketAddr>,
    smpps_addr: Option<SocketAddr>,
    /// Every certificate in use.
    certificates: Vec<Arc<Tls>>,
    world: Arc<World>,
    /// In the order in which they are stopped.
    front: Workers,
    links: Workers,
    webhooks: Workers,
    upkeep: Workers,
}

/// The store and secrets of a data folder, before anything runs on them.
pub struct Opened {
    pub store: Store,
    pub pepper: Pepper,
    pub operator_token: OperatorToken,
}

/// Opens a data folder, made if need be. Blocking: it reads what was left behind.
pub fn open(config: &Config, clock: &Clock) -> Result<Opened, StartError> {
    // First of all: what is counted before there is a recorder is lost.
    telemetry::figures();
    // Read now, while nobody waits for it.
    Numbers::embedded();
    let now = clock_check::time(clock.now())?;
    let folder = config.data.folder.clone();
    let options = OpenOptions {
        folder: folder.clone(),
        low_water_bytes: config.data.low_water.0,
        in_doubt_wait: config.messages.in_doubt_wait.into(),
        now,
    };
    let store = Store::open(&options)?;
    // Left over by an audit that was killed while it had the database copied.
    let _ = std::fs::remove_dir_all(folder.join(AUDIT_COPY_FOLDER));
    let contents = if store.was_empty() { StoreContents::Empty } else { StoreContents::InUse };
    let pepper = Pepper::load_or_make(&folder, contents)?;
    let operator_token = OperatorToken::load_or_make(config, &pepper)
        .map_err(|error| StartError::Secrets { path: token_file(config), error })?;
    Ok(Opened { store, pepper, operator_token })
}

impl Running {
    /// Starts a gateway on a data folder that was opened and provisioned.
    pub async fn start(options: GatewayOptions, opened: Opened) -> Result<Running, StartError> {
        Running::start_resolving(options, opened, Resolver::system()).await
    }

    /// The same, with somebody else saying where webhooks' names lead.
    pub async fn start_resolving(
        options: GatewayOptions,
        opened: Opened,
        resolver: Resolver,
    ) -> Result<Running, StartError> {
        let GatewayOptions { mut config, http, https, smpp, smpps, operations, clock } = options;
        let Opened { store, pepper, operator_token } = opened;
        let catalogue = provision::load_catalogue(&store).await?;
        let needs = Needs::of(&catalogue, https.is_some(), operations.is_some());
        open_files::fit(&mut config, needs, open_files::raise());
        let validity = config.messages.validity.into();
        let world = World::new(clock.clone(), store, pepper, catalogue, validity)
            .allowing_failed_sign_ins(config.http.failed_sign_ins)
            .limiting_body_memory(config.http.max_body_memory.0)
            .judging_webhooks_by(config.webhooks.rules());
        let world = Arc::new(world);
        let url_file = config.data.folder.join(OPERATOR_URL_FILE);
        let running = Running {
            url_file: url_file.clone(),
            http_addr: http.local_addr().map_err(StartError::Listener)?,
            https_addr: address_of(https.as_ref().map(|(listener, _)| listener))?,
            smpp_addr: address_of(smpp.as_ref())?,
            smpps_addr: address_of(smpps.as_ref().map(|(listener, _)| listener))?,
            certificates: [&https, &smpps].into_iter().flatten().map(|(_, tls)| tls.clone()).collect(),
            world: world.clone(),
            front: Workers::default(),
            links: Workers::default(),
            webhooks: Workers::default(),
            upkeep: Workers::default(),
        };
        running.keep_up(&config);
        carrier::supervise(&world, &running.links);
        carrier::serve_probes(&world, &running.links);
        let settings = webhooks::Settings::new(&config.webhooks).resolved_by(resolver);
        world.store.limit_webhook_waits(settings.longest_waits(), clock.now()).await?;
        webhooks::serve(world.clone(), settings, &running.webhooks);
        let operator_addr = match &operations {
            Some(listener) => listener.local_addr().map_err(StartError::Listener)?,
            None => running.http_addr,
        };
        running.listen(&config, http, https, operations, operator_token);
        running.listen_for_binds(&config, smpp, smpps)?;
        let url = format!("{}\n", operator_url(operator_addr));
        match keep_private(&config.data.folder, OPERATOR_URL_FILE, url.as_bytes()) {
            // A gateway on a full disk must start, to finish what it has and to give room back.
            Err(error) if error.kind() == std::io::ErrorKind::StorageFull => {
                tracing::warn!(path = %url_file.display(), "No room to write it; commands need --url until the next start");
            }
            written => written.map_err(|error| StartError::Secrets { path: url_file, error })?,
        }
        Ok(running)
    }

    pub fn http_addr(&self) -> SocketAddr {
        self.http_addr
    }

    pub fn https_addr(&self) -> Option<SocketAddr> {
        self.https_addr
    }

    /// Where customers bind without TLS.
    pub fn smpp_addr(&self) -> Option<SocketAddr> {
        self.smpp_addr
    }

    /// And with it.
    pub fn smpps_addr(&self) -> Option<SocketAddr> {
        self.smpps_addr
    }

    /// Reads the certificates again, changed or not. What comes of it stands in the log.
    pub fn reload(&self) {
        if self.certificates.is_empty() {
            tracing::info!(
                "Nothing to reload: there is no certificate without [https] listen or [smpp] tls_listen"
            );
        }
        for tls in &self.certificates {
            drop(tls.reload(self.world.clock.now()));
        }
        alarm_checks::look_at_certificates(&self.world, &self.certificates);
    }

    pub fn world(&self) -> &Arc<World> {
        &self.world
    }

    /// Stops in good order: no new messages, requests under way finished, answers of carriers waited for, the store's
    /// log emptied.
    pub async fn stop(self) -> Result<(), StoreError> {
        self.world.start_draining();
        // Whoever looks for a running gateway from here on finds none. Should the file stay, a call tells the same.
        let _ = std::fs::remove_file(&self.url_file);
        self.front.stop().await;
        self.links.stop().await;
        self.webhooks.stop().await;
        self.upkeep.stop().await;
        self.world.store.close().await
    }

    fn listen(
        &self,
        config: &Config,
        http: TcpListener,
        https: Option<(TcpListener, Arc<Tls>)>,
        operations: Option<TcpListener>,
        token: OperatorToken,
    ) {
        let started = self.world.clock.moment();
        let clock = self.world.clock.clone();
        let render: http_api::RenderMetrics =
            Arc::new(move || telemetry::figures().render(since(started, clock.moment())));
        let reach = if config.operator.from_anywhere { Reach::Anywhere } else { Reach::ThisMachine };
        let beside = operations.is_none().then(|| MetricsPage { render: render.clone(), reach });
        let networks = config.http.trusted_proxies.iter().map(|Network(network)| *network);
        let proxies = Arc::new(TrustedProxies::new(networks));
        let security = if config.http.allow_plain { Security::PlainForAll } else { Security::PlainNearby };
        let entrance = Entrance { listener: http, security, proxies: proxies.clone() };
        let desk =
            operator_api::Desk::new(self.world.clone(), token, self.front.clone()).of_a_running_gateway();
        let mut customers = http_api::router(self.world.clone(), beside);
        if operations.is_none() {
            let reached = desk.clone().reached_from(reach);
            customers = customers.merge(operator_api::router(reached));
        }
        let limits = Limits::of(&config.http, &config.https);
        self.serve("http", entrance, customers, limits);
        if let Some((listener, tls)) = https {
            let entrance = Entrance { listener, security: Security::Tls(tls), proxies };
            // The figures are not for the whole world.
            self.serve("https", entrance, http_api::router(self.world.clone(), None), limits);
        }
        if let Some(listener) = operations {
            let router = http_api::operations_router(self.world.clone(), render)
                .merge(operator_api::router(desk.reached_from(reach)));
            // The only secret that passes here is the operator's token, and that from nearby unless said otherwise.
            let entrance = Entrance { listener, security: Security::PlainForAll, proxies: Arc::default() };
            self.serve("operations", entrance, router, limits.capped(OPERATIONS_CONNECTIONS_MAX));
        }
    }

    fn listen_for_binds(
        &self,
        config: &Config,
        plain: Option<TcpListener>,
        sealed: Option<(TcpListener, Arc<Tls>)>,
    ) -> Result<(), StartError> {
        let settings = smpp::Settings::new(&config.smpp).map_err(StartError::Listener)?;
        let settings = Arc::new(settings);
        let plain = plain.map(|listener| smpp::Entrance { listener, tls: None });
        let sealed = sealed.map(|(listener, tls)| smpp::Entrance { listener, tls: Some(tls) });
        for (name, entrance) in [("smpp", plain), ("smpps", sealed)] {
            let Some(entrance) = entrance else { continue };
            let (world, settings, workers) = (self.world.clone(), settings.clone(), self.front.clone());
            self.front.spawn_named(name, smpp::serve(entrance, world, settings, workers));
        }
        Ok(())
    }

    fn serve(&self, name: &str, entrance: Entrance, router: axum::Router, limits: Limits) {
        let (clock, workers) = (self.world.clock.clone(), self.front.clone());
        self.front.spawn_named(name, async move {
            http::serve(entrance, router, clock, &workers, limits).await;
        });
    }

    /// The work that time brings.
    fn keep_up(&self, config: &Config) {
        self.repeat("upkeep/tick", TICK, |world| async move { world.store.tick(world.clock.now()).await });
        self.repeat("upkeep/look", LOOK, |world| async move {
            alarm_checks::look(&world);
            Ok(())
        });
        let certificates: Arc<[Arc<Tls>]> = self.certificates.clone().into();
        self.repeat("upkeep/slow-look", SLOW_LOOK, move |world| {
            alarm_checks::look_slowly(world, certificates.clone())
        });
        let fail_over = Arc::new(FailOver::default());
        self.repeat("upkeep/fail-over", LOOK_EVERY, move |world| {
            let fail_over = fail_over.clone();
            async move { fail_over.look(&world).await }
        });
        self.repeat("upkeep/sweep", SWEEP, |world| async move {
            let now = world.clock.now();
            // Neither may keep the other from being done.
            let (daily, swept) = (world.store.delete_expired(now).await, world.store.sweep(now).await);
            daily.and(swept.map(|_| ()))
        });
        self.repeat("upkeep/keys", MERGE_KEYS, |world| async move { world.store.merge_keys().await });
        let keep = purge::retention(&config.retention);
        self.repeat("upkeep/purge", Duration::ZERO, move |world| purge::purge(world, keep));
        self.repeat("upkeep/rematch", REMATCH, |world| async move {
            for (carrier, name, document) in world.catalogue().carriers() {
                let ids = document.profile.ids;
                let Rematched { tried, matched } =
                    world.store.rematch(*carrier, ids, world.clock.now()).await?;
                if matched > 0 {
                    tracing::info!(carrier = %name, tried, matched, "Parked receipts found their parts");
                }
            }
            Ok(())
        });
    }

    fn repeat<F>(&self, name: &str, every: Duration, work: impl Fn(Arc<World>) -> F + Send + 'static)
    where
        F: Future<Output = Result<(), StoreError>> + Send + 'static,
    {
        let (world, stopping) = (self.world.clone(), self.upkeep.stopping());
        let task = name.to_owned();
        self.upkeep.spawn_named(name, async move {
            loop {
                // Nothing here is lost when it is cut short: what a sweep did not reach, the next one does.
                let done = tokio::select! {
                    done = work(world.clone()) => done,
                    () = stopping.cancelled() => return,
                };
                if let Err(fault) = done {
                    tracing::error!(%fault, task, "Upkeep failed; it is tried again");
                }
                tokio::select! {
                    () = world.clock.sleep(every) => {}
                    () = stopping.cancelled() => return,
                }
            }
        });
    }
}

fn address_of(listener: Option<&TcpListener>) -> Result<Option<SocketAddr>, StartError> {
    listener.map(TcpListener::local_addr).transpose().map_err(StartError::Listener)
}

/// Where the operator API can be called from this machine.
fn operator_url(address: SocketAddr) -> String {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    format!("http://{}{}", SocketAddr::new(ip, address.port()), operator_api::BASE)
}

fn since(earlier: Moment, now: Moment) -> Duration {
    Duration::from_millis(now.0.saturating_sub(earlier.0))
}
