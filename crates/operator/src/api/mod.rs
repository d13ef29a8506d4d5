//! The operator API: provisioning, money, the record of messages, reviews, carriers, binds and webhooks, for callers with the operator's token.
//!
//! Each route is declared once with [`Routes`] and names its [use case](crate::http::use_case): the router and the OpenAPI document
//! are made from the same declaration. Requests and responses are the types of the subjects. An error response has the form of
//! the customer API, `{"error": "CODE: sentence"}`, and means that nothing was changed.

pub mod document;

pub use hermod_gateway::http::{Reach, Source};

use crate::http::guard;
use crate::http::routes::Routes;
use crate::node::use_cases::answer_query;
use crate::refusal::OperatorRefusal;
use crate::{carrier, customer_request, inbound, lookup, maintenance, message, money, setup, user, webhook};
use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::response::IntoResponse;
use axum::routing::get;
use hermod_gateway::gateway::Gateway;
use hermod_gateway::running::{OperatorSetup, OperatorSide};
use hermod_gateway::secrets::operator_token::OperatorToken;
use hermod_gateway::workers::Workers;
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
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) token: OperatorToken,
    /// Runs each request to its end even if the caller disconnects: a stored change must come into force.
    pub(crate) workers: Workers,
    pub(crate) reach: Reach,
    /// Whether this process has links to carriers and customers' binds.
    pub(crate) is_running: bool,
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
pub(crate) fn routes() -> Routes {
    let mut routes = Routes::default();
    setup::routes::routes(&mut routes);
    money::routes::routes(&mut routes);
    inbound::routes::routes(&mut routes);
    message::routes::routes(&mut routes);
    carrier::routes::bind_routes(&mut routes);
    webhook::routes::routes(&mut routes);
    carrier::routes::carrier_routes(&mut routes);
    lookup::routes::delivery_routes(&mut routes);
    maintenance::routes::routes(&mut routes);
    customer_request::routes::routes(&mut routes);
    user::routes::routes(&mut routes);
    lookup::routes::routes(&mut routes);
    routes
}
