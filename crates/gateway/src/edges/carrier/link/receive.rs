//! What a carrier sends by itself: receipts, and messages from handsets.

use super::Link;
use crate::board::AlarmKind;
use crate::edges::carrier::deliver_sm::{self, Incoming, read_request};
use hermod_domain::inbound::InboundPart;
use hermod_smpp::{CommandId, CommandStatus, DataSmResp, DeliverSmResp, Frame, Header, Pdu};
use hermod_store::{MoRecord, ReceiptOutcome, RecordedReceipt};

impl Link<'_> {
    pub(super) fn on_request(&mut self, frame: &Frame) {
        let header = frame.header;
        let profile = self.account.profile();
        let incoming = read_request(frame, deliver_sm::dialect(profile), profile.alphabet, |field| {
            self.account.field_was_cut(field);
        });
        if matches!(incoming, Incoming::Receipt(_)) && header.command == CommandId::DATA_SM {
            self.data_sms.push(header.sequence);
        }
        match incoming {
            Incoming::Receipt(receipt) => {
                self.figures.receipt();
                if let Some(word) = &receipt.word {
                    let detail = "a receipt has a word that nobody knows; its part stays as it is";
                    self.account.raise(AlarmKind::UnknownWord, word, detail);
                }
                self.receipts.push(receipt);
            }
            Incoming::Message(part) => self.on_message(header, *part),
            Incoming::Other => self.refuse(header, CommandStatus::INVCMDID),
        }
    }

    /// What cannot be stored now stays with the carrier, which brings it again.
    fn on_message(&mut self, header: Header, part: InboundPart) {
        self.figures.inbound();
        if !self.account.world.store.is_accepting() {
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
        let now = self.smpp_now();
        if let Err(error) = self.session.refuse(header, status, now) {
            tracing::debug!(%error, "A request was gone before it could be refused");
        }
    }

    /// Receipts are recorded: they may be answered.
    pub(super) fn on_recorded(&mut self, recorded: Vec<RecordedReceipt>) {
        for RecordedReceipt { sequence, outcome } in recorded {
            if !outcome.is_matched() {
                self.figures.unmatched_receipts(1);
            }
            if outcome == ReceiptOutcome::Ambiguous {
                let detail =
                    "a receipt could be about several parts; it is kept, and none of them is settled";
                self.account.raise(AlarmKind::AmbiguousReceipt, "", detail);
            }
            if outcome == ReceiptOutcome::Dropped {
                tracing::warn!(carrier.id = %self.account.id(), "A receipt without a message id was dropped");
            }
            self.acknowledge(sequence);
        }
    }

    /// Messages from handsets are stored: they may be answered.
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
        let now = self.smpp_now();
        // The session may have ended while it was being recorded; the carrier will send it again.
        let _ = self.session.answer(request, &answer, now);
    }
}
