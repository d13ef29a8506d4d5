//! Applies commands to the model and compares their outcomes.

use super::world::{CARRIERS, World};
use hermod_domain::ids::{CarrierId, PartNo};
use hermod_domain::lifecycle::{PartEvent, PartState};
use hermod_domain::origin::MessageName;
use hermod_engine::commands::{
    AnyCommand, AnyOutcome, Cancel, CloseLink, ExpireParts, ForgetUnnamedParts, OptIn,
};
use hermod_engine::ops::{AcceptOutcome, CancelOutcome, DeferredParts, PostOutcome};
use hermod_engine::state::queues::QueueSnapshot;

impl World {
    /// Applies a command to the model and compares its outcome.
    pub(super) fn note(&mut self, command: &AnyCommand, outcome: AnyOutcome) {
        self.model.coverage.count(outcome.name(), 1);
        match (command, outcome) {
            (AnyCommand::Accept(acceptance), AnyOutcome::Accept(outcome)) => {
                self.model.accept(acceptance, &outcome);
                self.model.coverage.count(name_of(&outcome), 1);
            }
            (AnyCommand::Post(entry), AnyOutcome::Post(outcome)) => {
                let amount = entry.amount.as_micros();
                assert_eq!(matches!(outcome, PostOutcome::Posted { .. }), amount > 0, "{outcome:?}");
                *self.model.balance(entry.account) += amount;
            }
            (AnyCommand::OptOut(entry), AnyOutcome::OptOut(is_new)) => {
                let key = (entry.account, entry.number);
                assert_eq!(!self.model.opted_out.contains_key(&key), is_new);
                self.model.opted_out.entry(key).or_insert(entry.now);
            }
            (AnyCommand::OptIn(OptIn { account, number }), AnyOutcome::OptIn(was_out)) => {
                assert_eq!(self.model.opted_out.remove(&(*account, *number)).is_some(), was_out);
            }
            (AnyCommand::FindKey(find), AnyOutcome::FindKey(found)) => {
                assert_eq!(found, self.model.replay(&find.key), "a key");
            }
            (AnyCommand::FindVelocityRefusal(find), AnyOutcome::FindVelocityRefusal(over)) => {
                assert_eq!(over.is_some(), self.model.is_over_velocity(&find.limits), "{over:?}");
            }
            (AnyCommand::Cancel(cancel), AnyOutcome::Cancel(outcome)) => self.note_cancel(cancel, outcome),
            (AnyCommand::ExpireParts(lapse), AnyOutcome::ExpireParts(count)) => self.note_lapse(lapse, count),
            (AnyCommand::MoveWaiting(moves), AnyOutcome::MoveWaiting(count)) => {
                assert_eq!(self.model.move_waiting(moves), count, "messages moved");
            }
            (AnyCommand::CancelWaiting(cancel), AnyOutcome::CancelWaiting(count)) => {
                assert_eq!(self.model.cancel_waiting(cancel), count, "messages cancelled");
            }
            (AnyCommand::CloseLink(CloseLink { link, .. }), AnyOutcome::CloseLink(())) => {
                self.links.retain(|open| open.id != *link || !open.under_way.is_empty());
            }
            (AnyCommand::ReportLink(batch), AnyOutcome::ReportLink(())) => self.note_link(batch),
            (AnyCommand::ReadQueues(_), AnyOutcome::ReadQueues(queues)) => self.note_queues(queues),
            (AnyCommand::ReadWaitingParts(read), AnyOutcome::ReadWaitingParts(counts)) => {
                let expected = read.accounts.iter().map(|account| self.model.waiting_parts(*account));
                assert_eq!(counts, expected.collect::<Vec<_>>(), "parts that wait of {:?}", read.accounts);
            }
            (AnyCommand::ReleaseDue(_), AnyOutcome::ReleaseDue(())) => self.model.deliver_unfinished(),
            (command, outcome) => self.note_reports(command, outcome),
        }
    }

    /// Like `note`, for commands about reports, webhooks and MO messages.
    fn note_reports(&mut self, command: &AnyCommand, outcome: AnyOutcome) {
        let model = &mut self.model;
        match (command, outcome) {
            (AnyCommand::SettleReports(ends), AnyOutcome::SettleReports(())) => model.end_reports(ends),
            (AnyCommand::GiveUpOldReports(command), AnyOutcome::GiveUpOldReports(given_up)) => {
                assert_eq!(given_up, model.give_up_old_reports(command.connection), "reports given up");
            }
            (AnyCommand::ForgetGivenUp(_), AnyOutcome::ForgetGivenUp(count)) => {
                assert_eq!(count, model.forget_given_up(), "given-up reports");
            }
            (AnyCommand::MoveToWebhook(command), AnyOutcome::MoveToWebhook(moved)) => {
                assert_eq!(moved, model.move_to_webhook(command), "reports moved");
            }
            (AnyCommand::SettleWebhooks(ends), AnyOutcome::SettleWebhooks(())) => {
                ends.settled.iter().for_each(|settled| model.settle_webhook(settled));
            }
            (AnyCommand::ReplayWebhook(command), AnyOutcome::ReplayWebhook(outcome)) => {
                assert_eq!(outcome, model.replay_webhook(command), "{command:?}");
            }
            (AnyCommand::ReplayFailedWebhooks(command), AnyOutcome::ReplayFailedWebhooks(outcome)) => {
                assert_eq!(outcome, model.replay_failed(command), "{command:?}");
            }
            (AnyCommand::RetryWaitingWebhooks(command), AnyOutcome::RetryWaitingWebhooks(count)) => {
                assert_eq!(count, model.retry_waiting(command), "{command:?}");
            }
            (AnyCommand::ForgetWebhooks(command), AnyOutcome::ForgetWebhooks(count)) => {
                assert_eq!(count, model.forget_webhooks(command), "events forgotten");
            }
            (AnyCommand::LimitWebhookWaits(command), AnyOutcome::LimitWebhookWaits(count)) => {
                assert_eq!(count, model.limit_webhook_waits(command), "{command:?}");
            }
            (AnyCommand::Receive(inbound), AnyOutcome::Receive(record)) => {
                self.note_receive(inbound, &record)
            }
            (AnyCommand::AssignInbound(command), AnyOutcome::AssignInbound(record)) => {
                self.note_assign(command, record.as_ref());
            }
            (AnyCommand::ForgetRepeats(command), AnyOutcome::ForgetRepeats(count)) => {
                assert_eq!(count, model.mo.forget_repeats(command.now), "repeats");
            }
            (AnyCommand::ForgetUnassigned(command), AnyOutcome::ForgetUnassigned(count)) => {
                self.note_forget_unassigned(command, count);
            }
            (AnyCommand::ForgetConversations(command), AnyOutcome::ForgetConversations(())) => {
                self.note_forget_conversations(command);
            }
            (command, outcome) => self.note_purged(command, outcome),
        }
    }

    /// Like `note`, for commands that delete and erase. Other commands do not change the model.
    fn note_purged(&mut self, command: &AnyCommand, outcome: AnyOutcome) {
        let model = &mut self.model;
        match (command, outcome) {
            (AnyCommand::PurgeTexts(command), AnyOutcome::PurgeTexts(count)) => {
                assert_eq!(count, model.purge_texts(command.keep), "texts purged");
            }
            (AnyCommand::PurgeRecords(command), AnyOutcome::PurgeRecords(count)) => {
                assert_eq!(count, model.purge_records(command.keep), "records purged");
            }
            (AnyCommand::ExpireKeys(command), AnyOutcome::ExpireKeys(_)) => model.expire_keys(command.keep),
            (AnyCommand::PurgeCarrierIds(_), AnyOutcome::PurgeCarrierIds(_)) => model.purge_carrier_ids(),
            (AnyCommand::PurgeInbound(command), AnyOutcome::PurgeInbound(count)) => {
                let (account, before) = (command.account, command.before);
                assert_eq!(count, model.purge_inbound(account, before), "MO messages purged");
            }
            (AnyCommand::GiveUpParked(_), AnyOutcome::GiveUpParked(count)) => {
                assert_eq!(count, model.give_up_parked(), "receipts given up");
            }
            (AnyCommand::Rematch(command), AnyOutcome::Rematch(count)) => {
                assert_eq!(count, model.rematch(command), "receipts matched");
            }
            (AnyCommand::ForgetUnnamedParts(command), AnyOutcome::ForgetUnnamedParts(())) => {
                let ForgetUnnamedParts { parts, before } = command;
                let is_named = |message, part| {
                    parts.iter().any(|named| (named.part.message, named.part.part) == (message, part))
                };
                model.unnamed.retain(|part| part.at >= *before || !is_named(part.message, part.part));
            }
            (AnyCommand::EraseMessages(command), AnyOutcome::EraseMessages(outcome)) => {
                assert_eq!(outcome, model.erase_messages(&command.ids), "messages erased");
                model.coverage.count("messages erased", outcome.0);
            }
            (AnyCommand::EraseCarrierIds(command), AnyOutcome::EraseCarrierIds(())) => {
                model.erase_carrier_ids(&command.ids);
            }
            (AnyCommand::EraseInbound(command), AnyOutcome::EraseInbound(())) => {
                model.erase_inbound(&command.keys);
            }
            (AnyCommand::EraseOthers(command), AnyOutcome::EraseOthers(count)) => {
                assert_eq!(count, model.erase_others(command.0.number), "other rows erased");
            }
            _ => {}
        }
    }

    fn note_cancel(&mut self, cancel: &Cancel, outcome: CancelOutcome) {
        let message = match cancel.name {
            MessageName::Id(message) => Some(message),
            MessageName::Alias(alias) => self.model.named(cancel.account, alias),
        };
        let entry = message.and_then(|message| self.model.messages.get(&message));
        let expected = match entry {
            None => CancelOutcome::NotFound,
            // Its sender and recipient are erased.
            Some(entry) if entry.can_be_cancelled() => CancelOutcome::Cancelled,
            Some(_) => CancelOutcome::TooLate,
        };
        assert_eq!(outcome, expected, "{message:?}");
        if let (CancelOutcome::Cancelled, Some(message)) = (outcome, message) {
            self.model.coverage.count("cancelled", 1);
            self.model.apply_event(message, PartNo::FIRST, PartEvent::Withdrawn);
        }
    }

    fn note_lapse(&mut self, lapse: &ExpireParts, count: usize) {
        let due = self.model.lapsed(lapse.now, &self.model.setup().catalogue);
        let mut lapsed = 0;
        for (key, part) in &lapse.parts {
            let found = due.iter().find(|(message, no, _)| (*message, *no) == (key.message, *part));
            let Some((message, part, event)) = found else { continue };
            let entry = &self.model.messages[message];
            // The end of one part may end the message.
            if entry.key(*message) == *key && !entry.has_ended() {
                lapsed += 1;
                self.model.apply_event(*message, *part, *event);
            }
        }
        assert_eq!(count, lapsed, "lapsed parts");
    }

    /// Compares the queue counts of each carrier with the model.
    fn note_queues(&self, queues: Vec<QueueSnapshot>) {
        for snapshot in queues {
            let queue = snapshot
                .complete(&|_, _| Ok(None), &|_| Ok(DeferredParts::default()))
                .expect("nothing is read");
            let count = |states| u64::try_from(self.model.count(queue.carrier, states)).expect("a few");
            assert!(CARRIERS.contains(&queue.carrier) || queue.carrier == CarrierId::HELD);
            let waiting = count(&[PartState::Queued, PartState::InDoubt]);
            assert_eq!(queue.waiting, waiting, "parts that wait for {}", queue.carrier);
            let in_flight = count(&[PartState::Sending]);
            assert_eq!(queue.in_flight, in_flight, "parts in flight to {}", queue.carrier);
        }
    }
}

fn name_of(outcome: &AcceptOutcome) -> &'static str {
    match outcome {
        AcceptOutcome::Accepted { .. } => "accepted",
        AcceptOutcome::Duplicate(_) => "key used before",
        AcceptOutcome::OptedOut => "opted out",
        AcceptOutcome::OverVelocity(_) => "over a control",
        AcceptOutcome::OverDailyLimit(_) => "over the daily limit",
        AcceptOutcome::NoAliasFree => "no alias free",
        AcceptOutcome::InsufficientCredit { .. } => "without credit",
    }
}
