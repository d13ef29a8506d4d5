//! Taking what waits for a carrier that cannot send to one that can. A link that is lost comes back in seconds mostly,
//! and what waits for it keeps its place; only when a carrier has not been able to send for a while do its messages
//! take the next best way their route of the moment offers. What a carrier may have taken stays with it.
//!
//! No carrier is given more than it can send soon: a long queue would wait there as well, and would be taken to and fro
//! if that carrier went away too.

use crate::clock::Moment;
use crate::world::World;
use hermod_domain::carrier::Health;
use hermod_domain::catalogue::Catalogue;
use hermod_domain::ids::CarrierId;
use hermod_domain::numbers::Numbers;
use hermod_domain::route::Sending;
use hermod_store::{Elsewhere, Move, StoreFault, WaitingMessage, WaitingPlace};
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

/// The carriers that cannot send.
#[derive(Default)]
pub struct FailOver {
    unable: Mutex<HashMap<CarrierId, Unable>>,
}

#[derive(Clone, Copy)]
struct Unable {
    since: Moment,
    /// How far its queue was looked through; from the beginning again at the end.
    looked_to: Option<WaitingPlace>,
}

impl FailOver {
    /// Looks at every carrier once, and moves what can be moved.
    pub async fn look(&self, world: &World) -> Result<(), StoreFault> {
        let unable = self.unable(world);
        if unable.is_empty() {
            return Ok(());
        }
        let mut room = Room::of(world).await?;
        for (carrier, looked_to) in unable {
            let (moved, looked_to) = move_queue(world, carrier, looked_to, &mut room).await?;
            if let Some(unable) = self.unable.lock().unwrap_or_else(PoisonError::into_inner).get_mut(&carrier)
            {
                unable.looked_to = looked_to;
            }
            if moved > 0 {
                tracing::warn!(carrier.id = %carrier, messages = moved, "Messages were taken to another carrier");
            }
        }
        Ok(())
    }

    /// The carriers that have not been able to send for too long. One that has never been linked is given the same time
    /// from when it was first seen.
    fn unable(&self, world: &World) -> Vec<(CarrierId, Option<WaitingPlace>)> {
        let now = world.clock.moment();
        let catalogue = world.catalogue();
        let mut unable = self.unable.lock().unwrap_or_else(PoisonError::into_inner);
        unable.retain(|known, _| catalogue.carrier(*known).is_some());
        let mut for_long = Vec::new();
        for (carrier, ..) in catalogue.carriers() {
            if world.carriers.health(*carrier).sends() {
                unable.remove(carrier);
                continue;
            }
            let Unable { since, looked_to } =
                *unable.entry(*carrier).or_insert(Unable { since: now, looked_to: None });
            if since.plus(FAIL_OVER_AFTER) <= now {
                for_long.push((*carrier, looked_to));
            }
        }
        for_long
    }
}

/// How many more parts each carrier that sends could send soon.
struct Room(HashMap<CarrierId, u64>);

impl Room {
    async fn of(world: &World) -> Result<Room, StoreFault> {
        let queues = world.store.queues().await?;
        let waiting =
            |carrier| queues.iter().find(|queue| queue.carrier == carrier).map_or(0, |queue| queue.waiting);
        let catalogue = world.catalogue();
        let sending = catalogue.carriers().iter().filter(|(id, ..)| world.carriers.health(*id).sends());
        let room = sending.map(|(id, _, carrier)| {
            (*id, (u64::from(carrier.parts_per_second) * WORK_AHEAD_S).saturating_sub(waiting(*id)))
        });
        Ok(Room(room.collect()))
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
    mut looked_to: Option<WaitingPlace>,
    room: &mut Room,
) -> Result<(u64, Option<WaitingPlace>), StoreFault> {
    let mut moved = 0;
    for _ in 0..PAGES_PER_LOOK {
        if !room.is_anywhere() || world.carriers.health(carrier).sends() {
            break;
        }
        let before = looked_to;
        let page = world.store.waiting(carrier, before, PAGE_MESSAGES).await?;
        looked_to = page.last().map(WaitingMessage::place);
        if looked_to.is_none() {
            break;
        }
        let catalogue = world.catalogue();
        let mut moves = Vec::new();
        for waiting in &page {
            let health = |id| if room.is_there(id) { world.carriers.health(id) } else { Health::Down };
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
    let to = Elsewhere { carrier: other, whole };
    Some(Move { message: *message, account: *account, from: carrier, to })
}
