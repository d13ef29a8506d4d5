//! The HTTP listeners: which routers each of them serves, and the addresses under which they are reached.

use super::Running;
use crate::app::LastAccountMetrics;
use crate::config::{Config, IpNetwork};
use crate::edges::http_api::{self, MetricsPage, RenderMetrics};
use crate::gateway::Gateway;
use crate::http::{self, HttpLimits, HttpListener, Reach, Security, TrustedProxies};
use crate::open_files::OPERATIONS_CONNECTIONS_MAX;
use crate::secrets::operator_token::OperatorToken;
use crate::telemetry;
use crate::tls::Tls;
use crate::workers::Workers;
use axum::Router;
use futures_util::future::BoxFuture;
use serde_json::Value;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;

/// Makes the router of web pages for a listener. Pages know the gateway, and the gateway does not know them.
pub type MakePages = Arc<dyn Fn(PagesSetup) -> Router + Send + Sync>;

/// What web pages work on.
#[derive(Clone)]
pub struct PagesSetup {
    pub gateway: Arc<Gateway>,
    /// Runs each change to its end even if the browser disconnects.
    pub workers: Workers,
    /// The address of the pages in the settings; none if requests for any host are answered.
    pub url: Option<String>,
    /// Whether the connections of this listener are encrypted.
    pub is_tls: bool,
    /// How long the texts of messages are kept.
    pub texts_kept: Duration,
}

/// What operators do with a running gateway. It knows the gateway, and the gateway does not know it.
#[derive(Clone, Copy)]
pub struct OperatorSide {
    /// The prefix of every path of its API.
    pub base: &'static str,
    pub router: fn(OperatorSetup) -> Router,
    /// Answers a query of an operator at another node; none if that fails: the other one then says that this node did not answer.
    pub answer: fn(Arc<Gateway>, Value) -> BoxFuture<'static, Option<Value>>,
}

/// What the operator API works on.
pub struct OperatorSetup {
    pub gateway: Arc<Gateway>,
    pub token: OperatorToken,
    /// Runs each request to its end even if the caller disconnects.
    pub workers: Workers,
    /// From where it may be called.
    pub reach: Reach,
}

/// The sockets of the HTTP listeners.
pub(super) struct HttpSockets {
    pub(super) http: TcpListener,
    pub(super) https: Option<(TcpListener, Arc<Tls>)>,
    pub(super) operations: Option<(TcpListener, Option<Arc<Tls>>)>,
}

impl Running {
    pub(super) fn serve_http(
        &self,
        config: &Config,
        HttpSockets { http, https, operations }: HttpSockets,
        operator: Option<Router>,
        pages: Option<&MakePages>,
    ) {
        // At the address of the customers, names and balances are for this machine only.
        let is_private = operations.is_some() || !config.operator.from_anywhere;
        let render = self.render_metrics(config.operations.account_metrics && is_private);
        let reach = operator_reach(config);
        let beside = operations.is_none().then(|| MetricsPage { render: render.clone(), reach });
        let proxies = trusted(&config.http.trusted_proxies);
        let proxy_protocol_from = trusted(&config.http.proxy_protocol_from);
        let security = if config.http.allow_plain { Security::PlainForAll } else { Security::PlainNearby };
        let listener = HttpListener {
            socket: http,
            security,
            proxies: proxies.clone(),
            proxy_protocol_from: proxy_protocol_from.clone(),
        };
        let pages = |is_tls| {
            let texts_kept = config.retention.text.0;
            let setup = PagesSetup {
                gateway: self.gateway.clone(),
                workers: self.front.clone(),
                url: config.portal.url.clone(),
                is_tls,
                texts_kept,
            };
            pages.filter(|_| config.portal.enabled).map(|make| make(setup))
        };
        let mut customers = http_api::router(self.gateway.clone(), beside, pages(false));
        let operator = operator.unwrap_or_default();
        if operations.is_none() {
            customers = customers.merge(operator.clone());
        }
        let limits = HttpLimits::of(&config.http, &config.https);
        self.serve("http", listener, customers, limits);
        if let Some((socket, tls)) = https {
            let listener =
                HttpListener { socket, security: Security::Tls(tls), proxies, proxy_protocol_from };
            // No metrics on the public listener.
            self.serve("https", listener, http_api::router(self.gateway.clone(), None, pages(true)), limits);
        }
        if let Some((socket, tls)) = operations {
            let router = http_api::operations_router(self.gateway.clone(), render).merge(operator);
            // Only operators' tokens pass here, and only from this machine unless `allow` or `from_anywhere` is set.
            let listener = HttpListener {
                socket,
                security: tls.map_or(Security::PlainForAll, Security::Tls),
                proxies: Arc::default(),
                proxy_protocol_from: Arc::default(),
            };
            self.serve("operations", listener, router, limits.capped(OPERATIONS_CONNECTIONS_MAX));
        }
    }

    /// Returns what renders the metrics, with those of accounts or without.
    fn render_metrics(&self, with_accounts: bool) -> RenderMetrics {
        let (gateway, started) = (self.gateway.clone(), self.gateway.clock.moment());
        let accounts = Arc::new(LastAccountMetrics::default());
        Arc::new(move || {
            let (gateway, accounts) = (gateway.clone(), accounts.clone());
            Box::pin(async move {
                let mut text = telemetry::figures().render(gateway.clock.moment().since(started));
                if with_accounts {
                    text.push_str(&accounts.text(&gateway).await);
                }
                text
            })
        })
    }

    fn serve(&self, name: &str, listener: HttpListener, router: Router, limits: HttpLimits) {
        let (clock, workers) = (self.gateway.clock.clone(), self.front.clone());
        self.front.spawn_named(name, async move {
            http::serve(listener, router, clock, &workers, limits).await;
        });
    }
}

/// Returns from where the operator API and the metrics may be read.
pub(super) fn operator_reach(config: &Config) -> Reach {
    let allow = &config.operations.allow;
    if !allow.is_empty() {
        return Reach::Listed(allow.iter().map(|IpNetwork(network)| *network).collect());
    }
    if config.operator.from_anywhere { Reach::Anywhere } else { Reach::ThisMachine }
}

fn trusted(networks: &[IpNetwork]) -> Arc<TrustedProxies> {
    Arc::new(TrustedProxies::new(networks.iter().map(|IpNetwork(network)| *network)))
}

/// Returns the address of the web pages: the configured one, or that of a listener.
pub fn portal_url(config: &Config, http: SocketAddr, https: Option<SocketAddr>) -> String {
    match (&config.portal.url, https) {
        (Some(url), _) => url.clone(),
        (None, Some(https)) => format!("https://{}", reachable(https)),
        (None, None) => format!("http://{}", reachable(http)),
    }
}

/// Returns the address under which this machine reaches a listener.
pub(super) fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}
