//! What commands do to the model, and whether their outcomes are those that it expects.

use super::world::World;
use hermod_domain::ids::PartNo;
use hermod_domain::lifecycle::Event;
use hermod_domain::origin::MessageName;
use hermod_engine::commands::{AnyCommand, AnyOutcome, Cancel, CloseLink, Lapse, OptIn};
use hermod_engine::ops::{Answer, AnswerRecord, Cancelled, LinkBatch, PostOutcome, ReceiptRecord};

impl World {
    /// Notes what a command did, and compares its outcome.
    pub(super) fn note(&mut self, command: &AnyCommand, outcome: AnyOutcome) {
        match (command, outcome) {
            (AnyCommand::Accept(acceptance), AnyOutcome::Accept(outcome)) => {
                let wish = acceptance.origin.as_ref().map(|origin| origin.wish);
                let wants = wish.is_some_and(|wish| wish.success && wish.failure);
                self.model.accept(acceptance, &outcome, wants);
            }
            (AnyCommand::Post(entry), AnyOutcome::Post(outcome)) => {
                let amount = entry.amount.as_micros();
                assert_eq!(matches!(outcome, PostOutcome::Posted { .. }), amount > 0, "{outcome:?}");
                *self.model.balance(entry.account) += amount;
            }
            (AnyCommand::OptOut(entry), AnyOutcome::OptOut(is_new)) => {
                assert_eq!(self.model.opted_out.insert((entry.account, entry.number)), is_new);
            }
            (AnyCommand::OptIn(OptIn { account, number }), AnyOutcome::OptIn(was_out)) => {
                assert_eq!(self.model.opted_out.remove(&(*account, *number)), was_out);
            }
            (AnyCommand::Cancel(cancel), AnyOutcome::Cancel(outcome)) => self.note_cancel(cancel, outcome),
            (AnyCommand::Lapse(lapse), AnyOutcome::Lapse(_)) => self.note_lapse(lapse),
            (AnyCommand::CloseLink(CloseLink { link, .. }), AnyOutcome::CloseLink(())) => {
                self.links.retain(|open| open.id != *link || !open.under_way.is_empty());
            }
            (AnyCommand::ReportLink(batch), AnyOutcome::ReportLink(())) => self.note_link(batch),
            _ => {}
        }
    }

    fn note_cancel(&mut self, cancel: &Cancel, outcome: Cancelled) {
        let MessageName::Id(message) = cancel.name else { panic!("only ids are cancelled here") };
        let entry = &self.model.messages[&message];
        let expected = if entry.can_be_cancelled() { Cancelled::Done } else { Cancelled::TooLate };
        assert_eq!(outcome, expected, "{message} is {:?}", entry.progress);
        if outcome == Cancelled::Done {
            self.model.happens(message, PartNo::FIRST, Event::Withdrawn);
        }
    }

    fn note_lapse(&mut self, lapse: &Lapse) {
        let due = self.model.lapsed(lapse.now, &self.catalogue);
        for (place, part) in &lapse.parts {
            let found = due.iter().find(|(message, no, _)| (*message, *no) == (place.message, *part));
            if let Some((message, part, event)) = found {
                self.model.happens(*message, *part, *event);
            }
        }
    }

    fn note_link(&mut self, batch: &LinkBatch) {
        for AnswerRecord { message, part, answer, .. } in &batch.answers {
            let doubt = self.model.messages[message].doubt;
            self.model.happens(*message, *part, World::event_of(answer, doubt));
            if let Answer::Accepted(remote) = answer {
                self.model.tie(remote, *message, *part);
            }
        }
        for ReceiptRecord { remote, verdict, .. } in &batch.receipts {
            self.model.receipt(remote.as_ref().expect("every receipt here has an id"), *verdict);
        }
    }
}
