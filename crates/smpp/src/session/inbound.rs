//! What a session does with the PDUs it reads, one by one, each by the gate's verdict.

use super::{CloseReason, Event, Moment, Session, Stage, gate};
use crate::{
    CommandId, CommandStatus, DecodeError, Frame, FrameError, Header, LinkFate, Pdu, next_frame,
    session::{
        AnswerRefused,
        gate::{Column, Role, Verdict},
        window::SEQUENCE_MAX,
    },
};

/// A request the application holds. Sequences may repeat: the peer's are echoed, not judged.
#[derive(Clone, Copy)]
pub(super) struct OpenRequest {
    sequence: u32,
    command: CommandId,
}

impl<T> Session<T> {
    /// Takes PDUs off the input until one makes an event or has to wait.
    pub(super) fn read_on(&mut self, now: Moment) {
        while self.events.is_empty() {
            if self.must_wait() {
                self.stalled = true;
                return;
            }
            if std::mem::take(&mut self.stalled) {
                self.resume(now);
            }
            match next_frame(&mut self.input, self.limits.pdu_bytes_max) {
                Ok(Some(frame)) => self.on_frame(frame, now),
                Ok(None) => break,
                Err(fault) => self.on_bad_frame(fault),
            }
        }
        if self.input.is_empty() {
            self.partial_since = None;
        } else {
            self.partial_since.get_or_insert(now);
        }
    }

    /// We read again after a pause of our own making, so the peer's silence counts from now.
    pub(super) fn resume(&mut self, now: Moment) {
        self.quiet_since = now;
        self.partial_since = self.partial_since.map(|_| now);
        self.enquiry.answer_by = self.enquiry.answer_by.map(|_| now.plus_ms(self.limits.enquire_wait_ms));
    }

    /// The next PDU may not be taken yet: a bind is being checked, the peer does not take our answers, or
    /// it is one request more than the application may hold. Enquiries and answers pass.
    fn must_wait(&self) -> bool {
        let Some(column) = self.column() else { return true };
        if self.role == Role::Server && matches!(self.stage, Stage::Binding(..)) {
            return true;
        }
        if self.output.len() >= self.limits.output_bytes_max {
            return true;
        }
        self.inbound_open() >= self.limits.inbound_max
            && Header::parse(&self.input)
                .is_some_and(|header| gate::decide(self.role, column, header.command) == Verdict::Deliver)
    }

    /// The stream cannot be trusted any more: one nack, one close.
    fn on_bad_frame(&mut self, fault: FrameError) {
        self.send_header(CommandId::GENERIC_NACK, FrameError::STATUS, fault.sequence.unwrap_or(0));
        self.close(CloseReason::BadFrame(fault.length));
    }

    pub(super) fn on_frame(&mut self, frame: Frame, now: Moment) {
        let Some(column) = self.column() else { return };
        self.seen.note(&frame);
        self.counters.pdus_in = self.counters.pdus_in.saturating_add(1);
        self.quiet_since = now;
        self.partial_since = None;
        // Whatever it is, the peer lives.
        self.enquiry.answer_by = None;
        self.enquiry.misses = 0;
        let Header { command, sequence, .. } = frame.header;
        if !command.is_answer() && !(1..=SEQUENCE_MAX).contains(&sequence) {
            self.counters.odd_sequences = self.counters.odd_sequences.saturating_add(1);
        }
        match gate::decide(self.role, column, command) {
            Verdict::Deliver => self.on_request(frame),
            Verdict::Settle => self.on_answer(frame, now),
            Verdict::Authenticate => self.on_bind(frame),
            Verdict::BindAnswered => self.on_bind_answer(frame, now),
            Verdict::Notify => self.on_notification(frame),
            Verdict::Refuse(status) => {
                if let Some(answer) = command.answer() {
                    self.send_header(answer, status, sequence);
                }
                self.note_wrong_state(column, now);
            }
            Verdict::Nack(status) => {
                self.send_header(CommandId::GENERIC_NACK, status, sequence);
                self.note_wrong_state(column, now);
            }
            Verdict::AnswerEnquiry => {
                self.send_header(CommandId::ENQUIRE_LINK_RESP, CommandStatus::OK, sequence);
            }
            Verdict::Unbind => self.on_unbind(sequence, now),
            Verdict::UnbindUnbound => {
                self.send_header(CommandId::UNBIND_RESP, CommandStatus::INVBNDSTS, sequence);
                self.close(CloseReason::PeerUnbound);
            }
            Verdict::UnbindAgain => self.on_unbind_again(sequence, now),
            Verdict::UnbindAnswered => self.on_unbind_answer(frame.header, now),
            Verdict::Ignore => self.note_unmatched(command),
            Verdict::Unknown => self.on_unknown(sequence, now),
        }
    }

    fn on_request(&mut self, frame: Frame) {
        let Header { command, sequence, .. } = frame.header;
        // 3.3 has no data_sm.
        if self.role == Role::Server && command == CommandId::DATA_SM && !self.is_3_4 {
            return self.send_header(CommandId::DATA_SM_RESP, CommandStatus::INVCMDID, sequence);
        }
        let read = match self.role {
            Role::Server => frame.decode().map(|_| ()),
            Role::Client => frame.decode_from_carrier().map(|_| ()),
        };
        match read {
            Ok(()) => {
                self.open.push_back(OpenRequest { sequence, command });
                self.events.push_back(Event::Request(frame));
            }
            Err(fault) => self.on_undecodable(fault),
        }
    }

    fn on_undecodable(&mut self, fault: DecodeError) {
        self.counters.undecodable = self.counters.undecodable.saturating_add(1);
        let status = match fault.status {
            // The TLV codes are of 3.4 only.
            CommandStatus(0xC0..=0xC4) if !self.is_3_4 => CommandStatus::SUBMITFAIL,
            status => status,
        };
        let answer = fault.header.command.answer().unwrap_or(CommandId::GENERIC_NACK);
        self.send_header(answer, status, fault.header.sequence);
        if fault.link == LinkFate::Close {
            self.close(CloseReason::BadBind(fault));
        }
    }

    fn on_notification(&mut self, frame: Frame) {
        match frame.decode() {
            Ok(_) => self.events.push_back(Event::Notification(frame)),
            Err(fault) => self.on_undecodable(fault),
        }
    }

    fn on_bind(&mut self, frame: Frame) {
        match frame.decode() {
            Ok(Pdu::Bind(kind, bind)) => {
                self.is_3_4 = bind.is_3_4();
                self.stage = Stage::Binding(kind, frame.header.sequence);
                self.events.push_back(Event::BindRequested(frame));
            }
            Ok(_) => {}
            Err(fault) => self.on_undecodable(fault),
        }
    }

    fn on_bind_answer(&mut self, frame: Frame, now: Moment) {
        let Header { command, status, sequence, .. } = frame.header;
        let Stage::Binding(kind, bind_sequence) = self.stage else { return };
        if sequence != bind_sequence || (command != kind.answer() && command != CommandId::GENERIC_NACK) {
            return self.note_unmatched(command);
        }
        if !status.is_ok() || command == CommandId::GENERIC_NACK {
            self.events.push_back(Event::BindRefused(status));
            return self.close(CloseReason::BindRefused(status));
        }
        // As `peer_is_3_4` documents: less is believed, silence is not doubted.
        if let Ok(Pdu::BindResp(_, answer)) = frame.decode() {
            let version = answer.sc_interface_version();
            self.is_3_4 &= version.is_none_or(|version| version >= crate::VERSION_3_4);
        }
        self.stage = Stage::Bound(kind);
        self.quiet_since = now;
        self.events.push_back(Event::Bound { kind, frame });
    }

    fn on_answer(&mut self, frame: Frame, now: Moment) {
        let Header { command, status, sequence, .. } = frame.header;
        if let Some(token) = self.window.settle(sequence, command) {
            self.narrowed &= !status.is_ok();
            self.events.push_back(Event::Answered { token, frame });
            self.advance_drain(now);
        } else if self.enquiry.sequence == Some(sequence)
            && matches!(command, CommandId::ENQUIRE_LINK_RESP | CommandId::GENERIC_NACK)
        {
            self.enquiry.sequence = None;
        } else if self.overdue.settle(sequence, command) {
            // It shows a slow peer, not a well one, so a narrowed window stays narrow.
            self.counters.late_answers = self.counters.late_answers.saturating_add(1);
            self.events.push_back(Event::LateAnswer { sequence, frame });
        } else {
            self.note_unmatched(command);
        }
    }

    fn on_unknown(&mut self, sequence: u32, now: Moment) {
        self.counters.unknown_commands = self.counters.unknown_commands.saturating_add(1);
        self.send_header(CommandId::GENERIC_NACK, CommandStatus::INVCMDID, sequence);
        if self.unknown.is_full_after(now) {
            self.close(CloseReason::UnknownCommands);
        }
    }

    /// A refusal while draining is our doing, not the peer's offence.
    fn note_wrong_state(&mut self, column: Column, now: Moment) {
        if column == Column::Drain {
            return;
        }
        self.counters.wrong_state = self.counters.wrong_state.saturating_add(1);
        if self.wrong_state.is_full_after(now) {
            self.end(CloseReason::WrongState, now);
        }
    }

    fn note_unmatched(&mut self, command: CommandId) {
        if command.is_answer() {
            self.counters.unmatched_answers = self.counters.unmatched_answers.saturating_add(1);
        }
    }

    pub(super) fn open_at(&self, request: Header) -> Result<usize, AnswerRefused> {
        let is_it = |open: &OpenRequest| open.sequence == request.sequence && open.command == request.command;
        self.open.iter().position(is_it).ok_or(AnswerRefused::NotOpen)
    }

    pub(super) fn close_request(&mut self, at: usize, now: Moment) {
        self.open.remove(at);
        self.advance_drain(now);
    }
}
