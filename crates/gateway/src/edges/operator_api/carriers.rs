//! Routes about carriers: links, alarms, resuming, test messages, PDU traces.

use super::extract::{FromBody, FromPath, FromQuery, Running};
use super::response::Reply;
use super::routes::{Routes, doc};
use crate::app::operator::{self, OperatorRefusal};
use crate::author::Acting;
use crate::views::carrier_test::{
    CarrierTestRequest, CarrierTestView, TraceQuery, TraceRequest, TraceStateView, TraceView,
};
use crate::views::carriers::{AcknowledgedView, AlarmsQuery, AlarmsView, CarriersView, ResumedView};
use axum::Json;

pub(super) fn routes(routes: &mut Routes) {
    routes.section("Links", "The state of carriers and links, and alarms. Needs a running gateway.");
    routes.get(
        "/links",
        list,
        doc("listLinks", "List carriers and their links", "Every carrier, by name.").details(
            "Each carrier's health, queue and recent traffic; each link's state, rate, window and counts.",
        ),
    );
    routes.get(
        "/alarms",
        list_alarms,
        doc("listAlarms", "List alarms", "By carrier.")
            .details("An alarm is listed once, however often it occurs, with what to do about it."),
    );
    routes.delete(
        "/alarms",
        acknowledge_alarms,
        doc("acknowledgeAlarms", "Acknowledge alarms", "The number of alarms that were listed.")
            .details("Removes alarms from the list. A condition that persists raises its alarm again."),
    );
    routes.post(
        "/carriers/{name}/resume",
        resume,
        doc("resumeCarrier", "Resume a stopped carrier", "It sends again.")
            .details("A carrier is stopped after it rejected too many PDUs as malformed.")
            .errors(&["NOT_FOUND"]),
    );
    routes.post(
        "/carriers/{name}/test",
        test,
        doc("testCarrier", "Send a test message to a carrier", "Every step of the test.")
            .details(
                "Binds on a connection of its own, sends one part, waits for its receipt and returns every PDU, with texts \
                 masked. The message is neither charged nor stored. The response takes as long as the test.",
            )
            .errors(&["NOT_FOUND", "TEST_RUNNING", "INVALID_FIELD"]),
    );
    routes.get(
        "/carriers/{name}/trace",
        read_trace,
        doc("readTrace", "Read a carrier's PDU trace", "In the order of the PDUs.").errors(&["NOT_FOUND"]),
    );
    routes.put(
        "/carriers/{name}/trace",
        start_trace,
        doc("traceCarrier", "Start a PDU trace", "Read the lines with GET.")
            .details("Lines have neither passwords nor texts. The last 1,000 lines are kept.")
            .errors(&["NOT_FOUND", "INVALID_FIELD"]),
    );
    routes.delete(
        "/carriers/{name}/trace",
        stop_trace,
        doc("stopTrace", "Stop a PDU trace", "The lines can still be read.").errors(&["NOT_FOUND"]),
    );
}

async fn list(Running(api): Running) -> Reply<CarriersView> {
    operator::list_carriers(&api.world).await.map(Json)
}

async fn list_alarms(Running(api): Running, FromQuery(query): FromQuery<AlarmsQuery>) -> Reply<AlarmsView> {
    Ok(Json(operator::list_alarms(&api.world, &query).await))
}

async fn acknowledge_alarms(
    Running(api): Running,
    FromQuery(query): FromQuery<AlarmsQuery>,
) -> Reply<AcknowledgedView> {
    Ok(Json(operator::acknowledge_alarms(&api.world, &query).await))
}

async fn resume(_: Running, acting: Acting, FromPath(carrier): FromPath<String>) -> Reply<ResumedView> {
    operator::resume_carrier(&acting, carrier).await.map(Json)
}

async fn test(
    Running(api): Running,
    FromPath(carrier): FromPath<String>,
    FromBody(request): FromBody<CarrierTestRequest>,
) -> Reply<CarrierTestView> {
    let stopping = api.workers.stopping();
    tokio::select! {
        tested = operator::test_carrier(&api.world, carrier, request) => tested.map(Json),
        // A receipt may take minutes; a gateway that stops does not wait for it.
        () = stopping.cancelled() => Err(OperatorRefusal::stopping()),
    }
}

async fn start_trace(
    _: Running,
    acting: Acting,
    FromPath(carrier): FromPath<String>,
    FromBody(request): FromBody<TraceRequest>,
) -> Reply<TraceStateView> {
    operator::start_trace(&acting, carrier, &request).await.map(Json)
}

async fn stop_trace(Running(api): Running, FromPath(carrier): FromPath<String>) -> Reply<TraceStateView> {
    operator::stop_trace(&api.world, carrier).await.map(Json)
}

async fn read_trace(
    Running(api): Running,
    FromPath(carrier): FromPath<String>,
    FromQuery(query): FromQuery<TraceQuery>,
) -> Reply<TraceView> {
    operator::read_trace(&api.world, &carrier, &query).map(Json)
}
