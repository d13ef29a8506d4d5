//! Looks up numbers, their routes and prices, and error codes.

pub(crate) mod explain;
pub mod use_cases;
pub mod views;

use crate::http::routes::{Routes, doc};
use crate::http::use_case::{Call, Input, OfRequest};
use crate::lookup::use_cases::{HasLinks, explain_route, list_errors, look_up_number};
use crate::refusal::Result;
use hermod_domain::operator_role::OperatorPermission;

pub(crate) fn routes(routes: &mut Routes) {
    routes.section("Lookup", "Numbers, their routes and prices; error codes.");
    routes.get(
        "/lookup/{number}",
        look_up_number,
        doc("lookUp", "Look up a number", "Unknown values are empty.")
            .details("Country, operator, network, route and price of a number. Nothing is sent.")
            .errors(&["NOT_FOUND"])
            .least(OperatorPermission::Reading),
    );
    routes.get(
        "/routes/explain",
        explain_route,
        doc("explainRoute", "Explain a route", "The route, its carriers, and the routes that are not taken.")
            .details("Every route that matches the number, and the state of each carrier of the chosen route. Nothing is sent.")
            .errors(&["NOT_FOUND"])
            .least(OperatorPermission::Reading),
    );
    routes.get(
        "/errors",
        list_errors,
        doc("listErrors", "List the error codes of the customer API", "The published catalogue.")
            .least(OperatorPermission::Reading),
    );
}

impl Input<OfRequest> for HasLinks {
    type Pointer = Box<HasLinks>;

    fn take(call: &mut Call) -> Result<Box<HasLinks>> {
        Ok(Box::new(HasLinks(call.has_links())))
    }
}
