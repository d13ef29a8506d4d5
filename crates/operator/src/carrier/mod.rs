//! Carriers: their entries, links and queues, and test messages to them.

pub mod entry;
pub mod probe;
pub mod use_cases;
pub mod views;

use crate::carrier::probe::test_carrier;
use crate::carrier::use_cases::{list_carriers, resume_carrier};
use crate::http::routes::{Routes, doc};
use hermod_domain::operator_role::OperatorPermission;

pub(crate) fn link_routes(routes: &mut Routes) {
    routes.section("Links", "The state of carriers and links, and alarms. Needs a running gateway.");
    routes.get(
        "/links",
        list_carriers,
        doc("listLinks", "List carriers and their links", "Every carrier, by name.").running_only().details(
            "Each carrier's health, queue and recent traffic; each link's state, rate, window and counts.",
        )
            .least(OperatorPermission::Reading),
    );
}

pub(crate) fn routes(routes: &mut Routes) {
    routes.post(
        "/carriers/{name}/resume",
        resume_carrier,
        doc("resumeCarrier", "Resume a stopped carrier", "It sends again.")
            .running_only()
            .details("A carrier is stopped after it rejected too many PDUs as malformed.")
            .errors(&["NOT_FOUND"])
            .least(OperatorPermission::Operations),
    );
    routes.post(
        "/carriers/{name}/test",
        test_carrier,
        doc("testCarrier", "Send a test message to a carrier", "Every step of the test.")
            .running_only()
            .ends_when_stopping()
            .details(
                "Binds on a connection of its own, sends one part, waits for its receipt and returns every PDU, with texts \
                 masked. The message is neither charged nor stored. The response takes as long as the test.",
            )
            .errors(&["NOT_FOUND", "TEST_RUNNING", "INVALID_FIELD"])
            .least(OperatorPermission::Operations),
    );
}
