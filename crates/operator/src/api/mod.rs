//! The operator API: provisioning, money, the record of messages, reviews, carriers, binds and webhooks, for callers with the operator's token.
//!
//! Each route is declared once with [`Routes`] and names its [use case](crate::http::use_case): the router and the OpenAPI document
//! are made from the same declaration. Requests and responses are the types of the subjects. An error response has the form of
//! the customer API, `{"error": "CODE: sentence"}`, and means that nothing was changed.

pub mod document;

use crate::http::routes::Routes;
use crate::http::{BASE, OperatorApi, guard};
use crate::node::answer_query;
use crate::refusal::OperatorRefusal;
use crate::{
    alarm, audit_log, bind, carrier, customer_request, delivery, inbound, lookup, maintenance, message,
    money, node,
};
use crate::{
    opt_out, opt_out_file, queue, rates, record, request, restore, review, setup, statistics, trace, user,
    webhook,
};
use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::response::IntoResponse;
use axum::routing::get;
use hermod_gateway::running::{OperatorSetup, OperatorSide};
use std::sync::Arc;

/// The operator's side of a running gateway.
pub const OPERATOR_SIDE: OperatorSide = OperatorSide {
    base: BASE,
    router: |OperatorSetup { gateway, token, workers, reach }| {
        OperatorApi::new(gateway, token, workers).of_running_gateway().reachable_from(reach).router()
    },
    answer: |gateway, query| Box::pin(async move { answer_query(&gateway, query).await }),
};

impl OperatorApi {
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
    opt_out::routes(&mut routes);
    opt_out_file::routes(&mut routes);
    review::routes(&mut routes);
    inbound::routes(&mut routes);
    message::routes::routes(&mut routes);
    statistics::routes(&mut routes);
    request::routes(&mut routes);
    record::routes(&mut routes);
    bind::routes(&mut routes);
    webhook::routes::routes(&mut routes);
    carrier::link_routes(&mut routes);
    alarm::routes(&mut routes);
    carrier::routes(&mut routes);
    rates::routes(&mut routes);
    trace::routes(&mut routes);
    delivery::routes(&mut routes);
    queue::routes(&mut routes);
    maintenance::routes(&mut routes);
    node::routes(&mut routes);
    restore::routes(&mut routes);
    audit_log::routes(&mut routes);
    customer_request::routes::routes(&mut routes);
    user::routes(&mut routes);
    lookup::routes(&mut routes);
    routes
}
