//! The HTTP API of the customers, and the pages a machine asks whether this node is well. Every request takes the same
//! way: [`serve()`] carries its connection, `answer` judges it, and what it asks for is one file each.
//!
//! An error answer always has the form `{"error": "CODE: sentence"}` and means: nothing was stored, nothing charged.

mod answer;
mod balance;
mod body;
mod credentials;
pub mod document;
mod entrance;
mod errors;
mod headers;
mod inbound;
mod meters;
#[cfg(test)]
mod mutator_tests;
mod operations;
mod patience;
mod peer;
mod query;
mod rate;
mod raw_heads;
mod route;
mod send_request;
mod serve;
mod sms;
mod watched;

pub use crate::arrivals::{Reach, TrustedProxies};
pub use entrance::{Entrance, Security};
pub use operations::{MetricsPage, RenderMetrics};
pub use serve::{Limits, serve};

use crate::arrivals::Source;
use crate::world::World;
use answer::{Edge, answer};
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{Extensions, HeaderMap};
use axum::routing::any;
use patience::Carried;
use route::Route;
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

/// Where a request came from that [`serve()`] carried, for edges that share its listeners. Where a trusted proxy names
/// the caller unreadably, the proxy.
pub fn source_of(extensions: &Extensions, headers: &HeaderMap) -> Option<Source> {
    let Carried { peer, proxies, .. } = extensions.get()?;
    let address = peer::of(*peer, proxies, headers).unwrap_or(*peer);
    Some(Source { address, is_forwarded: peer::is_forwarded(headers) })
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
