//! Taking what waits for a carrier that cannot send to one that can. A link that is lost comes back in seconds mostly,
//! and what waits for it keeps its place; only when a carrier has not been able to send for a while do its messages
//! take the next best way their route of the moment offers. What a carrier may have taken stays with it. From a carrier
//! that sends but throttles only those messages are taken that have waited long, and only to a carrier that does well.
//!
//! No carrier is given more than it can send soon: a long queue would wait there as well, and would be taken to and fro
//! if that carrier went away too.

use crate::app::watch_queues::watch_queues;
use crate::board::SLOW_AFTER;
use crate::clock::Moment;
use crate::world::World;
use hermod_domain::carrier::Health;
use hermod_domain::catalogue::Catalogue;
use hermod_domain::ids::CarrierId;
use hermod_domain::numbers::Numbers;
use hermod_domain::route::Sending;
use hermod_domain::time::Timestamp;
use hermod_store::{CarrierQueue, Move, QueuePosition, StoreError, TargetCarrier, WaitingMessage};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How long a carrier may be unable to send before its queue is taken elsewhere.
pub const FAIL_OVER_AFTER: Duration = Duration::from_secs(10);
/// How often carriers are looked at.
pub const LOOK_EVERY: Duration = Duration::from_secs(2);
/// A carrier is given what it can send in this time, with what waits for it already.
const WORK_AHEAD_S: u64 = 10;
/// Messages looked at between two writes.
const PAGE_MESSAGES: u32 = 500;
/// Pages of one carrier's queue that are read at a look; the next look reads on. Most of a queue may have nowhere to go.
const PAGES_PER_LOOK: usize = 20;

/// The carriers whose queues are taken elsewhere, or will be.
#[derive(Default)]
pub struct FailOver {
    troubled: Mutex<HashMap<CarrierId, Troubled>>,
}

/// Why messages leave a carrier's queue.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Why {
    /// It cannot send.
    Unable,
    /// It sends, and throttles.
    Slow,
}

#[derive(Clone, Copy)]
struct Troubled {
    why: Why,
    since: Moment,
    /// How far its queue was looked through; from the beginning again at the end.
    looked_to: Option<QueuePosition>,
}

impl FailOver {
    /// Looks at every carrier once, and moves what can be moved.
    pub async fn look(&self, world: &World) -> Result<(), StoreError> {
        let queues = world.store.queues().await?;
        watch_queues(world, &queues);
        let troubled = self.troubled(world);
        if troubled.is_empty() {
            return Ok(());
        }
        let mut room = Room::of(world, &queues);
        for (carrier, Troubled { why, looked_to, .. }) in troubled {
            let (moved, looked_to) = move_queue(world, carrier, why, looked_to, &mut room).await?;
            let mut known = self.troubled.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(troubled) = known.get_mut(&carrier) {
                troubled.looked_to = looked_to;
            }
            drop(known);
            if moved > 0 {
                tracing::warn!(carrier.id = %carrier, messages = moved, "Messages were taken to another carrier");
            }
        }
        Ok(())
    }

    /// The carriers that have not been able to send for too long, and those for which messages have waited too long. One
    /// that has never been linked is given the same time from when it was first seen.
    fn troubled(&self, world: &World) -> Vec<(CarrierId, Troubled)> {
        let now = world.clock.moment();
        let catalogue = world.catalogue();
        let mut known = self.troubled.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|carrier, _| catalogue.carrier(*carrier).is_some());
        let mut for_long = Vec::new();
        for (carrier, ..) in catalogue.carriers() {
            let Some(why) = trouble(world, *carrier) else {
                known.remove(carrier);
                continue;
            };
            let troubled = known
                .entry(*carrier)
                .and_modify(|troubled| {
                    if troubled.why != why {
                        *troubled = Troubled { why, since: now, looked_to: None };
                    }
                })
                .or_insert(Troubled { why, since: now, looked_to: None });
            // A slow one is one whose messages have waited for that long already.
            if why == Why::Slow || troubled.since.plus(FAIL_OVER_AFTER) <= now {
                for_long.push((*carrier, *troubled));
            }
        }
        for_long
    }
}

fn trouble(world: &World, carrier: CarrierId) -> Option<Why> {
    if !world.carriers.health(carrier).sends() {
        return Some(Why::Unable);
    }
    let slow = world.carriers.get(carrier).is_some_and(|state| state.is_slow(world.clock.now()));
    slow.then_some(Why::Slow)
}

/// How many more parts each carrier that sends could send soon.
struct Room(HashMap<CarrierId, u64>);

impl Room {
    fn of(world: &World, queues: &[CarrierQueue]) -> Room {
        let waiting =
            |carrier| queues.iter().find(|queue| queue.carrier == carrier).map_or(0, |queue| queue.waiting);
        let catalogue = world.catalogue();
        let sending = catalogue.carriers().iter().filter(|(id, ..)| world.carriers.health(*id).sends());
        let room = sending.map(|(id, _, carrier)| {
            // What it really takes, where it throttles.
            let now = world.carriers.get(*id).map_or(0, |state| state.rate_now());
            let rate = u64::from(carrier.parts_per_second).min(now);
            (*id, (rate * WORK_AHEAD_S).saturating_sub(waiting(*id)))
        });
        Room(room.collect())
    }

    fn is_there(&self, carrier: CarrierId) -> bool {
        self.0.get(&carrier).is_some_and(|parts| *parts > 0)
    }

    fn is_anywhere(&self) -> bool {
        self.0.values().any(|parts| *parts > 0)
    }

    fn take(&mut self, carrier: CarrierId, parts: u8) {
        if let Some(room) = self.0.get_mut(&carrier) {
            *room = room.saturating_sub(u64::from(parts));
        }
    }
}

/// Page by page, for as long as the carrier stays as it is and somebody else has room. Gives how many were moved, and how
/// far the queue was looked through.
async fn move_queue(
    world: &World,
    carrier: CarrierId,
    why: Why,
    mut looked_to: Option<QueuePosition>,
    room: &mut Room,
) -> Result<(u64, Option<QueuePosition>), StoreError> {
    let mut moved = 0;
    for _ in 0..PAGES_PER_LOOK {
        if !room.is_anywhere() || trouble(world, carrier) != Some(why) {
            break;
        }
        let before = looked_to;
        let page = world.store.waiting(carrier, before, PAGE_MESSAGES).await?;
        looked_to = page.last().map(WaitingMessage::position);
        if looked_to.is_none() {
            break;
        }
        let catalogue = world.catalogue();
        let mut moves = Vec::new();
        for waiting in page.iter().filter(|waiting| why.concerns(waiting, world.clock.now())) {
            let health = |id| match world.carriers.health(id) {
                health if room.is_there(id) && why.may_go_to(health) => health,
                _ => Health::Down,
            };
            if let Some(found) = elsewhere(&catalogue, carrier, waiting, &health) {
                room.take(found.to.carrier, waiting.parts);
                moves.push(found);
            }
        }
        if !moves.is_empty() {
            let count = world.store.move_messages(moves, world.clock.now()).await?;
            moved += u64::try_from(count).unwrap_or(u64::MAX);
        }
        if !room.is_anywhere() {
            // What is left of this page comes first the next time.
            looked_to = before;
        }
    }
    Ok((moved, looked_to))
}

impl Why {
    fn concerns(self, waiting: &WaitingMessage, now: Timestamp) -> bool {
        match self {
            Why::Unable => true,
            Why::Slow => waiting.message.accepted_at().plus(SLOW_AFTER) <= now,
        }
    }

    fn may_go_to(self, health: Health) -> bool {
        match self {
            Why::Unable => health.sends(),
            Why::Slow => health == Health::Up,
        }
    }
}

fn elsewhere(
    catalogue: &Catalogue,
    carrier: CarrierId,
    waiting: &WaitingMessage,
    health: &dyn Fn(CarrierId) -> Health,
) -> Option<Move> {
    let WaitingMessage { message, account, from, to, .. } = waiting;
    let destination = Numbers::embedded().find(*to);
    let sending = Sending { account: *account, from, to: *to, destination };
    let (_, route) = catalogue.routes().serving(&sending)?;
    let other = route.instead_of(carrier, *to, health)?;
    let whole = catalogue.carrier(other).is_some_and(|other| other.profile.takes_whole_messages());
    let to = TargetCarrier { carrier: other, whole };
    Some(Move { message: *message, account: *account, from: carrier, to })
}
