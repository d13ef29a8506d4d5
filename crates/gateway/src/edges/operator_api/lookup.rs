//! Routes that look something up: numbers, routes, error codes.

use super::Api;
use super::extract::{FromPath, FromQuery};
use super::response::Reply;
use super::routes::{Routes, doc};
use crate::app::operator;
use crate::views::lookup::{ErrorsView, ExplainQuery, ExplanationView, LookupQuery, LookupView};
use axum::Json;
use axum::extract::State;

pub(super) fn routes(routes: &mut Routes) {
    routes.section("Lookup", "Numbers, their routes and prices; error codes.");
    routes.get(
        "/lookup/{number}",
        look_up,
        doc("lookUp", "Look up a number", "Unknown values are empty.")
            .details("Country, operator, network, route and price of a number. Nothing is sent.")
            .errors(&["NOT_FOUND"]),
    );
    routes.get(
        "/routes/explain",
        explain,
        doc("explainRoute", "Explain a route", "The route, its carriers, and the routes that are not taken.")
            .details("Every route that matches the number, and the state of each carrier of the chosen route. Nothing is sent.")
            .errors(&["NOT_FOUND"]),
    );
    routes.get(
        "/errors",
        errors,
        doc("listErrors", "List the error codes of the customer API", "The published catalogue."),
    );
}

async fn look_up(
    State(api): Api,
    FromPath(number): FromPath<String>,
    FromQuery(query): FromQuery<LookupQuery>,
) -> Reply<LookupView> {
    operator::look_up_number(&api.world, &number, query, api.is_running).await.map(Json)
}

async fn explain(State(api): Api, FromQuery(query): FromQuery<ExplainQuery>) -> Reply<ExplanationView> {
    operator::explain_route(&api.world, query, api.is_running).map(Json)
}

async fn errors() -> Reply<ErrorsView> {
    Ok(Json(operator::list_errors()))
}
