//! Routes of customers' requests.

use crate::customer_request::use_cases::{
    accept_customer_request, decline_customer_request, list_customer_requests, show_customer_request,
};
use crate::http::routes::{Routes, doc};

pub(crate) fn routes(routes: &mut Routes) {
    routes.section(
        "Customers' requests",
        "Senders, countries, numbers, verification, limits and top-ups that customers request in the portal.",
    );
    routes.get(
        "/customer-requests",
        list_customer_requests,
        doc("listCustomerRequests", "List customers' requests", "The newest first.").errors(&["NOT_FOUND"]),
    );
    routes.get(
        "/customer-requests/{id}",
        show_customer_request,
        doc("getCustomerRequest", "Read a customer's request", "The request.").errors(&["NOT_FOUND"]),
    );
    routes.post(
        "/customer-requests/{id}/accept",
        accept_customer_request,
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
        decline_customer_request,
        doc("declineCustomerRequest", "Decline a customer's request", "The declined request.").errors(&[
            "NOT_FOUND",
            "INVALID_FIELD",
            "ALREADY_DECIDED",
        ]),
    );
}
