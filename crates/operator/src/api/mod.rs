//! The operator API: provisioning, money, the record of messages, reviews, carriers, binds and webhooks, for callers with the operator's token.
//!
//! Each route is declared once with [`routes::Routes`] and names its [use case](use_case): the router and the OpenAPI document
//! are made from the same declaration. Requests and responses are the types of [`crate::views`]. An error response has the form of
//! the customer API, `{"error": "CODE: sentence"}`, and means that nothing was changed.

mod body;
mod customer_requests;
pub mod document;
mod entries;
mod entry_schemas;
mod guard;
mod lookup;
mod maintenance;
mod messages;
mod money;
mod record;
mod response;
mod routes;
mod sessions;
mod use_case;
mod users;
mod webhooks;

pub use hermod_gateway::http::{Reach, Source};

use crate::use_cases::{OperatorRefusal, answer_query};
use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::response::IntoResponse;
use axum::routing::get;
use hermod_gateway::gateway::Gateway;
use hermod_gateway::running::{OperatorSetup, OperatorSide};
use hermod_gateway::secrets::operator_token::OperatorToken;
use hermod_gateway::workers::Workers;
use routes::Routes;
use std::sync::Arc;

/// The prefix of every path of the API.
pub const BASE: &str = "/operator/v1";

/// The operator's side of a running gateway.
pub const OPERATOR_SIDE: OperatorSide = OperatorSide {
    base: BASE,
    router: |OperatorSetup { gateway, token, workers, reach }| {
        OperatorApi::new(gateway, token, workers).of_running_gateway().reachable_from(reach).router()
    },
    answer: |gateway, query| Box::pin(async move { answer_query(&gateway, query).await }),
};

/// What the routes share.
#[derive(Clone)]
pub struct OperatorApi {
    gateway: Arc<Gateway>,
    token: OperatorToken,
    /// Runs each request to its end even if the caller disconnects: a stored change must come into force.
    workers: Workers,
    reach: Reach,
    /// Whether this process has links to carriers and customers' binds.
    is_running: bool,
}

impl OperatorApi {
    /// The API of a process without links, for callers in this process.
    pub fn new(gateway: Arc<Gateway>, token: OperatorToken, workers: Workers) -> OperatorApi {
        OperatorApi { gateway, token, workers, reach: Reach::Anywhere, is_running: false }
    }

    /// The API of a running gateway, which has links.
    #[must_use]
    pub fn of_running_gateway(self) -> OperatorApi {
        OperatorApi { is_running: true, ..self }
    }

    /// Restricts the callers by their address.
    #[must_use]
    pub fn reachable_from(self, reach: Reach) -> OperatorApi {
        OperatorApi { reach, ..self }
    }

    /// The whole API under [`BASE`]. It matches no other path, so it can be merged with another router.
    pub fn router(self) -> Router {
        let api = Arc::new(self);
        let routes = routes()
            .router
            .route(guard::DOCUMENT, get(|| async { document::published().document() }))
            .route(guard::PAGE, get(|| async { document::published().page() }))
            .fallback(|| async { OperatorRefusal::no_path().into_response() })
            .method_not_allowed_fallback(|| async { OperatorRefusal::MethodNotAllowed.into_response() })
            .layer(from_fn_with_state(api.clone(), guard::guard))
            .with_state(api);
        Router::new().nest_service(BASE, routes)
    }
}

/// Every route, in the order of the document.
fn routes() -> Routes {
    let mut routes = Routes::default();
    entries::routes(&mut routes);
    money::routes(&mut routes);
    messages::routes(&mut routes);
    record::routes(&mut routes);
    sessions::bind_routes(&mut routes);
    webhooks::routes(&mut routes);
    sessions::carrier_routes(&mut routes);
    lookup::delivery_routes(&mut routes);
    maintenance::routes(&mut routes);
    customer_requests::routes(&mut routes);
    users::routes(&mut routes);
    lookup::routes(&mut routes);
    routes
}
