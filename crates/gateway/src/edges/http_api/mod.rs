//! The customers' HTTP API, and the health and metrics pages. The server in `http/` serves the connection,
//! `handle_request` checks each request, and each operation has its own file.
//!
//! An error response always has the form `{"error": "CODE: sentence"}` and means that nothing was stored or charged.

mod balance;
mod body;
mod credentials;
pub mod document;
#[cfg(test)]
mod fuzz_tests;
mod handle_request;
mod headers;
mod inbound;
mod monitoring_pages;
mod paths;
mod query;
mod request_metrics;
mod responses;
mod send_request;
mod sms;

pub use monitoring_pages::{MetricsPage, RenderMetrics};

use crate::gateway::Gateway;
use crate::http::Reach;
use axum::Router;
use axum::extract::{Request, State};
use axum::routing::any;
use handle_request::{Edge, answer};
use paths::ApiRoute;
use std::sync::Arc;

/// The health and metrics pages.
const OPERATIONS: [ApiRoute; 3] = [ApiRoute::Healthz, ApiRoute::Readyz, ApiRoute::Metrics];

/// Returns the router of the customer API, with the health and metrics pages on the same listener if `metrics` is
/// given, and beside web pages if `pages` are given. They have the paths `/` and `/docs`; unknown paths get the error of the
/// API.
pub fn router(gateway: Arc<Gateway>, metrics: Option<MetricsPage>, pages: Option<Router>) -> Router {
    let mut routes =
        vec![ApiRoute::Sms, ApiRoute::SmsById, ApiRoute::Inbound, ApiRoute::Balance, ApiRoute::Document];
    if pages.is_none() {
        routes.extend([ApiRoute::Home, ApiRoute::DocumentPage]);
    }
    if metrics.is_some() {
        routes.extend(OPERATIONS);
    }
    let api = of_routes(&routes, Edge::new(gateway, metrics));
    pages.map_or_else(|| api.clone(), |pages| api.clone().merge(pages))
}

/// Returns the router of the health and metrics pages alone, for a separate listener. Any client of it may read the
/// metrics.
pub fn operations_router(gateway: Arc<Gateway>, render: RenderMetrics) -> Router {
    of_routes(&OPERATIONS, Edge::new(gateway, Some(MetricsPage { render, reach: Reach::Anywhere })))
}

fn of_routes(routes: &[ApiRoute], edge: Edge) -> Router {
    let mut router = Router::new();
    for route in routes {
        // `handle` checks the method, so that its error has the same form. No layers: each would box the future of every
        // request once more.
        let route = *route;
        router = router.route(
            route.template(),
            any(move |State(edge): State<Arc<Edge>>, request: Request| answer(edge, route, request)),
        );
    }
    let unknown = |State(edge): State<Arc<Edge>>, request: Request| answer(edge, ApiRoute::Unknown, request);
    router.fallback(unknown).with_state(Arc::new(edge))
}
