//! Routes about delivery statistics and unmatched receipts.

use super::Api;
use super::extract::{FromPath, FromQuery};
use super::response::Reply;
use super::routes::{Routes, doc};
use crate::app::operator;
use crate::views::deliveries::{DeliveriesQuery, DeliveriesView, ReceiptsQuery, UnmatchedReceiptsView};
use axum::Json;
use axum::extract::State;

pub(super) fn routes(routes: &mut Routes) {
    routes.section("Deliveries", "Delivery statistics, and receipts that matched no part.");
    routes.get(
        "/deliveries",
        list,
        doc("listDeliveries", "Read delivery statistics", "The group with the most parts first.")
            .details("Parts by carrier, country and network: accepted, delivered, failed, open, and delivery times.")
            .errors(&["NOT_FOUND"]),
    );
    routes.get(
        "/carriers/{name}/receipts",
        unmatched_receipts,
        doc("listUnmatchedReceipts", "List unmatched receipts", "The latest receipt first.")
            .details("Beside the message ids of the carrier's recent responses, to compare their formats.")
            .errors(&["NOT_FOUND"]),
    );
}

async fn list(State(api): Api, FromQuery(query): FromQuery<DeliveriesQuery>) -> Reply<DeliveriesView> {
    operator::list_deliveries(&api.world, query).await.map(Json)
}

async fn unmatched_receipts(
    State(api): Api,
    FromPath(carrier): FromPath<String>,
    FromQuery(query): FromQuery<ReceiptsQuery>,
) -> Reply<UnmatchedReceiptsView> {
    operator::list_unmatched_receipts(&api.world, carrier, &query).await.map(Json)
}
