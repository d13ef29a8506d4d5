//! The HTTP API of the customers, and the pages a machine asks whether this node is well. Every request takes the same
//! way: the server in `http/` carries its connection, `answer` judges it, and what it asks for is one file each.
//!
//! An error answer always has the form `{"error": "CODE: sentence"}` and means: nothing was stored, nothing charged.

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
mod rate;
mod request_metrics;
mod responses;
mod send_request;
mod sms;

pub use monitoring_pages::{MetricsPage, RenderMetrics};

use crate::http::Reach;
use crate::world::World;
use axum::Router;
use axum::extract::{Request, State};
use axum::routing::any;
use handle_request::{Edge, answer};
use paths::Route;
use std::sync::Arc;

/// The pages for machines.
const OPERATIONS: [Route; 3] = [Route::Healthz, Route::Readyz, Route::Metrics];

/// What customers may ask, and beside it, on the same listener, the operations pages if there is something to render
/// as metrics.
pub fn router(world: Arc<World>, metrics: Option<MetricsPage>) -> Router {
    let mut routes = vec![
        Route::Sms,
        Route::SmsById,
        Route::Inbound,
        Route::Balance,
        Route::Home,
        Route::Document,
        Route::DocumentPage,
    ];
    if metrics.is_some() {
        routes.extend(OPERATIONS);
    }
    of_routes(&routes, Edge::new(world, metrics))
}

/// The operations pages alone, for a listener that customers do not reach. Whoever reaches it may read the metrics.
pub fn operations_router(world: Arc<World>, render: RenderMetrics) -> Router {
    of_routes(&OPERATIONS, Edge::new(world, Some(MetricsPage { render, reach: Reach::Anywhere })))
}

fn of_routes(routes: &[Route], edge: Edge) -> Router {
    let mut router = Router::new();
    for route in routes {
        // Methods are judged where everything else is, so that a wrong one gets the same kind of answer. There are no
        // layers: each would box the future of every request once more.
        let route = *route;
        router = router.route(
            route.template(),
            any(move |State(edge): State<Arc<Edge>>, request: Request| answer(edge, route, request)),
        );
    }
    let unknown = |State(edge): State<Arc<Edge>>, request: Request| answer(edge, Route::Unknown, request);
    router.fallback(unknown).with_state(Arc::new(edge))
}
