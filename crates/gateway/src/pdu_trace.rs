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
mod tests {
    use super::*;
    use hermod_domain::time::Timestamp;
    use hermod_smpp::Moment;
    use hermod_smpp::session::ServerConfig;
    use std::time::Duration;

    /// A header alone, with sequence number 9.
    const ENQUIRE_LINK: &[u8] = b"\0\0\0\x10\0\0\0\x15\0\0\0\0\0\0\0\x09";

    #[test]
    fn output_that_waits_is_written_once() {
        let clock = Clock::manual(Timestamp::from_millis(1_790_000_000_000));
        let trace = Arc::new(Trace::default());
        let mut pdu_trace = PduTrace::new(trace.clone(), 7, ReceiptDialect::Standard);
        let mut session: Session<u32> = Session::server(ServerConfig::standard(), Moment(0));
        trace.enable(clock.now().plus(Duration::from_secs(60)));
        pdu_trace.begin(&mut session);
        session.output().extend_from_slice(ENQUIRE_LINK);
        pdu_trace.note_after(0, &mut session, &clock);
        // A part of the first PDU is written to the socket; then there is more output.
        let _ = session.output().split_to(10);
        let traced = session.output().len();
        session.output().extend_from_slice(ENQUIRE_LINK);
        pdu_trace.begin(&mut session);
        pdu_trace.note_after(traced, &mut session, &clock);
        let lines: Vec<String> = trace.read(0).into_iter().map(|line| line.line).collect();
        assert_eq!(lines, ["enquire_link seq=9", "enquire_link seq=9"]);
    }
}
