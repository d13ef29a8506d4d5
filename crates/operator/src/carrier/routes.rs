//! Routes about SMPP sessions: customers' binds; carriers' links, alarms, resuming, test messages, PDU traces.

use crate::api::OperatorApi;
use crate::bind::use_cases::{list_binds, unbind};
use crate::carrier::carrier_test::{CarrierTestRequest, CarrierTestView};
use crate::carrier::use_cases::{
    acknowledge_alarms, list_alarms, list_carriers, resume_carrier, test_carrier,
};
use crate::http::routes::{Routes, doc};
use crate::refusal::OperatorRefusal;
use crate::trace;

pub(crate) fn bind_routes(routes: &mut Routes) {
    routes.section("Binds", "Customers' SMPP binds. Needs a running gateway.");
    routes.get(
        "/binds",
        list_binds,
        doc("listBinds", "List binds", "The live binds, the oldest first.")
            .details("Each SMPP bind of a customer: source address, type, window and figures.")
            .running_only()
            .errors(&["NOT_FOUND"]),
    );
    routes.post(
        "/binds/{number}/unbind",
        unbind,
        doc("unbind", "Unbind a customer", "The bind is being unbound.")
            .details(
                "Outstanding submits are answered first. Most customers bind again at once: to keep one out, close its \
                 connection.",
            )
            .running_only()
            .errors(&["NOT_FOUND"]),
    );
}

pub(crate) fn carrier_routes(routes: &mut Routes) {
    routes.section("Links", "The state of carriers and links, and alarms. Needs a running gateway.");
    routes.get(
        "/links",
        list_carriers,
        doc("listLinks", "List carriers and their links", "Every carrier, by name.").running_only().details(
            "Each carrier's health, queue and recent traffic; each link's state, rate, window and counts.",
        ),
    );
    routes.get(
        "/alarms",
        list_alarms,
        doc("listAlarms", "List alarms", "By carrier.")
            .running_only()
            .details("An alarm is listed once, however often it occurs, with what to do about it."),
    );
    routes.delete(
        "/alarms",
        acknowledge_alarms,
        doc("acknowledgeAlarms", "Acknowledge alarms", "The number of alarms that were listed.")
            .running_only()
            .details("Removes alarms from the list. A condition that persists raises its alarm again."),
    );
    routes.post(
        "/carriers/{name}/resume",
        resume_carrier,
        doc("resumeCarrier", "Resume a stopped carrier", "It sends again.")
            .running_only()
            .details("A carrier is stopped after it rejected too many PDUs as malformed.")
            .errors(&["NOT_FOUND"]),
    );
    routes.post(
        "/carriers/{name}/test",
        test,
        doc("testCarrier", "Send a test message to a carrier", "Every step of the test.").running_only()
            .details(
                "Binds on a connection of its own, sends one part, waits for its receipt and returns every PDU, with texts \
                 masked. The message is neither charged nor stored. The response takes as long as the test.",
            )
            .errors(&["NOT_FOUND", "TEST_RUNNING", "INVALID_FIELD"]),
    );
    routes.get(
        "/carriers/{name}/trace",
        trace::read_trace,
        doc("readTrace", "Read a carrier's PDU trace", "In the order of the PDUs.")
            .running_only()
            .errors(&["NOT_FOUND"]),
    );
    routes.put(
        "/carriers/{name}/trace",
        trace::start_trace,
        doc("traceCarrier", "Start a PDU trace", "Read the lines with GET.")
            .running_only()
            .details("Lines have neither passwords nor texts. The last 1,000 lines are kept.")
            .errors(&["NOT_FOUND", "INVALID_FIELD"]),
    );
    routes.delete(
        "/carriers/{name}/trace",
        trace::stop_trace,
        doc("stopTrace", "Stop a PDU trace", "The lines can still be read.")
            .running_only()
            .errors(&["NOT_FOUND"]),
    );
}

async fn test(
    api: &OperatorApi,
    carrier: &str,
    request: CarrierTestRequest,
) -> Result<CarrierTestView, OperatorRefusal> {
    let stopping = api.workers.stopping();
    tokio::select! {
        tested = test_carrier(&api.gateway, carrier, request) => tested,
        // A receipt may take minutes; a gateway that stops does not wait for it.
        () = stopping.cancelled() => Err(OperatorRefusal::stopping()),
    }
}
