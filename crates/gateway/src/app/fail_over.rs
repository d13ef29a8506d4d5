//! Taking what waits for a carrier that cannot send to one that can. A link that is lost comes back in seconds mostly,
//! and what waits for it keeps its place; only when a carrier has not been able to send for a while do its messages
//! take the next best way their route of the moment offers. What a carrier may have taken stays with it.

use crate::clock::Moment;
use crate::world::World;
use hermod_domain::carrier::Health;
use hermod_domain::catalogue::Catalogue;
use hermod_domain::ids::CarrierId;
use hermod_domain::numbers::Numbers;
use hermod_domain::route::Sending;
use hermod_store::{Elsewhere, Move, StoreFault, WaitingMessage};
use metrics::counter;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How long a carrier may be unable to send before its queue is taken elsewhere.
pub const FAIL_OVER_AFTER: Duration = Duration::from_secs(10);
/// How often carriers are looked at.
pub const LOOK_EVERY: Duration = Duration::from_secs(2);
/// Messages looked at between two writes.
const PAGE_MESSAGES: u32 = 500;

/// Since when carriers cannot send.
#[derive(Default)]
pub struct FailOver {
    unable_since: Mutex<HashMap<CarrierId, Moment>>,
}

impl FailOver {
    /// Looks at every carrier once, and moves what can be moved.
    pub async fn look(&self, world: &World) -> Result<(), StoreFault> {
        for carrier in self.unable(world) {
            let moved = move_queue(world, carrier).await?;
            if moved > 0 {
                tracing::warn!(carrier.id = %carrier, messages = moved, "Messages were taken to another carrier");
                counter!("hermod_messages_failed_over_total").increment(moved);
            }
        }
        Ok(())
    }

    /// The carriers that have not been able to send for too long. One that has never been linked is given the same time
    /// from when it was first seen.
    fn unable(&self, world: &World) -> Vec<CarrierId> {
        let now = world.clock.moment();
        let catalogue = world.catalogue();
        let mut since = self.unable_since.lock().unwrap_or_else(PoisonError::into_inner);
        since.retain(|known, _| catalogue.carrier(*known).is_some());
        let mut unable = Vec::new();
        for (carrier, ..) in catalogue.carriers() {
            if world.carriers.health(*carrier).sends() {
                since.remove(carrier);
            } else if since.entry(*carrier).or_insert(now).plus(FAIL_OVER_AFTER) <= now {
                unable.push(*carrier);
            }
        }
        unable
    }
}

/// Page by page, for as long as the carrier stays as it is.
async fn move_queue(world: &World, carrier: CarrierId) -> Result<u64, StoreFault> {
    let (mut moved, mut after) = (0, None);
    loop {
        let catalogue = world.catalogue();
        let health = |carrier| world.carriers.health(carrier);
        // Without anybody else to go to there is nothing to read a long queue for.
        if health(carrier).sends() || !has_alternatives(&catalogue, carrier, &health) {
            return Ok(moved);
        }
        let page = world.store.waiting(carrier, after, PAGE_MESSAGES).await?;
        let Some(last) = page.last() else { return Ok(moved) };
        after = Some(last.place());
        let moves: Vec<Move> =
            page.iter().filter_map(|waiting| elsewhere(&catalogue, carrier, waiting, &health)).collect();
        if !moves.is_empty() {
            let count = world.store.move_messages(moves, world.clock.now()).await?;
            moved += u64::try_from(count).unwrap_or(u64::MAX);
        }
    }
}

/// Is there a route on which somebody else could send what this carrier cannot?
fn has_alternatives(catalogue: &Catalogue, carrier: CarrierId, health: &dyn Fn(CarrierId) -> Health) -> bool {
    // A message may also have come here by a route that is no longer there; any carrier might serve it now.
    catalogue.carriers().iter().any(|(other, ..)| *other != carrier && health(*other).sends())
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
