//! The port of a bind whose outbox is on another node: asks for reports, and holds those that came until the bind takes them.
//!
//! It outlives the engine. Reports that the bind has taken, and results that an engine has not confirmed, are told to the next
//! engine, so that an orderly restart repeats no report.

use super::frames::ToEngine;
use super::outgoing::Outgoing;
use crate::writer::operation::Op;
use crate::writer::report_port::ReportPort;
use crate::writer::shared::Access;
use hermod_domain::ids::ConnectionId;
use hermod_domain::time::Timestamp;
use hermod_engine::ops::{Report, ReportId, ReportOutcome};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use tokio::sync::Notify;

pub(crate) struct RemotePort {
    pub number: u64,
    pub connection: ConnectionId,
    state: Mutex<State>,
    wake: Notify,
    /// Once the engine is here.
    here: OnceLock<ReportPort>,
}

#[derive(Default)]
struct State {
    /// The connection to the engine, while there is one that knows the port.
    engine: Option<Arc<Outgoing>>,
    /// The engine was asked for reports and has not sent any since.
    asked: bool,
    /// At most as many as the bind asked for at once.
    arrived: VecDeque<Report>,
    /// What the bind took, until an engine has confirmed its result. The window of the bind limits them.
    taken: BTreeMap<ReportId, Report>,
    /// Results that no engine has confirmed, in order.
    unconfirmed: VecDeque<Results>,
    /// The bind has ended. The port is closed once no result is unconfirmed.
    is_closing: bool,
}

#[derive(Clone)]
struct Results {
    outcomes: Vec<(ReportId, ReportOutcome)>,
    now: Timestamp,
}

impl RemotePort {
    pub(crate) fn new(number: u64, connection: ConnectionId) -> RemotePort {
        RemotePort { number, connection, state: Mutex::default(), wake: Notify::new(), here: OnceLock::new() }
    }

    /// Opens the port at an engine, with what the bind has. Reports that the bind has not taken are forgotten: the engine sends
    /// them again.
    pub(crate) fn connect(&self, engine: Arc<Outgoing>) {
        let mut state = self.lock();
        let held = state.taken.values().cloned().collect();
        engine.send(&ToEngine::OpenReceiver { port: self.number, connection: self.connection, held });
        state.unconfirmed.iter().for_each(|results| self.send(&engine, results));
        (state.engine, state.asked) = (Some(engine), false);
        state.arrived.clear();
        drop(state);
        self.wake.notify_one();
    }

    pub(crate) fn disconnect(&self) {
        let mut state = self.lock();
        (state.engine, state.asked) = (None, false);
        state.arrived.clear();
    }

    /// Opens the port at the engine of this process, with what the bind has. Returns what the writer must write.
    pub(crate) fn open_here(&self, access: &Arc<Access>) -> Vec<Op> {
        let mut state = self.lock();
        let port = self.here(access);
        let State { taken, unconfirmed, .. } = std::mem::take(&mut *state);
        // The lock is held: a result that comes meanwhile must find its report adopted.
        port.adopt(taken.into_values().collect());
        let finish = |Results { outcomes, now }| port.finish(outcomes, now);
        let written = unconfirmed.into_iter().filter_map(finish).collect();
        drop(state);
        written
    }

    /// Returns the port at the engine of this process.
    pub(crate) fn here(&self, access: &Arc<Access>) -> &ReportPort {
        self.here.get_or_init(|| ReportPort::open(access.clone(), self.connection))
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
                    let count = state.arrived.len().min(usize::try_from(most).unwrap_or(usize::MAX));
                    let reports: Vec<Report> = state.arrived.drain(..count).collect();
                    state.taken.extend(reports.iter().map(|report| (report.id, report.clone())));
                    return reports;
                }
                if let Some(engine) = &state.engine
                    && !state.asked
                {
                    engine.send(&ToEngine::TakeReports { port: self.number, most, now });
                    state.asked = true;
                }
            }
            self.wake.notified().await;
        }
    }

    /// Sends the results of reports, now or to the next engine. Returns them if the engine is here.
    pub(crate) fn settle(
        &self,
        outcomes: Vec<(ReportId, ReportOutcome)>,
        now: Timestamp,
    ) -> Option<Vec<(ReportId, ReportOutcome)>> {
        let mut state = self.lock();
        if self.here.get().is_some() {
            return Some(outcomes);
        }
        let results = Results { outcomes, now };
        if let Some(engine) = &state.engine {
            self.send(engine, &results);
        }
        state.unconfirmed.push_back(results);
        None
    }

    /// Forgets the first results that were sent: the engine has them. Returns whether that closed the port.
    pub(crate) fn confirm(&self) -> bool {
        let mut state = self.lock();
        let Some(Results { outcomes, .. }) = state.unconfirmed.pop_front() else { return false };
        outcomes.iter().for_each(|(report, _)| drop(state.taken.remove(report)));
        state.is_closing && self.try_close(&mut state)
    }

    fn send(&self, engine: &Outgoing, results: &Results) {
        let Results { outcomes, now } = results.clone();
        engine.send(&ToEngine::SettleReports { port: self.number, outcomes, now });
    }

    /// Closes the port: now, or once an engine has confirmed the results. Reports that it took and did not settle are sent
    /// again later. Returns whether it is closed.
    pub(crate) fn close(&self) -> bool {
        let mut state = self.lock();
        state.is_closing = true;
        self.try_close(&mut state)
    }

    fn try_close(&self, state: &mut State) -> bool {
        if !state.unconfirmed.is_empty() {
            return false;
        }
        if let Some(engine) = std::mem::take(state).engine {
            engine.send(&ToEngine::CloseReceiver { port: self.number });
        }
        true
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[path = "remote_port_tests.rs"]
mod tests;
