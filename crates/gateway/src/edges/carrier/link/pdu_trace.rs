//! Writes a link's PDUs to the carrier's trace while it is enabled: all that were read, including those that the
//! session answers itself, and all that are about to be written.

use super::SentPart;
use crate::board::{PduDirection, Trace};
use crate::clock::Clock;
use hermod_smpp::{ReceiptDialect, Session, trace};

pub(super) struct PduTrace<'a> {
    trace: &'a Trace,
    link: u8,
    dialect: ReceiptDialect,
    open: bool,
}

impl<'a> PduTrace<'a> {
    pub(super) fn new(trace: &'a Trace, link: u8, dialect: ReceiptDialect) -> PduTrace<'a> {
        PduTrace { trace, link, dialect, open: false }
    }

    /// Starts or stops collecting. To be called before the session processes its input.
    pub(super) fn begin(&mut self, session: &mut Session<SentPart>) {
        let wanted = self.trace.is_on();
        if wanted != self.open {
            self.open = wanted;
            session.capture(wanted);
        }
    }

    /// Writes the PDUs to the trace. To be called while the session still holds its output.
    pub(super) fn note(&mut self, session: &mut Session<SentPart>, clock: &Clock) {
        if !self.open {
            return;
        }
        let now = clock.now();
        while let Some(frame) = session.next_captured() {
            let line = trace::describe(&frame, self.dialect).to_string();
            self.trace.note(self.link, PduDirection::In, line, now);
        }
        for pdu in trace::describe_all(session.output(), self.dialect) {
            self.trace.note(self.link, PduDirection::Out, pdu.to_string(), now);
        }
    }
}
