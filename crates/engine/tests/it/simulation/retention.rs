//! Purging of texts, records, idempotency keys, carrier ids and MO messages; nothing unfinished is deleted.

use super::commands::account;
use super::model::Model;
use super::parts_without_id::{self, DAYS_KEPT};
use super::world::World;
use hermod_domain::ids::MessageId;
use hermod_domain::lifecycle::PartState;
use hermod_domain::time::Timestamp;
use hermod_engine::commands::{
    AnyCommand, DropOldFigures, ExpireKeys, PurgeCarrierIds, PurgeInbound, PurgeRecords, PurgeTexts,
};
use hermod_engine::ops::Retention;
use hermod_engine::retention::PURGED_PER_STEP_MAX;
use hermod_engine::state::idempotency_keys::{KeyLimits, next_step};
use std::time::Duration;

const DAY: Duration = Duration::from_secs(86_400);
const KEEP: Retention = Retention {
    text: Duration::from_secs(2 * 86_400),
    messages: Duration::from_secs(6 * 86_400),
    idempotency_keys: Duration::from_secs(4 * 86_400),
    inbound: Duration::from_secs(3 * 86_400),
    requests: Duration::from_secs(7 * 86_400),
};
/// The retention of a record after the last report of its message.
const QUIET: Duration = Duration::from_secs(40 * 86_400);
/// Few keys, so that they are sealed and merged often.
pub(super) const KEY_LIMITS: KeyLimits = KeyLimits { sealed_keys: 16, filter_bytes: 192 };

pub(super) fn purge_texts(world: &mut World) -> Option<AnyCommand> {
    Some(PurgeTexts { keep: KEEP, now: world.now }.into())
}

pub(super) fn purge_records(world: &mut World) -> Option<AnyCommand> {
    Some(PurgeRecords { keep: KEEP, now: world.now }.into())
}

pub(super) fn expire_keys(world: &mut World) -> Option<AnyCommand> {
    Some(ExpireKeys { keep: KEEP, now: world.now }.into())
}

/// Returns the next merge step, or one that was found before.
pub(super) fn merge_keys(world: &mut World) -> Option<AnyCommand> {
    let step = next_step(&world.tables, KEY_LIMITS).expect("keys can be read")?;
    if world.random.once_in(4) {
        world.key_step = Some(step);
        return None;
    }
    let step = world.key_step.take().filter(|_| world.random.once_in(2)).unwrap_or(step);
    Some(step.into())
}

pub(super) fn purge_others(world: &mut World) -> Option<AnyCommand> {
    let now = world.now;
    match world.random.below(6) {
        0 => Some(PurgeCarrierIds { now }.into()),
        1 => Some(PurgeInbound { account: account(world), before: now.minus(KEEP.inbound) }.into()),
        2 => Some(DropOldFigures { today: now.day() }.into()),
        3 => parts_without_id::give_up_parked(world),
        4 => parts_without_id::rematch(world),
        _ => parts_without_id::forget(world),
    }
}

fn step_max() -> usize {
    usize::try_from(PURGED_PER_STEP_MAX).expect("a few")
}

impl Model {
    /// Returns the messages between two ids that one step handles.
    fn next_messages(&self, after: Option<MessageId>, before: MessageId) -> Vec<MessageId> {
        let behind = self.messages.keys().copied().filter(|message| Some(*message) > after);
        behind.take_while(|message| *message < before).take(step_max()).collect()
    }

    /// Deletes texts that are no longer needed. Returns the count.
    pub(super) fn purge_texts(&mut self, keep: Retention) -> u64 {
        let before = MessageId::first_at(self.now.minus(keep.text));
        let mut done = 0;
        for message in self.next_messages(self.texts_purged.max(self.records_purged), before) {
            let entry = self.messages.get_mut(&message).expect("one of them");
            if entry.has_part_in(&[PartState::Queued, PartState::InDoubt, PartState::Sending]) {
                break;
            }
            entry.has_text = false;
            self.texts_purged = Some(message);
            done += 1;
        }
        done
    }

    /// Expires old keys.
    pub(super) fn expire_keys(&mut self, keep: Retention) {
        let day = self.now.minus(keep.idempotency_keys.min(keep.messages)).day();
        let before = MessageId::first_at(day.start());
        self.keys.retain(|_, (message, _)| *message >= before);
    }

    /// Deletes records of messages without reports for long. Returns the count.
    pub(super) fn purge_records(&mut self, keep: Retention) -> u64 {
        self.expire_keys(keep);
        let before = MessageId::first_at(self.now.minus(keep.messages).day().start());
        let mut done = 0;
        for message in self.next_messages(self.records_purged, before) {
            if self.has_open_reports(message) {
                break;
            }
            self.forget(message);
            self.records_purged = Some(message);
            done += 1;
        }
        done
    }

    fn has_open_reports(&self, message: MessageId) -> bool {
        let entry = &self.messages[&message];
        let is_lately = |at: Timestamp| at > self.now.minus(QUIET);
        if let Some(settled_at) = entry.settled_at {
            return is_lately(settled_at);
        }
        let is_done = |state: PartState| matches!(state, PartState::Overdue | PartState::Delivered);
        !entry.progress.parts.iter().all(|part| is_done(part.state))
            || entry.unknown_at.is_some_and(is_lately)
    }

    /// Deletes carrier ids of old days.
    pub(super) fn purge_carrier_ids(&mut self) {
        let today = self.now.day();
        self.tied.retain(|_, days| {
            days.retain(|tied| tied.at.day().get() + DAYS_KEPT >= today.get());
            !days.is_empty()
        });
    }
}

const _: () = assert!(KEEP.messages.as_secs() > DAY.as_secs());
