//! Processes received PDUs, each by the action of the state table.

use super::{CloseReason, Moment, Session, SessionEvent, Stage, state_table};
use crate::{
    AfterError, CommandId, CommandStatus, DecodeError, Frame, FrameError, Header, Pdu, next_frame,
    session::{
        RespondError,
        state_table::{Action, SessionRole, StateColumn},
        window::SEQUENCE_MAX,
    },
};

/// A request of the peer without a response yet. Sequence numbers may repeat; the peer's are echoed, not checked.
#[derive(Clone, Copy)]
pub(super) struct OpenRequest {
    sequence: u32,
    command: CommandId,
}

impl<T> Session<T> {
    /// Processes PDUs of the input until one gives an event or must wait.
    pub(super) fn process_input(&mut self, now: Moment) {
        while self.events.is_empty() {
            if self.must_wait() {
                self.is_stalled = true;
                return;
            }
            if std::mem::take(&mut self.is_stalled) {
                self.resume(now);
            }
            match next_frame(&mut self.input, self.limits.pdu_bytes_max) {
                Ok(Some(frame)) => self.on_frame(frame, now),
                Ok(None) => break,
                Err(error) => self.on_bad_frame(error),
            }
        }
        if self.input.is_empty() {
            self.partial_since = None;
        } else {
            self.partial_since.get_or_insert(now);
        }
    }

    /// Restarts the timers of the peer's silence, because the session did not read meanwhile.
    pub(super) fn resume(&mut self, now: Moment) {
        self.idle_since = now;
        self.partial_since = self.partial_since.map(|_| now);
        self.enquiry.response_by = self.enquiry.response_by.map(|_| now.plus_ms(self.limits.enquire_wait_ms));
    }

    /// Whether the next PDU must wait: a bind is being checked, the output is full, or it is a request above the peer's
    /// window. Enquiries and responses need not wait for the window.
    fn must_wait(&self) -> bool {
        let Some(column) = self.column() else { return true };
        if self.role == SessionRole::Server && matches!(self.stage, Stage::Binding(..)) {
            return true;
        }
        if self.output.len() >= self.limits.output_bytes_max {
            return true;
        }
        self.peer_outstanding() >= self.limits.peer_window_max
            && Header::parse(&self.input).is_some_and(|header| {
                state_table::action_for(self.role, column, header.command) == Action::Request
            })
    }

    /// Nacks and closes, because the framing is lost.
    fn on_bad_frame(&mut self, error: FrameError) {
        self.send_header(CommandId::GENERIC_NACK, FrameError::STATUS, error.sequence.unwrap_or(0));
        self.close(CloseReason::BadFrame(error.length));
    }

    pub(super) fn on_frame(&mut self, frame: Frame, now: Moment) {
        let Some(column) = self.column() else { return };
        self.captured.add(&frame);
        self.counters.pdus_in = self.counters.pdus_in.saturating_add(1);
        self.idle_since = now;
        self.partial_since = None;
        // Any PDU shows that the peer is alive.
        self.enquiry.response_by = None;
        self.enquiry.misses = 0;
        let Header { command, sequence, .. } = frame.header;
        if !command.is_response() && !(1..=SEQUENCE_MAX).contains(&sequence) {
            self.counters.odd_sequences = self.counters.odd_sequences.saturating_add(1);
        }
        match state_table::action_for(self.role, column, command) {
            Action::Request => self.on_request(frame),
            Action::Response => self.on_response(frame, now),
            Action::Authenticate => self.on_bind(frame),
            Action::BindResponse => self.on_bind_response(frame, now),
            Action::Notify => self.on_notification(frame),
            Action::Reject(status) => {
                if let Some(response) = command.response() {
                    self.send_header(response, status, sequence);
                }
                self.count_wrong_state(column, now);
            }
            Action::Nack(status) => {
                self.send_header(CommandId::GENERIC_NACK, status, sequence);
                self.count_wrong_state(column, now);
            }
            Action::RespondEnquireLink => {
                self.send_header(CommandId::ENQUIRE_LINK_RESP, CommandStatus::OK, sequence);
            }
            Action::Unbind => self.on_unbind(sequence, now),
            Action::UnbindUnbound => {
                self.send_header(CommandId::UNBIND_RESP, CommandStatus::INVBNDSTS, sequence);
                self.close(CloseReason::PeerUnbound);
            }
            Action::UnbindAgain => self.on_unbind_again(sequence, now),
            Action::UnbindResponse => self.on_unbind_response(frame.header, now),
            Action::Ignore => self.count_unmatched(command),
            Action::Unknown => self.on_unknown(sequence, now),
        }
    }

    fn on_request(&mut self, frame: Frame) {
        let Header { command, sequence, .. } = frame.header;
        // 3.3 has no data_sm.
        if self.role == SessionRole::Server && command == CommandId::DATA_SM && !self.is_3_4 {
            return self.send_header(CommandId::DATA_SM_RESP, CommandStatus::INVCMDID, sequence);
        }
        let read = match self.role {
            SessionRole::Server => frame.decode().map(|_| ()),
            SessionRole::Client => frame.decode_from_carrier().map(|_| ()),
        };
        match read {
            Ok(()) => {
                self.open.push_back(OpenRequest { sequence, command });
                self.events.push_back(SessionEvent::Request(frame));
            }
            Err(error) => self.on_undecodable(error),
        }
    }

    fn on_undecodable(&mut self, error: DecodeError) {
        self.counters.undecodable = self.counters.undecodable.saturating_add(1);
        let status = match error.status {
            // 3.3 has no TLV statuses.
            CommandStatus(0xC0..=0xC4) if !self.is_3_4 => CommandStatus::SUBMITFAIL,
            status => status,
        };
        let response = error.header.command.response().unwrap_or(CommandId::GENERIC_NACK);
        self.send_header(response, status, error.header.sequence);
        if error.link == AfterError::Close {
            self.close(CloseReason::BadBind(error));
        }
    }

    fn on_notification(&mut self, frame: Frame) {
        match frame.decode() {
            Ok(_) => self.events.push_back(SessionEvent::Notification(frame)),
            Err(error) => self.on_undecodable(error),
        }
    }

    fn on_bind(&mut self, frame: Frame) {
        match frame.decode() {
            Ok(Pdu::Bind(kind, bind)) => {
                self.is_3_4 = bind.is_3_4();
                self.stage = Stage::Binding(kind, frame.header.sequence);
                self.events.push_back(SessionEvent::BindRequested(frame));
            }
            Ok(_) => {}
            Err(error) => self.on_undecodable(error),
        }
    }

    fn on_bind_response(&mut self, frame: Frame, now: Moment) {
        let Header { command, status, sequence, .. } = frame.header;
        let Stage::Binding(kind, bind_sequence) = self.stage else { return };
        if sequence != bind_sequence || (command != kind.response() && command != CommandId::GENERIC_NACK) {
            return self.count_unmatched(command);
        }
        if !status.is_ok() || command == CommandId::GENERIC_NACK {
            self.events.push_back(SessionEvent::BindRejected(status));
            return self.close(CloseReason::BindRejected(status));
        }
        // See `peer_is_3_4`: a lower version counts, a missing one is taken for 3.4.
        if let Ok(Pdu::BindResp(_, response)) = frame.decode() {
            let version = response.sc_interface_version();
            self.is_3_4 &= version.is_none_or(|version| version >= crate::VERSION_3_4);
        }
        self.stage = Stage::Bound(kind);
        self.idle_since = now;
        self.events.push_back(SessionEvent::Bound { kind, frame });
    }

    fn on_response(&mut self, frame: Frame, now: Moment) {
        let Header { command, status, sequence, .. } = frame.header;
        if let Some(token) = self.window.free(sequence, command) {
            self.is_window_reduced &= !status.is_ok();
            self.events.push_back(SessionEvent::Response { token, frame });
            self.advance_drain(now);
        } else if self.enquiry.sequence == Some(sequence)
            && matches!(command, CommandId::ENQUIRE_LINK_RESP | CommandId::GENERIC_NACK)
        {
            self.enquiry.sequence = None;
        } else if self.timed_out.remove(sequence, command) {
            // The peer is slow, so a reduced window stays reduced.
            self.counters.late_responses = self.counters.late_responses.saturating_add(1);
            self.events.push_back(SessionEvent::LateResponse { sequence, frame });
        } else {
            self.count_unmatched(command);
        }
    }

    fn on_unknown(&mut self, sequence: u32, now: Moment) {
        self.counters.unknown_commands = self.counters.unknown_commands.saturating_add(1);
        self.send_header(CommandId::GENERIC_NACK, CommandStatus::INVCMDID, sequence);
        if self.unknown.is_full_after(now) {
            self.close(CloseReason::UnknownCommands);
        }
    }

    /// Counts a request in a wrong state, except while draining, which is not the peer's mistake.
    fn count_wrong_state(&mut self, column: StateColumn, now: Moment) {
        if column == StateColumn::Drain {
            return;
        }
        self.counters.wrong_state = self.counters.wrong_state.saturating_add(1);
        if self.wrong_state.is_full_after(now) {
            self.end(CloseReason::WrongState, now);
        }
    }

    fn count_unmatched(&mut self, command: CommandId) {
        if command.is_response() {
            self.counters.unmatched_responses = self.counters.unmatched_responses.saturating_add(1);
        }
    }

    pub(super) fn outstanding_index(&self, request: Header) -> Result<usize, RespondError> {
        let is_request =
            |open: &OpenRequest| open.sequence == request.sequence && open.command == request.command;
        self.open.iter().position(is_request).ok_or(RespondError::NotOpen)
    }

    pub(super) fn remove_outstanding(&mut self, at: usize, now: Moment) {
        self.open.remove(at);
        self.advance_drain(now);
    }
}
