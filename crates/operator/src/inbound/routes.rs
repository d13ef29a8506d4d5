//! Routes about opt-outs, review cases, unassigned MO messages and reports that were given up.

use crate::author::Acting;
use crate::http::routes::{Routes, doc};
use crate::inbound::use_cases::{
    add_opt_out, assign_inbound, decide_review, list_given_up, list_opt_outs, list_reviews, list_unassigned,
    remove_opt_out, show_review,
};
use crate::inbound::views::{DecisionRequest, ReviewView};
use crate::refusal::OperatorRefusal;

pub(crate) fn routes(routes: &mut Routes) {
    opt_out_routes(routes);
    review_routes(routes);
    routes.section(
        "Inbound",
        "MO messages that belong to no account, and reports that customers did not receive.",
    );
    routes.get(
        "/inbound/unassigned",
        list_unassigned,
        doc("listUnassignedInbound", "List unassigned MO messages", "The oldest first.").details(
            "MO messages to a number that no account owns, from a phone that no account wrote to from that number. Kept for \
             30 days.",
        ),
    );
    routes.post(
        "/inbound/unassigned/{message}/assign",
        assign_inbound,
        doc("assignInbound", "Assign an MO message to an account", "The account has the message.")
            .details("The account receives it like any other MO message, opt-out keywords included.")
            .errors(&["NOT_FOUND", "INVALID_FIELD"]),
    );
    routes.get(
        "/reports/given-up",
        list_given_up,
        doc("listGivenUpReports", "List reports that were given up", "The oldest first.")
            .details(
                "Receipts and MO messages that no bind acknowledged for 72 hours, or that the customer's software rejected. \
                 Listed for 30 days.",
            )
            .errors(&["NOT_FOUND"]),
    );
}

fn opt_out_routes(routes: &mut Routes) {
    routes.section("Opt-outs", "Phone numbers that opted out of an account's messages.");
    routes.get(
        "/accounts/{name}/opt-outs",
        list_opt_outs,
        doc("listOptOuts", "List opt-outs", "In the order of the numbers.").errors(&["NOT_FOUND"]),
    );
    routes.put(
        "/accounts/{name}/opt-outs/{number}",
        add_opt_out,
        doc("putOptOut", "Add an opt-out", "It existed before.")
            .created("It is new.")
            .errors(&["NOT_FOUND", "INVALID_FIELD"]),
    );
    routes.delete(
        "/accounts/{name}/opt-outs/{number}",
        remove_opt_out,
        doc("deleteOptOut", "Remove an opt-out", "The account may send to the number again.")
            .errors(&["NOT_FOUND", "INVALID_FIELD"]),
    );
}

fn review_routes(routes: &mut Routes) {
    routes.section("Reviews", "Messages that screening rules hold for review.");
    routes.get(
        "/reviews",
        list_reviews,
        doc("listReviews", "List review cases", "The newest first.").errors(&["NOT_FOUND"]),
    );
    routes.get(
        "/reviews/{id}",
        show_review,
        doc("getReview", "Read a review case", "The case, with the text of the message.")
            .errors(&["NOT_FOUND"]),
    );
    routes.post(
        "/reviews/{id}/approve",
        approve_review,
        doc("approveReview", "Approve a held message", "The case as decided.")
            .details("The customer's retry passes for seven days.")
            .errors(&["NOT_FOUND", "INVALID_FIELD"]),
    );
    routes.post(
        "/reviews/{id}/reject",
        reject_review,
        doc("rejectReview", "Reject a held message", "The case as decided.")
            .details("It stays rejected. The last decision holds.")
            .errors(&["NOT_FOUND", "INVALID_FIELD"]),
    );
}

async fn approve_review(
    acting: &Acting,
    id: u64,
    request: DecisionRequest,
) -> Result<ReviewView, OperatorRefusal> {
    decide_review(acting, id, true, request).await
}

async fn reject_review(
    acting: &Acting,
    id: u64,
    request: DecisionRequest,
) -> Result<ReviewView, OperatorRefusal> {
    decide_review(acting, id, false, request).await
}
