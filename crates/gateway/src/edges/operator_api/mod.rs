//! The operator API: everything that can be set up, paid, decided and looked at, for whoever has the operator's token.
//! Bodies have the shapes of a provision file, so that there is one way to say a thing. An error answer has the same form
//! as a customer's, `{"error": "CODE: sentence"}`, and means that nothing was done.

mod answer;
mod apply;
mod asked;
mod backup;
mod binds;
mod body;
mod deliveries;
mod desk;
pub mod document;
mod entries;
mod erase;
mod explain;
mod guard;
mod links;
mod look;
mod money;
mod opt_outs;
mod probe;
mod reports;
mod reviews;
mod set_aside;
mod shapes;
mod trace;
mod unowned;
mod webhooks;

pub use crate::listeners::{Reach, Source};
pub use desk::Desk;

use crate::app::operator::OperatorRefusal;
use crate::provision::Kind;
use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::response::IntoResponse;
use axum::routing::{get, post, put};
use std::sync::Arc;

/// What every path of the API begins with.
pub const BASE: &str = "/operator/v1";

/// The whole API under [`BASE`]. It answers nothing else, so it can be merged with a router that does.
pub fn router(desk: Desk) -> Router {
    let desk = Arc::new(desk);
    let mut routes = Router::new()
        .route("/apply", post(apply::apply))
        .route("/keys/{name}/rotate", post(entries::rotate))
        .route("/accounts/{name}/balance", get(money::balance))
        .route("/accounts/{name}/ledger", get(money::ledger).post(money::post))
        .route("/accounts/{name}/statement", get(money::statement))
        .route("/accounts/{name}/days", get(money::days))
        .route("/accounts/{name}/traffic", get(look::traffic))
        .route("/accounts/{name}/opt-outs", get(opt_outs::list))
        .route("/accounts/{name}/opt-outs/{number}", put(opt_outs::put).delete(opt_outs::remove))
        .route("/accounts/{name}/webhooks", get(webhooks::show))
        .route("/accounts/{name}/webhooks/events", get(webhooks::events))
        .route("/accounts/{name}/webhooks/events/{event}", get(webhooks::attempts))
        .route("/accounts/{name}/webhooks/events/{event}/replay", post(webhooks::replay_one))
        .route("/accounts/{name}/webhooks/replay", post(webhooks::replay))
        .route("/accounts/{name}/webhooks/secret/stage", post(webhooks::stage))
        .route("/accounts/{name}/webhooks/secret/switch", post(webhooks::switch))
        .route("/accounts/{name}/webhooks/secret/drop", post(webhooks::forget))
        .route("/reviews", get(reviews::list))
        .route("/reviews/{id}", get(reviews::show))
        .route("/reviews/{id}/approve", post(reviews::approve))
        .route("/reviews/{id}/reject", post(reviews::reject))
        .route("/lookup/{number}", get(look::number))
        .route("/routes/explain", get(explain::explain))
        .route("/links", get(links::links))
        .route("/binds", get(binds::binds))
        .route("/binds/{number}/unbind", post(binds::unbind))
        .route("/reports/given-up", get(reports::given_up))
        .route("/inbound/unowned", get(unowned::list))
        .route("/inbound/unowned/{message}/assign", post(unowned::assign))
        .route("/set-aside", get(set_aside::list))
        .route("/alarms", get(links::alarms).delete(links::acknowledge))
        .route("/deliveries", get(deliveries::deliveries))
        .route("/carriers/{name}/receipts", get(deliveries::receipts))
        .route("/carriers/{name}/resume", post(links::resume))
        .route("/carriers/{name}/test", post(probe::test))
        .route("/carriers/{name}/trace", get(trace::read).put(trace::start).delete(trace::stop))
        .route("/backups", post(backup::make))
        .route("/erasures", post(erase::erase))
        .route("/errors", get(look::errors));
    for kind in Kind::ALL {
        routes = routes
            .route(&format!("/{}", kind.plural()), entries::of_kind(kind))
            .route(&entry_path(kind), entries::of_one(kind));
    }
    let routes = routes
        .route(guard::DOCUMENT, get(|| async { document::published().document() }))
        .route(guard::PAGE, get(|| async { document::published().page() }))
        .fallback(|| async {
            OperatorRefusal::NotFound("there is nothing at this path".to_owned()).into_response()
        })
        .method_not_allowed_fallback(|| async { OperatorRefusal::MethodNotAllowed.into_response() })
        .layer(from_fn_with_state(desk.clone(), guard::guard))
        .with_state(desk);
    Router::new().nest_service(BASE, routes)
}

/// Names that have a slash in them may be written with it.
fn entry_path(kind: Kind) -> String {
    match kind {
        Kind::Route | Kind::Price | Kind::Sender | Kind::Number => format!("/{}/{{*name}}", kind.plural()),
        Kind::Carrier | Kind::Account | Kind::Connection | Kind::Key | Kind::Screen | Kind::Control => {
            format!("/{}/{{name}}", kind.plural())
        }
    }
}
