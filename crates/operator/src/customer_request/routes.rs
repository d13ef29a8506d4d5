//! Routes of customers' requests.

use crate::author::Acting;
use crate::customer_request::use_cases::{
    accept_customer_request, decline_customer_request, list_customer_requests, show_customer_request,
};
use crate::customer_request::views::{AcceptRequest, CustomerRequestView, DeclineRequest};
use crate::http::caller::Caller;
use crate::http::routes::{Routes, doc};
use crate::refusal::Result;
use hermod_domain::customer_request::CustomerRequestKind;
use hermod_domain::operator_role::OperatorPermission;

async fn accept_permitted(
    gateway: &Acting,
    caller: &Caller,
    id: u64,
    request: Option<AcceptRequest>,
) -> Result<CustomerRequestView> {
    expect_decider(gateway, caller, id).await?;
    accept_customer_request(gateway, id, request).await
}

async fn decline_permitted(
    gateway: &Acting,
    caller: &Caller,
    id: u64,
    request: DeclineRequest,
) -> Result<CustomerRequestView> {
    expect_decider(gateway, caller, id).await?;
    decline_customer_request(gateway, id, request).await
}

/// Fails if the caller may not decide the request. Accepting a top-up posts money.
async fn expect_decider(gateway: &Acting, caller: &Caller, id: u64) -> Result<()> {
    let request = show_customer_request(gateway, id).await?;
    let is_money = request.kind == CustomerRequestKind::TopUp.as_str();
    caller.expect(if is_money { OperatorPermission::Money } else { OperatorPermission::Customers })
}

pub(crate) fn routes(routes: &mut Routes) {
    routes.section(
        "Customers' requests",
        "Senders, countries, numbers, verification, limits and top-ups that customers request in the portal.",
    );
    routes.get(
        "/customer-requests",
        list_customer_requests,
        doc("listCustomerRequests", "List customers' requests", "The newest first.")
            .errors(&["NOT_FOUND"])
            .least(OperatorPermission::Reading),
    );
    routes.get(
        "/customer-requests/{id}",
        show_customer_request,
        doc("getCustomerRequest", "Read a customer's request", "The request.")
            .errors(&["NOT_FOUND"])
            .least(OperatorPermission::Reading),
    );
    routes.post(
        "/customer-requests/{id}/accept",
        accept_permitted,
        doc("acceptCustomerRequest", "Accept a customer's request", "The accepted request.")
            .details(
                "Makes the change in the transaction of the decision: approves the sender, switches the country on, adds the \
                 number of `value`, marks the account as verified, sets the rate or window of the connection or the tier of \
                 the account, or posts the top-up. `value` grants something else than was requested. `done` accepts a \
                 request that was fulfilled by hand. A top-up needs the role finance or admin, any other request support, \
                 operations or admin.",
            )
            .errors(&["NOT_FOUND", "INVALID_FIELD", "REFUSED", "ALREADY_DECIDED", "ALREADY_EXISTS", "REFERENCE_TAKEN"])
            .least(OperatorPermission::Changes),
    );
    routes.post(
        "/customer-requests/{id}/decline",
        decline_permitted,
        doc("declineCustomerRequest", "Decline a customer's request", "The declined request.")
            .errors(&["NOT_FOUND", "INVALID_FIELD", "ALREADY_DECIDED"])
            .least(OperatorPermission::Changes),
    );
}
