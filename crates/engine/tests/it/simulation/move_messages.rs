//! Messages that move to another carrier: because theirs is down, after temporary errors, and after rejections.

use super::commands::{carrier_cost, pick_message};
use super::model::{EarlierCarrier, Model, Tries, WAITING};
use super::world::{CARRIERS, World};
use hermod_domain::ids::{AccountId, CarrierId, MessageId, PartNo};
use hermod_domain::lifecycle::{Part, PartEvent, PartState};
use hermod_engine::commands::{AnyCommand, CancelWaiting, MoveWaiting};
use hermod_engine::ops::{Move, TargetCarrier};
use hermod_engine::tables::MessageKey;
use smallvec::SmallVec;
use std::time::Duration;

/// Temporary errors of a part before its message moves to another carrier.
const FAILURES_BEFORE_FAILOVER: u32 = 2;
/// How long a message waits for a carrier that throttles its recipient.
const THROTTLED_WAIT_MAX: Duration = Duration::from_secs(10);
/// The number of newest unfinished messages from which moves are chosen.
const NEWEST_MAX: usize = 60;
/// Messages that one command moves at most.
const MOVED_MAX: u64 = 5;

/// Returns another carrier, or by mistake the same.
pub(super) fn elsewhere(world: &mut World) -> TargetCarrier {
    let (carrier, whole) = (world.random.one_of(&CARRIERS), world.random.once_in(3));
    TargetCarrier { carrier, whole, cost: carrier_cost(world, whole) }
}

/// Cancels some messages for the operator. Some of them may be at another carrier, sent, or in doubt.
pub(super) fn cancel_waiting(world: &mut World) -> Option<AnyCommand> {
    let mut keys = Vec::new();
    for _ in 0..=world.random.below(MOVED_MAX) {
        let Some((message, account)) = pick_waiting(world).or_else(|| pick_message(world)) else { break };
        let of_message = world.model.messages[&message].carrier;
        let carrier = if world.random.once_in(10) { world.random.one_of(&CARRIERS) } else { of_message };
        keys.push(MessageKey { carrier, account, message });
    }
    let stops_sent = world.random.once_in(3);
    Some(CancelWaiting { keys, stops_sent, now: world.now }.into())
}

/// Moves some messages of a carrier, some of them to the queue that an operator holds. Some of them may be at another carrier,
/// or no longer queued.
pub(super) fn move_waiting(world: &mut World) -> Option<AnyCommand> {
    let mut moves = Vec::new();
    for _ in 0..=world.random.below(MOVED_MAX) {
        let Some((message, account)) = pick_waiting(world).or_else(|| pick_message(world)) else { break };
        let entry = &world.model.messages[&message];
        let from = if world.random.once_in(10) { world.random.one_of(&CARRIERS) } else { entry.carrier };
        let mut to = elsewhere(world);
        if world.random.once_in(8) {
            to.carrier = CarrierId::HELD;
        }
        if !moves.iter().any(|other: &Move| other.message == message) {
            moves.push(Move { message, account, from, to });
        }
    }
    Some(MoveWaiting { moves, now: world.now }.into())
}

/// Returns one of the newest queued messages, mostly.
fn pick_waiting(world: &mut World) -> Option<(MessageId, AccountId)> {
    let newest = world.model.open().rev().take(NEWEST_MAX).filter(|(_, entry)| entry.has_part_in(&WAITING));
    let newest: Vec<_> = newest.map(|(message, entry)| (message, entry.account)).collect();
    if newest.is_empty() || world.random.once_in(4) {
        return None;
    }
    Some(newest[world.random.index(newest.len())])
}

impl Model {
    /// Moves queued messages of which no carrier may have a part. Returns the count.
    pub(super) fn move_waiting(&mut self, command: &MoveWaiting) -> usize {
        let mut moved = 0;
        for Move { message, from, to, .. } in &command.moves {
            let Some(entry) = self.messages.get(message) else { continue };
            if !entry.has_ended() && entry.carrier == *from && *from != to.carrier && self.is_ours(*message) {
                self.move_message(*message, *to);
                moved += 1;
            }
        }
        moved
    }

    /// Cancels messages that wait for this carrier and that no carrier may have. Returns the count.
    pub(super) fn cancel_waiting(&mut self, command: &CancelWaiting) -> usize {
        let (mut cancelled, mut stopped) = (0, 0);
        for MessageKey { carrier, message, .. } in &command.keys {
            let Some(entry) = self.messages.get(message).filter(|entry| entry.carrier == *carrier) else {
                continue;
            };
            if entry.can_be_cancelled() {
                self.apply_event(*message, PartNo::FIRST, PartEvent::Withdrawn);
                cancelled += 1;
            } else if command.stops_sent && self.stop(*message) {
                stopped += 1;
            }
        }
        self.coverage.count("cancelled by the operator", cancelled);
        self.coverage.count("stopped by the operator", stopped);
        usize::try_from(cancelled + stopped).expect("a few")
    }

    /// Sends nothing more of a message that a carrier may have. Returns whether anything of it waited.
    fn stop(&mut self, message: MessageId) -> bool {
        let entry = &self.messages[&message];
        if !entry.has_part_in(&WAITING) || entry.has_part_in(&[PartState::Sending]) {
            return false;
        }
        let parts: Vec<_> = entry.parts().filter(|(part, _)| WAITING.contains(&part.state)).collect();
        for (_, no) in parts.iter().filter(|(part, _)| part.doubts > 0) {
            self.apply_event(message, *no, PartEvent::ValidityEnded);
        }
        if let Some((_, no)) = parts.iter().find(|(part, _)| part.doubts == 0) {
            self.apply_event(message, *no, PartEvent::Withdrawn);
        }
        true
    }

    /// Returns whether no carrier has any part of a message, or may have.
    fn is_ours(&self, message: MessageId) -> bool {
        let entry = &self.messages[&message];
        let is_ours = |(part, no): (Part, PartNo)| match part.state {
            PartState::Queued => true,
            PartState::InDoubt => entry.tries[no.index()].due_at.is_none_or(|due_at| due_at <= self.now),
            _ => false,
        };
        entry.parts().all(is_ours)
    }

    fn can_move_to(&self, message: MessageId, to: CarrierId) -> bool {
        let entry = &self.messages[&message];
        to != entry.carrier && !entry.refused_by.contains(&to)
    }

    /// Moves a message to another carrier, in the parts that it takes. Each new part gets the highest counts of the old
    /// ones.
    fn move_message(&mut self, message: MessageId, to: TargetCarrier) {
        let entry = self.messages.get_mut(&message).expect("a message that waits");
        let submitted = std::mem::take(&mut entry.submitted);
        if entry.progress.parts.iter().any(|part| part.doubts > 0) {
            let (carrier, cost) = (entry.carrier, entry.carrier_cost);
            entry.earlier.push(EarlierCarrier { carrier, submitted, cost });
            self.coverage.count("moved after no response", 1);
        }
        entry.carrier = to.carrier;
        entry.carrier_cost = to.cost;
        entry.tries.iter_mut().for_each(|tries| tries.due_at = None);
        let submits = usize::from(if to.whole { 1 } else { entry.charged });
        if entry.progress.parts.len() != submits {
            let parts = &entry.progress.parts;
            let is_in_doubt = parts.iter().any(|part| part.state == PartState::InDoubt);
            let state = if is_in_doubt { PartState::InDoubt } else { PartState::Queued };
            let doubts = parts.iter().map(|part| part.doubts).max().unwrap_or(0);
            let attempts = entry.tries.iter().map(|tries| tries.attempts).max().unwrap_or(0);
            entry.progress.parts = SmallVec::from_elem(Part { state, doubts }, submits);
            entry.tries = vec![Tries { attempts, due_at: None }; submits];
        }
        self.touched.insert(message);
    }

    fn fail_over(&mut self, message: MessageId, to: TargetCarrier) {
        self.move_message(message, to);
        self.coverage.count("failed over", 1);
        if let Some(entry) = self.messages.get_mut(&message) {
            entry.has_failed_over = true;
        }
    }

    /// Applies a temporary error of a part.
    pub(super) fn temporary_error(
        &mut self,
        message: MessageId,
        part: PartNo,
        after: Option<Duration>,
        otherwise: Option<TargetCarrier>,
    ) {
        if !self.apply_event(message, part, PartEvent::Deferred) {
            return;
        }
        let now = self.now;
        let entry = self.messages.get_mut(&message).expect("a message that waits");
        entry.tries[part.index()].attempts += 1;
        let failures = entry.tries.iter().map(|tries| tries.attempts).max().unwrap_or(0);
        let Some(to) = otherwise else { return };
        if failures >= FAILURES_BEFORE_FAILOVER
            && self.can_move_to(message, to.carrier)
            && self.is_ours(message)
        {
            self.fail_over(message, to);
            if failures > FAILURES_BEFORE_FAILOVER {
                let due_at = now.plus(after.expect("an answer with another carrier has a wait"));
                let entry = self.messages.get_mut(&message).expect("a message that waits");
                entry.tries.iter_mut().for_each(|tries| tries.due_at = Some(due_at));
            }
        }
    }

    /// Applies throttling of a part's recipient.
    pub(super) fn step_aside(
        &mut self,
        message: MessageId,
        part: PartNo,
        event: PartEvent,
        wait: Duration,
        otherwise: Option<TargetCarrier>,
    ) {
        if !self.apply_event(message, part, event) {
            return;
        }
        let entry = &self.messages[&message];
        let has_waited = self.now >= message.accepted_at().plus(THROTTLED_WAIT_MAX);
        let may_move = has_waited && !entry.has_failed_over;
        match otherwise {
            Some(to) if may_move && self.can_move_to(message, to.carrier) && self.is_ours(message) => {
                self.fail_over(message, to);
            }
            _ => self.defer(message, part, self.now.plus(wait)),
        }
    }

    /// Applies a permanent rejection of a part. Another carrier may get the message once no part is in flight.
    pub(super) fn refused(
        &mut self,
        message: MessageId,
        part: PartNo,
        event: PartEvent,
        otherwise: Option<TargetCarrier>,
    ) {
        let Some(entry) = self.messages.get(&message).filter(|entry| !entry.has_ended()) else { return };
        let others = || entry.parts().filter(|(_, no)| *no != part);
        let is_under_way = others().any(|(other, _)| other.state == PartState::Sending);
        let is_ours = |(other, no): (Part, PartNo)| match other.state {
            PartState::Queued | PartState::Sending => true,
            PartState::InDoubt => entry.tries[no.index()].due_at.is_none_or(|due_at| due_at <= self.now),
            _ => false,
        };
        let to = otherwise.filter(|to| others().all(is_ours) && self.can_move_to(message, to.carrier));
        let Some(to) = to else {
            self.apply_event(message, part, event);
            return;
        };
        self.apply_event(message, part, PartEvent::Deferred);
        let entry = self.messages.get_mut(&message).expect("a message that waits");
        entry.tries[part.index()].attempts += 1;
        entry.refused_by.insert(entry.carrier);
        if !is_under_way {
            self.fail_over(message, to);
        }
    }
}
