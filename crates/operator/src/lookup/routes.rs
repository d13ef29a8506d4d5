//! Routes that look something up: delivery statistics, unmatched receipts, numbers, routes, error codes.

use crate::api::OperatorApi;
use crate::delivery::use_cases::{list_deliveries, list_unmatched_receipts};
use crate::http::routes::{Routes, doc};
use crate::lookup::use_cases::{explain_route, list_errors, look_up_number};
use crate::lookup::views::{ExplainQuery, ExplanationView, LookupQuery, LookupView};
use crate::refusal::OperatorRefusal;
use hermod_gateway::gateway::Gateway;

pub(crate) fn routes(routes: &mut Routes) {
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
        |_: &Gateway| Ok(list_errors()),
        doc("listErrors", "List the error codes of the customer API", "The published catalogue."),
    );
}

pub(crate) fn delivery_routes(routes: &mut Routes) {
    routes.section("Deliveries", "Delivery statistics, and receipts that matched no part.");
    routes.get(
        "/deliveries",
        list_deliveries,
        doc("listDeliveries", "Read delivery statistics", "The group with the most parts first.")
            .details("Parts by carrier, country and network: accepted, delivered, failed, open, and delivery times.")
            .errors(&["NOT_FOUND"]),
    );
    routes.get(
        "/carriers/{name}/receipts",
        list_unmatched_receipts,
        doc("listUnmatchedReceipts", "List unmatched receipts", "The latest receipt first.")
            .details("Beside the message ids of the carrier's recent responses, to compare their formats.")
            .errors(&["NOT_FOUND"]),
    );
}

async fn look_up(api: &OperatorApi, number: &str, query: LookupQuery) -> Result<LookupView, OperatorRefusal> {
    look_up_number(&api.gateway, number, query, api.is_running).await
}

fn explain(api: &OperatorApi, query: ExplainQuery) -> Result<ExplanationView, OperatorRefusal> {
    explain_route(&api.gateway, query, api.is_running)
}
