//! Starts and stops a gateway: assembles all components in order. The caller binds the listeners and owns the clock,
//! so that tests can use free ports and move the time.

mod alarm_checks;
mod alarm_notifier;
mod balance_warnings;
mod clock_check;
mod http_listeners;
mod nodes;
mod opening;
mod operator_url;
mod purge;

pub use http_listeners::{MakePages, OperatorSetup, OperatorSide, PagesSetup, portal_url};
pub use opening::{Opened, open, open_unclaimed};
pub use operator_url::OPERATOR_URL_FILE;

use alarm_notifier::AlarmNotifier;
use http_listeners::{HttpSockets, operator_reach, reachable};
use operator_url::OperatorUrl;

use crate::app::{
    FailOver, LOOK_EVERY, check_losses, check_low_credit, check_rejections_for_credit, read_delivery_rates,
};
use crate::clock::{Clock, within};
use crate::config::{Config, ShutdownSection};
use crate::edges::{alarm_command, carrier, mail, smpp, webhooks};
use crate::gateway::{Gateway, LoadCatalogueError, SmppServer, load_catalogue};
use crate::http::body_memory::BodyMemory;
use crate::http::http2;
use crate::live_status::MailQueue;
use crate::node_messages;
use crate::open_files::{self, Needs};
use crate::secrets::{PepperError, SecretSource};
use crate::tls::Tls;
use crate::workers::Workers;
use hermod_store::Rematched;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;

/// Resolves the host names of webhooks.
pub use crate::edges::webhooks::Resolver;

/// For commands on a data folder.
pub use hermod_domain::audit::AuditKey;
pub use hermod_store::{
    AUDIT_HEAD_FILE, AuditProof, AuditReport, CopyReport, CopyStep, ERASURES_FILE, FolderHolder,
    MigrationKind, MigrationStep, RecordAudit, Salvage, SchemaStatus, Server, Store, StoreError, Violation,
};

/// How often due parts are released.
const TICK: Duration = Duration::from_millis(200);
/// How often the machine's clock and the disk are checked and histograms are folded.
const LOOK: Duration = Duration::from_secs(1);
/// How often certificate files and review cases are checked.
const SLOW_LOOK: Duration = Duration::from_secs(5);
/// How often nodes tell each other what was taken from limits that they share.
const SHARE_LIMITS: Duration = Duration::from_millis(100);
/// How often expired messages are searched.
const SWEEP: Duration = Duration::from_secs(60);
/// How often idempotency keys are merged.
const MERGE_KEYS: Duration = Duration::from_secs(5);
/// How often parked receipts are matched again: the operator may have corrected a carrier's id conversion.
const REMATCH: Duration = Duration::from_secs(300);

/// The copy of the database that `hermod audit` reads beside a running gateway.
pub const AUDIT_COPY_FOLDER: &str = "audit-copy";

/// The ALPN protocols of the HTTPS listener, preferred first.
pub const HTTPS_PROTOCOLS: [&str; 2] = [http2::ALPN, "http/1.1"];

/// The parameters of a gateway.
pub struct GatewayOptions {
    pub config: Config,
    pub http: TcpListener,
    /// The HTTPS listener and its certificate, if any.
    pub https: Option<(TcpListener, Arc<Tls>)>,
    /// The plain SMPP listener, if any.
    pub smpp: Option<TcpListener>,
    /// The SMPP listener with TLS and its certificate, if any.
    pub smpps: Option<(TcpListener, Arc<Tls>)>,
    /// A separate listener for health, metrics and the operator API, if any, and its certificate, if it has one.
    pub operations: Option<(TcpListener, Option<Arc<Tls>>)>,
    /// The operator API and the answers to operators at other nodes, if any.
    pub operator: Option<OperatorSide>,
    /// Web pages beside the API, if any.
    pub pages: Option<MakePages>,
    pub clock: Clock,
}

/// Why a gateway did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{path}: {error}")]
    Secrets { path: PathBuf, error: std::io::Error },
    #[error("{place}: {error}")]
    Token { place: SecretSource, error: std::io::Error },
    #[error(transparent)]
    Pepper(#[from] PepperError),
    #[error(transparent)]
    Catalogue(#[from] LoadCatalogueError),
    #[error("cannot listen for other nodes on {address}: {error}; check [node] listen")]
    NodeListener { address: SocketAddr, error: std::io::Error },
    #[error("[alarms.notify] webhook cannot be signed: {0}")]
    AlarmSecret(String),
    #[error("a listener has no address: {0}")]
    Listener(std::io::Error),
    #[error(transparent)]
    Clock(#[from] clock_check::ClockOutOfRange),
}

/// Sets the limits and rules of the settings.
fn limited(mut gateway: Gateway, config: &Config) -> Gateway {
    gateway.limits.allow_failed_sign_ins(config.http.failed_sign_ins);
    gateway.body_memory = BodyMemory::new(config.http.max_body_memory.0);
    gateway.webhook_rules = config.webhooks.rules();
    gateway
}

/// A running gateway. It runs until [`Running::stop`]; dropping it does not stop it.
pub struct Running {
    /// The file with the URL of the operator API, if it has one.
    operator_url: Option<Arc<OperatorUrl>>,
    http_addr: SocketAddr,
    https_addr: Option<SocketAddr>,
    smpp_addr: Option<SocketAddr>,
    smpps_addr: Option<SocketAddr>,
    /// Every certificate in use.
    certificates: Vec<Arc<Tls>>,
    gateway: Arc<Gateway>,
    shutdown: ShutdownSection,
    /// Groups of tasks, in the order of stopping.
    front: Workers,
    links: Workers,
    webhooks: Workers,
    upkeep: Workers,
}

impl Running {
    /// Starts a gateway on a data folder that was opened and provisioned.
    pub async fn start(options: GatewayOptions, opened: Opened) -> Result<Running, StartError> {
        Running::start_resolving(options, opened, Resolver::system()).await
    }

    /// Starts a gateway with another resolver for webhooks.
    pub async fn start_resolving(
        options: GatewayOptions,
        opened: Opened,
        resolver: Resolver,
    ) -> Result<Running, StartError> {
        let GatewayOptions { mut config, http, https, smpp, smpps, operations, operator, pages, clock } =
            options;
        let Opened { store, pepper, operator_token } = opened;
        let catalogue = load_catalogue(&store).await?;
        let needs = Needs::of(&catalogue, https.is_some(), operations.is_some());
        open_files::fit(&mut config, needs, open_files::raise());
        let validity = config.messages.validity.into();
        let http_addr = http.local_addr().map_err(StartError::Listener)?;
        let https_addr = address_of(https.as_ref().map(|(listener, _)| listener))?;
        let smpp_addr = address_of(smpp.as_ref())?;
        let smpps_addr = address_of(smpps.as_ref().map(|(listener, _)| listener))?;
        let mut gateway = Gateway::new(clock.clone(), store, pepper, catalogue, validity);
        gateway.portal_url = portal_url(&config, http_addr, https_addr);
        gateway.smpp_server = smpp_server(&config, smpp_addr, smpps_addr);
        let mail = mail::MailSettings::new(&config.mail);
        if mail.is_some() {
            gateway.mail = MailQueue::open();
        }
        let gateway = Arc::new(limited(gateway, &config));
        let certificates = [&https, &smpps].into_iter().flatten();
        let operations_tls = operations.as_ref().and_then(|(_, tls)| tls.clone());
        let operator_addr =
            address_of(operations.as_ref().map(|(listener, _)| listener))?.unwrap_or(http_addr);
        let operator_url = operator.map(|operator| {
            let tls = operations_tls.clone();
            OperatorUrl::new(&config.data.folder, reachable(operator_addr), operator.base, tls).into()
        });
        let running = Running {
            operator_url,
            http_addr,
            https_addr,
            smpp_addr,
            smpps_addr,
            certificates: certificates.map(|(_, tls)| tls.clone()).chain(operations_tls).collect(),
            gateway: gateway.clone(),
            shutdown: config.shutdown,
            front: Workers::default(),
            links: Workers::default(),
            webhooks: Workers::default(),
            upkeep: Workers::default(),
        };
        gateway.read_hold().await?;
        running.start_periodic_tasks(&config, operator);
        carrier::supervise(&gateway, &running.links);
        carrier::serve_probes(&gateway, &running.links);
        let alarm_resolver = resolver.clone();
        let settings = webhooks::WebhookSettings::new(&config.webhooks).resolved_by(resolver);
        gateway.store.webhooks().limit_waits(settings.longest_waits(), clock.now()).await?;
        webhooks::serve(gateway.clone(), settings, &running.webhooks);
        running.start_notifying(&config, alarm_resolver)?;
        if let Some(mail) = mail {
            mail::serve(gateway.clone(), mail, &running.webhooks);
        }
        let sockets = HttpSockets { http, https, operations };
        let operator_api = operator.map(|operator| {
            (operator.router)(OperatorSetup {
                gateway,
                token: operator_token,
                workers: running.front.clone(),
                reach: operator_reach(&config),
            })
        });
        running.serve_http(&config, sockets, operator_api, pages.as_ref());
        running.serve_smpp(&config, smpp, smpps)?;
        running.write_operator_url()?;
        Ok(running)
    }

    /// Writes the file with the URL of the operator API, if it has one.
    fn write_operator_url(&self) -> Result<(), StartError> {
        let Some(url) = &self.operator_url else { return Ok(()) };
        match url.write() {
            // A gateway on a full disk must start, to finish its messages and purge.
            Err(error) if error.kind() != std::io::ErrorKind::StorageFull => {
                Err(StartError::Secrets { path: url.path(), error })
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    pub fn http_addr(&self) -> SocketAddr {
        self.http_addr
    }

    pub fn https_addr(&self) -> Option<SocketAddr> {
        self.https_addr
    }

    /// Returns the address of the plain SMPP listener.
    pub fn smpp_addr(&self) -> Option<SocketAddr> {
        self.smpp_addr
    }

    /// Returns the address of the SMPP listener with TLS.
    pub fn smpps_addr(&self) -> Option<SocketAddr> {
        self.smpps_addr
    }

    /// Reloads the certificates, changed or not, and logs the result.
    pub fn reload(&self) {
        if self.certificates.is_empty() {
            tracing::info!(
                "Nothing to reload: there is no certificate without [https] listen, [smpp] tls_listen or [operations] certificate"
            );
        }
        for tls in &self.certificates {
            drop(tls.reload(self.gateway.clock.now()));
        }
        alarm_checks::check_certificates(&self.gateway, &self.certificates, self.operator_url.as_deref());
    }

    pub fn gateway(&self) -> &Arc<Gateway> {
        &self.gateway
    }

    /// Stops the gateway so that customers notice nothing: first a load balancer learns that it is not ready, then it takes
    /// no new connections, unbinds, and closes connections after their responses. What was read is finished. Then it waits
    /// for carriers' responses, and closes the store last: another node takes the engine over.
    pub async fn stop(self) -> Result<(), StoreError> {
        let ShutdownSection { announce, linger } = self.shutdown;
        self.gateway.announce_stop();
        let _ = within(announce.into(), std::future::pending::<()>()).await;
        // Commands find no running gateway from here on. If the file stays, their connection fails.
        let _ = self.operator_url.as_ref().map(|url| std::fs::remove_file(url.path()));
        self.front.leave_within(linger.into()).await;
        self.front.stop().await;
        // Only now: what a bind or connection had sent until then is accepted.
        self.gateway.start_draining();
        self.links.stop().await;
        self.webhooks.stop().await;
        node_messages::announce(&self.gateway);
        self.upkeep.stop().await;
        self.gateway.store.close().await
    }

    fn serve_smpp(
        &self,
        config: &Config,
        plain: Option<TcpListener>,
        sealed: Option<(TcpListener, Arc<Tls>)>,
    ) -> Result<(), StartError> {
        let settings = smpp::SmppSettings::new(&config.smpp).map_err(StartError::Listener)?;
        let settings = Arc::new(settings);
        let plain = plain.map(|socket| smpp::SmppListener { socket, tls: None });
        let sealed = sealed.map(|(socket, tls)| smpp::SmppListener { socket, tls: Some(tls) });
        for (name, listener) in [("smpp", plain), ("smpps", sealed)] {
            let Some(listener) = listener else { continue };
            let (gateway, settings, workers) = (self.gateway.clone(), settings.clone(), self.front.clone());
            self.front.spawn_named(name, smpp::serve(listener, gateway, settings, workers));
        }
        Ok(())
    }

    /// Starts the periodic tasks.
    fn start_periodic_tasks(&self, config: &Config, operator: Option<OperatorSide>) {
        self.repeat_at_engine("upkeep/tick", TICK, |gateway| async move {
            gateway.store.tick(gateway.clock.now()).await
        });
        self.repeat("upkeep/look", LOOK, |gateway| async move {
            alarm_checks::run_checks(&gateway);
            nodes::exchange_notices(&gateway);
            Ok(())
        });
        if let Some(envelopes) = self.gateway.store.cluster().envelopes() {
            let receiving =
                nodes::receive_messages(self.gateway.clone(), operator, envelopes, self.upkeep.stopping());
            self.upkeep.spawn_named("upkeep/node-messages", receiving);
            self.repeat("upkeep/limits", SHARE_LIMITS, |gateway| async move {
                node_messages::share_limits(&gateway);
                Ok(())
            });
            self.repeat("upkeep/announcements", LOOK, |gateway| async move {
                node_messages::announce(&gateway);
                Ok(())
            });
        }
        let following = nodes::follow_catalogue(self.gateway.clone(), self.upkeep.stopping());
        self.upkeep.spawn_named("upkeep/catalogue", following);
        let certificates: Arc<[Arc<Tls>]> = self.certificates.clone().into();
        let operator_url = self.operator_url.clone();
        self.repeat("upkeep/slow-look", SLOW_LOOK, move |gateway| {
            alarm_checks::run_slow_checks(gateway, certificates.clone(), operator_url.clone())
        });
        let fail_over = Arc::new(FailOver::default());
        self.repeat_at_engine("upkeep/fail-over", LOOK_EVERY, move |gateway| {
            let fail_over = fail_over.clone();
            async move { fail_over.look(&gateway).await }
        });
        self.repeat_at_engine("upkeep/sweep", SWEEP, sweep);
        let warnings = Arc::new(balance_warnings::BalanceWarnings::read(&config.data.folder));
        self.repeat_at_engine("upkeep/balance-warnings", SWEEP, move |gateway| {
            let warnings = warnings.clone();
            async move { warnings.check(&gateway).await }
        });
        self.start_money_checks();
        self.repeat_at_engine("upkeep/keys", MERGE_KEYS, |gateway| async move {
            gateway.store.merge_keys().await
        });
        let keep = purge::retention(&config.retention);
        self.repeat_at_engine("upkeep/purge", Duration::ZERO, move |gateway| purge::purge(gateway, keep));
        self.repeat("upkeep/erasures", SWEEP, |gateway| async move {
            gateway.store.erasures().replay(gateway.clock.now()).await.map(drop)
        });
        self.repeat("upkeep/split-messages", SWEEP, |gateway| async move {
            gateway.split_messages.lock().drop_expired(gateway.clock.now());
            Ok(())
        });
        self.repeat("upkeep/purge-record", purge::PURGE, move |gateway| purge::purge_record(gateway, keep));
        self.repeat_at_engine("upkeep/rematch", REMATCH, |gateway| async move {
            for (carrier, name, document) in gateway.catalogue().carriers() {
                let ids = document.profile.ids;
                let Rematched { tried, matched } =
                    gateway.store.receipts().rematch(*carrier, ids, gateway.clock.now()).await?;
                if matched > 0 {
                    tracing::info!(carrier = %name, tried, matched, "Matched parked receipts to their parts");
                }
            }
            Ok(())
        });
    }

    /// Raises alarms about customers' credit and about losses, and reads the delivery rates by which routes choose.
    fn start_money_checks(&self) {
        self.repeat_at_engine("upkeep/low-credit", SWEEP, |gateway| async move {
            check_low_credit(&gateway).await
        });
        self.repeat("upkeep/credit-rejections", SLOW_LOOK, |gateway| async move {
            check_rejections_for_credit(&gateway).await
        });
        self.repeat("upkeep/losses", SLOW_LOOK, |gateway| async move {
            check_losses(&gateway);
            Ok(())
        });
        self.repeat(
            "upkeep/delivery-rates",
            SWEEP,
            |gateway| async move { read_delivery_rates(&gateway).await },
        );
    }

    /// Tells the operator about alarms, if the settings say how.
    fn start_notifying(&self, config: &Config, resolver: Resolver) -> Result<(), StartError> {
        let notify = &config.alarms.notify;
        if !notify.is_wanted() {
            return Ok(());
        }
        let mut notifier = AlarmNotifier::new(notify);
        if let Some(webhook) = webhooks::AlarmWebhook::new(notify, &config.webhooks, resolver) {
            webhook.secret().map_err(StartError::AlarmSecret)?;
            webhooks::serve_alarms(&self.gateway, webhook, notifier.add_channel("webhook"), &self.webhooks);
        }
        if !notify.command.is_empty() {
            let notifications = notifier.add_channel("command");
            alarm_command::serve(&self.gateway, notify.command.clone(), notifications, &self.webhooks);
        }
        let notifier = Arc::new(notifier);
        self.repeat("upkeep/alarm-notifications", LOOK, move |gateway| {
            let notifier = notifier.clone();
            async move {
                notifier.look(&gateway);
                Ok(())
            }
        });
        Ok(())
    }

    /// Repeats work that only the node with the engine does.
    fn repeat_at_engine<F>(
        &self,
        name: &str,
        every: Duration,
        work: impl Fn(Arc<Gateway>) -> F + Send + 'static,
    ) where
        F: Future<Output = Result<(), StoreError>> + Send + 'static,
    {
        // Work without a pause of its own must not be looked at all the time.
        let pause = every.max(LOOK);
        self.repeat(name, every, move |gateway| {
            let work = gateway.store.runs_engine().then(|| work(gateway.clone()));
            async move {
                match work {
                    Some(work) => work.await,
                    None => {
                        gateway.clock.sleep(pause).await;
                        Ok(())
                    }
                }
            }
        });
    }

    fn repeat<F>(&self, name: &str, every: Duration, work: impl Fn(Arc<Gateway>) -> F + Send + 'static)
    where
        F: Future<Output = Result<(), StoreError>> + Send + 'static,
    {
        let (gateway, stopping) = (self.gateway.clone(), self.upkeep.stopping());
        let task = name.to_owned();
        self.upkeep.spawn_named(name, async move {
            loop {
                // Safe to cancel: the next run continues.
                let done = tokio::select! {
                    done = work(gateway.clone()) => done,
                    () = stopping.cancelled() => return,
                };
                if let Err(fault) = done {
                    tracing::error!(%fault, task, "Periodic task failed; retrying");
                }
                tokio::select! {
                    () = gateway.clock.sleep(every) => {}
                    () = stopping.cancelled() => return,
                }
            }
        });
    }
}

/// Deletes what has expired, and ends messages that are past their validity.
async fn sweep(gateway: Arc<Gateway>) -> Result<(), StoreError> {
    let now = gateway.clock.now();
    let daily = gateway.store.delete_expired(now).await;
    if gateway.is_held() {
        // What waits stays as the operator sees it, also if its validity ends meanwhile.
        return daily;
    }
    // A failure of one must not prevent the other.
    let swept = gateway.store.sweep(now).await;
    daily.and(swept.map(|_| ()))
}

/// Returns how customers reach the SMPP server.
fn smpp_server(config: &Config, plain: Option<SocketAddr>, tls: Option<SocketAddr>) -> SmppServer {
    SmppServer {
        plain_port: plain.map(|address| address.port()),
        tls_port: tls.map(|address| address.port()),
        idle_timeout: config.smpp.idle_timeout.into(),
    }
}

fn address_of(listener: Option<&TcpListener>) -> Result<Option<SocketAddr>, StartError> {
    listener.map(TcpListener::local_addr).transpose().map_err(StartError::Listener)
}
