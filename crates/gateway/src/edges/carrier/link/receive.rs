//! Receives DLRs and MO messages on a link, and answers them once they are stored.

use super::CarrierLink;
use crate::edges::carrier::deliver_sm::{self, Incoming, read_request};
use crate::live_status::AlarmKind;
use hermod_domain::inbound::InboundPart;
use hermod_smpp::{CommandId, CommandStatus, DataSmResp, DeliverSmResp, Frame, Header, Pdu};
use hermod_store::{MoRecord, ReceiptOutcome, RecordedReceipt};

impl CarrierLink<'_> {
    pub(super) fn on_request(&mut self, frame: &Frame) {
        let header = frame.header;
        let profile = self.group.profile();
        let incoming = read_request(frame, deliver_sm::dialect(profile), profile.alphabet, |field| {
            self.group.field_was_cut(field);
        });
        if matches!(incoming, Incoming::Receipt(_)) && header.command == CommandId::DATA_SM {
            self.data_sms.push(header.sequence);
        }
        match incoming {
            Incoming::Receipt(receipt) => {
                self.figures.receipt();
                if let Some(word) = &receipt.word {
                    let detail = "a receipt has an unknown stat; the state of its part did not change";
                    self.group.raise(AlarmKind::UnknownStat, word, detail);
                }
                self.receipts.push(receipt);
            }
            Incoming::Message(part) => self.on_message(header, *part),
            Incoming::Other => self.refuse(header, CommandStatus::INVCMDID),
        }
    }

    /// Queues an MO message for the store. If it cannot be stored now, refuses it with a temporary error, so that the
    /// carrier delivers it again.
    fn on_message(&mut self, header: Header, part: InboundPart) {
        self.figures.inbound();
        if !self.group.gateway.store.is_accepting() {
            return self.refuse(header, CommandStatus::MSGQFUL);
        }
        if self.port.is_none() {
            return self.refuse(header, CommandStatus::X_T_APPN);
        }
        if header.command == CommandId::DATA_SM {
            self.data_sms.push(header.sequence);
        }
        self.inbound.push(MoRecord { sequence: header.sequence, part });
    }

    fn refuse(&mut self, header: Header, status: CommandStatus) {
        let now = self.group.gateway.clock.moment();
        if let Err(error) = self.session.reject(header, status, now) {
            tracing::debug!(%error, "Session ended before a request could be refused");
        }
    }

    /// Answers receipts that the store has recorded.
    pub(super) fn on_recorded(&mut self, recorded: Vec<RecordedReceipt>) {
        for RecordedReceipt { sequence, outcome } in recorded {
            if !outcome.is_matched() {
                self.figures.unmatched_receipts(1);
            }
            if outcome == ReceiptOutcome::Ambiguous {
                let detail = "a receipt matches several parts; it is kept and applied to none of them";
                self.group.raise(AlarmKind::AmbiguousReceipt, "", detail);
            }
            if outcome == ReceiptOutcome::Dropped {
                tracing::warn!(carrier.id = %self.group.id(), "Dropped a receipt without a message id");
            }
            self.acknowledge(sequence);
        }
    }

    /// Answers MO messages that are stored.
    pub(super) fn on_received(&mut self, received: Vec<u32>) {
        received.into_iter().for_each(|sequence| self.acknowledge(sequence));
    }

    fn acknowledge(&mut self, sequence: u32) {
        let as_data_sm = self.data_sms.iter().position(|open| *open == sequence);
        let (command, answer) = match as_data_sm {
            None => (CommandId::DELIVER_SM, Pdu::DeliverSmResp(DeliverSmResp::default())),
            Some(place) => {
                self.data_sms.swap_remove(place);
                (CommandId::DATA_SM, Pdu::DataSmResp(DataSmResp::default()))
            }
        };
        let request = Header { length: 0, command, status: CommandStatus::OK, sequence };
        let now = self.group.gateway.clock.moment();
        // If the session has ended meanwhile, the carrier sends it again.
        let _ = self.session.respond(request, &answer, now);
    }
}
