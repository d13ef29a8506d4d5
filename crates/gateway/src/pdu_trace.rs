//! Writes the PDUs of a session to a trace while it is enabled: all that were read, including those that the session answers
//! itself, and all that are about to be written.

use crate::board::{PduDirection, Trace};
use crate::clock::Clock;
use hermod_smpp::{ReceiptDialect, Session, trace};
use std::sync::Arc;

pub(crate) struct PduTrace {
    trace: Arc<Trace>,
    /// The number of the link or bind.
    number: u64,
    dialect: ReceiptDialect,
    open: bool,
}

impl PduTrace {
    pub(crate) fn new(trace: Arc<Trace>, number: u64, dialect: ReceiptDialect) -> PduTrace {
        PduTrace { trace, number, dialect, open: false }
    }

    /// Starts or stops collecting. To be called before the session processes its input.
    pub(crate) fn begin<T>(&mut self, session: &mut Session<T>) {
        let wanted = self.trace.is_on();
        if wanted != self.open {
            self.open = wanted;
            session.capture(wanted);
        }
    }

    /// Writes the PDUs to the trace. To be called while the session still holds its output, of which the first `traced` octets
    /// were traced before.
    pub(crate) fn note<T>(&mut self, session: &mut Session<T>, traced: usize, clock: &Clock) {
        if !self.open {
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
