//! Routes of customers' requests.

use super::Api;
use super::extract::{FromBody, FromPath, FromQuery, OptionalBody};
use super::response::Reply;
use super::routes::{Routes, doc};
use crate::app::operator;
use crate::author::Acting;
use crate::views::customer_requests::{
    AcceptRequest, CustomerRequestView, CustomerRequestsQuery, DeclineRequest,
};
use crate::views::paging::Page;
use axum::Json;
use axum::extract::State;

pub(super) fn routes(routes: &mut Routes) {
    routes.section(
        "Customers' requests",
        "Senders, countries, numbers, verification, limits and top-ups that customers request in the portal.",
    );
    routes.get(
        "/customer-requests",
        list,
        doc("listCustomerRequests", "List customers' requests", "The newest first.").errors(&["NOT_FOUND"]),
    );
    routes.get(
        "/customer-requests/{id}",
        show,
        doc("getCustomerRequest", "Read a customer's request", "The request.").errors(&["NOT_FOUND"]),
    );
    routes.post(
        "/customer-requests/{id}/accept",
        accept,
        doc("acceptCustomerRequest", "Accept a customer's request", "The accepted request.")
            .details(
                "Makes the change in the transaction of the decision: approves the sender, switches the country on, adds the \
                 number of `value`, marks the account as verified, sets the rate or window of the connection or the tier of \
                 the account, or posts the top-up. `value` grants something else than was requested. `done` accepts a \
                 request that was fulfilled by hand.",
            )
            .errors(&["NOT_FOUND", "INVALID_FIELD", "REFUSED", "ALREADY_DECIDED", "ALREADY_EXISTS", "REFERENCE_TAKEN"]),
    );
    routes.post(
        "/customer-requests/{id}/decline",
        decline,
        doc("declineCustomerRequest", "Decline a customer's request", "The declined request.").errors(&[
            "NOT_FOUND",
            "INVALID_FIELD",
            "ALREADY_DECIDED",
        ]),
    );
}

async fn list(
    State(api): Api,
    FromQuery(query): FromQuery<CustomerRequestsQuery>,
) -> Reply<Page<CustomerRequestView>> {
    operator::list_customer_requests(&api.world, query).await.map(Json)
}

async fn show(State(api): Api, FromPath(id): FromPath<u64>) -> Reply<CustomerRequestView> {
    operator::show_customer_request(&api.world, id).await.map(Json)
}

async fn accept(
    acting: Acting,
    FromPath(id): FromPath<u64>,
    OptionalBody(decision): OptionalBody<AcceptRequest>,
) -> Reply<CustomerRequestView> {
    operator::accept_customer_request(&acting, id, decision.unwrap_or_default()).await.map(Json)
}

async fn decline(
    acting: Acting,
    FromPath(id): FromPath<u64>,
    FromBody(decision): FromBody<DeclineRequest>,
) -> Reply<CustomerRequestView> {
    operator::decline_customer_request(&acting, id, decision).await.map(Json)
}
