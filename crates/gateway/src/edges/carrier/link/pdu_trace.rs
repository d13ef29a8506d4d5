//! A trace of a link's PDUs, while somebody wants one: those that were read, also the ones the session settled by itself,
//! and those that are about to be written.

use super::Sent;
use crate::board::{Trace, Way};
use crate::clock::Clock;
use hermod_smpp::{ReceiptDialect, Session, trace};

pub(super) struct Tap<'a> {
    trace: &'a Trace,
    link: u8,
    dialect: ReceiptDialect,
    open: bool,
}

impl<'a> Tap<'a> {
    pub(super) fn new(trace: &'a Trace, link: u8, dialect: ReceiptDialect) -> Tap<'a> {
        Tap { trace, link, dialect, open: false }
    }

    /// Before the session reads on.
    pub(super) fn begin(&mut self, session: &mut Session<Sent>) {
        let wanted = self.trace.is_on();
        if wanted != self.open {
            self.open = wanted;
            session.watch(wanted);
        }
    }

    /// After the session has read on, while its output is still with it.
    pub(super) fn note(&mut self, session: &mut Session<Sent>, clock: &Clock) {
        if !self.open {
            return;
        }
        let now = clock.now();
        while let Some(frame) = session.next_seen() {
            let line = trace::describe(&frame, self.dialect).to_string();
            self.trace.note(self.link, Way::In, line, now);
        }
        for told in trace::describe_all(session.output(), self.dialect) {
            self.trace.note(self.link, Way::Out, told.to_string(), now);
        }
    }
}
