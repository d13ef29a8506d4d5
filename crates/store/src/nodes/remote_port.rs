//! The port of a bind whose outbox is on another node: asks for reports, and holds those that came until the bind takes them.

use super::frames::{self, ToEngine};
use super::outgoing::Outgoing;
use hermod_domain::ids::ConnectionId;
use hermod_domain::time::Timestamp;
use hermod_engine::ops::{Report, ReportId, ReportOutcome};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

pub(crate) struct RemotePort {
    pub number: u64,
    pub connection: ConnectionId,
    state: Mutex<State>,
    wake: Notify,
}

#[derive(Default)]
struct State {
    /// The connection to the engine, while there is one that knows the port.
    engine: Option<Arc<Outgoing>>,
    /// The engine was asked for reports and has not sent any since.
    asked: bool,
    /// At most as many as the bind asked for at once.
    arrived: VecDeque<Report>,
}

impl RemotePort {
    pub(crate) fn new(number: u64, connection: ConnectionId) -> RemotePort {
        RemotePort { number, connection, state: Mutex::default(), wake: Notify::new() }
    }

    /// Opens the port at an engine. Reports of an earlier one are forgotten: this one sends them again.
    pub(crate) fn connect(&self, engine: Arc<Outgoing>) {
        let open = ToEngine::OpenReceiver { port: self.number, connection: self.connection };
        put(&engine, &open);
        *self.lock() = State { engine: Some(engine), ..State::default() };
        self.wake.notify_one();
    }

    pub(crate) fn disconnect(&self) {
        *self.lock() = State::default();
    }

    /// Adds reports that came.
    pub(crate) fn deliver(&self, reports: Vec<Report>) {
        let mut state = self.lock();
        state.asked = false;
        state.arrived.extend(reports);
        drop(state);
        self.wake.notify_one();
    }

    /// Waits for reports and returns at most `most`. Dropping the future loses nothing.
    pub(crate) async fn take(&self, most: u32, now: Timestamp) -> Vec<Report> {
        if most == 0 {
            return std::future::pending().await;
        }
        loop {
            {
                let mut state = self.lock();
                if !state.arrived.is_empty() {
                    let taken = state.arrived.len().min(usize::try_from(most).unwrap_or(usize::MAX));
                    return state.arrived.drain(..taken).collect();
                }
                if let Some(engine) = &state.engine
                    && !state.asked
                {
                    put(engine, &ToEngine::TakeReports { port: self.number, most, now });
                    state.asked = true;
                }
            }
            self.wake.notified().await;
        }
    }

    /// Sends the results of reports. They are lost with the connection, and the reports are sent again.
    pub(crate) fn settle(&self, outcomes: Vec<(ReportId, ReportOutcome)>, now: Timestamp) {
        if let Some(engine) = &self.lock().engine {
            put(engine, &ToEngine::SettleReports { port: self.number, outcomes, now });
        }
    }

    /// Closes the port. Reports that it took and did not settle are sent again later.
    pub(crate) fn close(&self) {
        if let Some(engine) = self.lock().engine.take() {
            put(&engine, &ToEngine::CloseReceiver { port: self.number });
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn put(engine: &Outgoing, frame: &ToEngine) {
    match frames::encode(frame) {
        Ok(octets) => engine.put(octets),
        Err(error) => tracing::error!(%error, "A frame about reports could not be encoded"),
    }
}
