//! The pages for monitoring: `/healthz`, `/readyz` and `/metrics`. They need no credentials. Only the metrics contain something about
//! customers, unless `[operations] account_metrics` is off.

use crate::gateway::Gateway;
use crate::listeners::Reach;
use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use futures_util::future::BoxFuture;
use std::sync::Arc;

/// Renders all metrics in the Prometheus text format.
pub type RenderMetrics = Arc<dyn Fn() -> BoxFuture<'static, String> + Send + Sync>;

/// The metrics page.
#[derive(Clone)]
pub struct MetricsPage {
    pub render: RenderMetrics,
    /// Who may read it.
    pub reach: Reach,
}

/// Liveness: always 200.
pub(super) fn healthz() -> Response {
    plain(StatusCode::OK, "alive\n".into(), "text/plain; charset=utf-8")
}

/// Readiness for a load balancer. A carrier that is down does not count: messages wait for it.
pub(super) fn readyz(gateway: &Gateway) -> Response {
    let (status, reason) = if gateway.is_stop_announced() {
        (StatusCode::SERVICE_UNAVAILABLE, "draining: the gateway is shutting down\n")
    } else if !gateway.store.is_accepting() {
        (StatusCode::SERVICE_UNAVAILABLE, "disk low: the store accepts no messages until space returns\n")
    } else if !gateway.store.can_serve() {
        (StatusCode::SERVICE_UNAVAILABLE, "no engine: this node reaches no node that stores messages\n")
    } else if gateway.is_closed_by_hold() {
        (StatusCode::SERVICE_UNAVAILABLE, "held: the operator has not released the gateway after a restore\n")
    } else if gateway.is_held() {
        (StatusCode::OK, "ready, but held: messages are accepted and not sent\n")
    } else {
        (StatusCode::OK, "ready\n")
    };
    plain(status, reason.into(), "text/plain; charset=utf-8")
}

pub(super) async fn metrics(page: Option<&MetricsPage>) -> Response {
    let text = match page {
        Some(page) => (page.render)().await,
        None => String::new(),
    };
    plain(StatusCode::OK, text.into(), "text/plain; version=0.0.4; charset=utf-8")
}

fn plain(status: StatusCode, body: Body, content_type: &'static str) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}
