//! Writes the PDUs of a session to a trace while it is enabled: all that were read, including those that the session answers
//! itself, and all that are about to be written.

use crate::clock::Clock;
use crate::live_status::{PduDirection, Trace};
use hermod_smpp::{Frame, ReceiptDialect, Session, trace};
use std::sync::Arc;

pub(crate) struct PduTrace {
    trace: Arc<Trace>,
    /// The number of the link or bind.
    number: u64,
    dialect: ReceiptDialect,
    is_capturing: bool,
}

impl PduTrace {
    pub(crate) fn new(trace: Arc<Trace>, number: u64, dialect: ReceiptDialect) -> PduTrace {
        PduTrace { trace, number, dialect, is_capturing: false }
    }

    /// Starts or stops collecting. To be called before the session processes its input.
    pub(crate) fn begin<T>(&mut self, session: &mut Session<T>) {
        let wanted = self.trace.is_on();
        if wanted != self.is_capturing {
            self.is_capturing = wanted;
            session.capture(wanted);
        }
    }

    /// Writes a PDU that was received before the trace of its session was known.
    pub(crate) fn note_received(&mut self, frame: &Frame, clock: &Clock) {
        if self.trace.is_on() {
            let line = trace::describe(frame, self.dialect).to_string();
            self.trace.note(self.number, PduDirection::In, line, clock.now());
        }
    }

    /// Writes the PDUs to the trace. To be called while the session still holds its output, all of which is new.
    pub(crate) fn note<T>(&mut self, session: &mut Session<T>, clock: &Clock) {
        self.note_after(0, session, clock);
    }

    /// Writes the PDUs to the trace. The first `traced` octets of the output were there before.
    pub(crate) fn note_after<T>(&mut self, traced: usize, session: &mut Session<T>, clock: &Clock) {
        if !self.is_capturing {
            return;
        }
        let now = clock.now();
        while let Some(frame) = session.next_captured() {
            let line = trace::describe(&frame, self.dialect).to_string();
            self.trace.note(self.number, PduDirection::In, line, now);
        }
        let output = session.output().get(traced..).unwrap_or_default();
        for pdu in trace::describe_all(output, self.dialect) {
            self.trace.note(self.number, PduDirection::Out, pdu.to_string(), now);
        }
    }
}

#[cfg(test)]
#[path = "pdu_trace_tests.rs"]
mod tests;
