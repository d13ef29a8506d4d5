//! Moves the queue of a carrier that cannot send to other carriers of the messages' routes. Most lost links reconnect
//! in seconds, so messages move only after the carrier was down for a while. Messages that a carrier may have accepted
//! stay with it. From a carrier that throttles, only messages that have waited long move, and only to a carrier that
//! is up.
//!
//! A carrier gets no more than it can send soon: a long queue would wait there as well, and would move back and forth
//! if that carrier failed too.

use crate::app::queue_alarms::watch_queues;
use crate::clock::Moment;
use crate::gateway::Gateway;
use crate::live_status::SLOW_AFTER;
use hermod_domain::carrier::{Draining, Health};
use hermod_domain::catalogue::Catalogue;
use hermod_domain::ids::CarrierId;
use hermod_domain::message_costs::AcceptedMessage;
use hermod_domain::route::{Occasion, Ranking, Route, RouteQuery};
use hermod_domain::time::Timestamp;
use hermod_store::{CarrierQueue, Move, QueuePosition, StoreError, TargetCarrier, WaitingMessage};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::time::Duration;

/// How long a carrier may be unable to send before its queue is moved, unless the route says so. The queue of a stalled one is
/// moved at once: it has been silent for a while.
pub const FAIL_OVER_AFTER: Duration = Duration::from_secs(10);
/// How often carriers are checked.
pub const LOOK_EVERY: Duration = Duration::from_secs(2);
/// A carrier's queue is filled up to what it can send in this time.
const WORK_AHEAD_S: u64 = 10;
/// Messages read per page.
const PAGE_MESSAGES: u32 = 500;
/// Pages of one carrier's queue read per check; the next check continues. Most of a queue may have no other carrier.
const PAGES_PER_LOOK: usize = 20;

/// The carriers whose queues are moved, or will be.
#[derive(Default)]
pub struct FailOver {
    troubled: Mutex<HashMap<CarrierId, Troubled>>,
}

/// Why messages leave a carrier's queue.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Why {
    /// The carrier cannot send.
    Unable,
    /// The carrier has parts and answers none.
    Stalled,
    /// The operator drains the carrier.
    Drained,
    /// The carrier throttles.
    Slow,
}

#[derive(Clone, Copy)]
struct Troubled {
    why: Why,
    since: Moment,
    /// The position in its queue; `None` for its beginning.
    looked_to: Option<QueuePosition>,
}

impl FailOver {
    /// Checks every carrier once, and moves the messages that can be moved; none while the gateway is held.
    pub async fn look(&self, gateway: &Gateway) -> Result<(), StoreError> {
        let queues = gateway.store.messages().queues().await?;
        watch_queues(gateway, &queues);
        if gateway.is_held() {
            return Ok(());
        }
        let troubled = self.troubled(gateway);
        if troubled.is_empty() {
            return Ok(());
        }
        let mut room = Room::of(gateway, &queues);
        for (carrier, troubled) in troubled {
            let (moved, looked_to) = move_queue(gateway, carrier, troubled, &mut room).await?;
            let mut known = self.troubled.lock();
            if let Some(troubled) = known.get_mut(&carrier) {
                troubled.looked_to = looked_to;
            }
            drop(known);
            if moved > 0 {
                tracing::warn!(carrier.id = %carrier, messages = moved, "Moved messages to other carriers");
            }
        }
        Ok(())
    }

    /// Returns the carriers that may have been unable to send for too long, and those with messages that have waited too
    /// long. A carrier that was never bound has the same time, from its first check.
    fn troubled(&self, gateway: &Gateway) -> Vec<(CarrierId, Troubled)> {
        let now = gateway.clock.moment();
        let catalogue = gateway.catalogue();
        let mut known = self.troubled.lock();
        known.retain(|carrier, _| catalogue.carrier(*carrier).is_some());
        let mut for_long = Vec::new();
        let shortest =
            catalogue.routes().entries().iter().filter_map(|(_, route)| route.rules().fail_over_after).min();
        for (carrier, ..) in catalogue.carriers() {
            let Some(why) = trouble(gateway, *carrier) else {
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
            let wait = shortest.map_or(why.wait(), |shortest| shortest.min(why.wait()));
            if troubled.since.plus(wait) <= now {
                for_long.push((*carrier, *troubled));
            }
        }
        for_long
    }
}

fn trouble(gateway: &Gateway, carrier: CarrierId) -> Option<Why> {
    let draining = gateway.catalogue().carrier(carrier).and_then(|entry| entry.draining);
    match (draining, gateway.carriers.health(carrier)) {
        (Some(Draining::Move), _) => Some(Why::Drained),
        (Some(Draining::Stay), _) => None,
        (None, Health::Stalled) => Some(Why::Stalled),
        (None, health) if !health.can_send() => Some(Why::Unable),
        (None, _) => gateway.carriers.is_slow(carrier, gateway.clock.now()).then_some(Why::Slow),
    }
}

/// The free queue capacity of each carrier that can send, in parts.
struct Room(HashMap<CarrierId, u64>);

impl Room {
    fn of(gateway: &Gateway, queues: &[CarrierQueue]) -> Room {
        let waiting =
            |carrier| queues.iter().find(|queue| queue.carrier == carrier).map_or(0, |queue| queue.waiting);
        let catalogue = gateway.catalogue();
        let sending = catalogue.carriers().iter().filter(|(id, ..)| gateway.carriers.health(*id).can_send());
        let room = sending.map(|(id, _, carrier)| {
            // The accepted rate, if the carrier throttles.
            let rate = u64::from(carrier.parts_per_second).min(gateway.carriers.rate_now(*id));
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

/// Moves messages page by page, while the carrier's trouble lasts and another carrier has capacity. Returns how many
/// were moved, and the position in the queue.
async fn move_queue(
    gateway: &Gateway,
    carrier: CarrierId,
    troubled: Troubled,
    room: &mut Room,
) -> Result<(u64, Option<QueuePosition>), StoreError> {
    let Troubled { why, mut looked_to, .. } = troubled;
    let mut moved = 0;
    for _ in 0..PAGES_PER_LOOK {
        if !room.is_anywhere() || trouble(gateway, carrier) != Some(why) {
            break;
        }
        let before = looked_to;
        let page = gateway.store.messages().waiting(carrier, before, PAGE_MESSAGES).await?;
        looked_to = page.last().map(WaitingMessage::position);
        if looked_to.is_none() {
            break;
        }
        let catalogue = gateway.catalogue();
        let mut moves = Vec::new();
        for waiting in page.iter().filter(|waiting| troubled.concerns(&catalogue, waiting, gateway)) {
            let health = |id| match gateway.carriers.health(id) {
                health if room.is_there(id) && why.may_go_to(health) => health,
                _ => Health::Down,
            };
            let ranking = rank_carriers(gateway, &catalogue, waiting, Occasion::Failover);
            if let Some(other) = ranking.and_then(|ranking| ranking.alternative_to(carrier, &health)) {
                room.take(other, waiting.parts);
                let to = target(&catalogue, other, &accepted(waiting).query(), gateway.clock.now());
                moves.push(move_of(waiting, carrier, to));
            }
        }
        if !moves.is_empty() {
            let count = gateway.store.messages().reroute(moves, gateway.clock.now()).await?;
            moved += u64::try_from(count).unwrap_or(u64::MAX);
        }
        if !room.is_anywhere() {
            // Read the rest of this page again next time.
            looked_to = before;
        }
    }
    Ok((moved, looked_to))
}

impl Troubled {
    /// Whether a message has waited long enough for its carrier.
    fn concerns(&self, catalogue: &Catalogue, waiting: &WaitingMessage, gateway: &Gateway) -> bool {
        match self.why {
            Why::Drained => true,
            Why::Slow => waiting.message.accepted_at().plus(SLOW_AFTER) <= gateway.clock.now(),
            Why::Unable | Why::Stalled => {
                let of_route = route_of(catalogue, waiting).and_then(|route| route.rules().fail_over_after);
                self.since.plus(of_route.unwrap_or(self.why.wait())) <= gateway.clock.moment()
            }
        }
    }
}

impl Why {
    /// How long the trouble may last before messages move, unless their route says so.
    const fn wait(self) -> Duration {
        match self {
            Why::Unable => FAIL_OVER_AFTER,
            // It was silent before it was found to be stalled, and a slow carrier's messages have waited already.
            Why::Stalled | Why::Slow | Why::Drained => Duration::ZERO,
        }
    }

    fn may_go_to(self, health: Health) -> bool {
        match self {
            Why::Unable | Why::Stalled | Why::Drained => health.can_send(),
            Why::Slow => health == Health::Up,
        }
    }
}

/// Returns the move of a message to the queue of those that an operator holds. It keeps the parts that it has.
pub fn hold(catalogue: &Catalogue, carrier: CarrierId, waiting: &WaitingMessage) -> Move {
    let whole = splits_messages(catalogue, carrier);
    move_of(waiting, carrier, TargetCarrier { carrier: CarrierId::HELD, whole, cost: None })
}

/// Returns the move of a waiting or held message to the carrier that its route chooses now, by the charge of the message; none if
/// no route serves it any more, or no carrier may have it.
pub fn route_again(
    gateway: &Gateway,
    catalogue: &Catalogue,
    from: CarrierId,
    waiting: &WaitingMessage,
) -> Option<Move> {
    let ranking = rank_carriers(gateway, catalogue, waiting, Occasion::Submission)?;
    let (carrier, _) = ranking.choose(&gateway.carriers)?;
    let to = target(catalogue, carrier, &accepted(waiting).query(), gateway.clock.now());
    Some(move_of(waiting, from, to))
}

fn accepted(waiting: &WaitingMessage) -> AcceptedMessage<'_> {
    let WaitingMessage { account, ref from, to, parts, price, .. } = *waiting;
    AcceptedMessage { account, from, to, price, parts }
}

fn rank_carriers(
    gateway: &Gateway,
    catalogue: &Catalogue,
    waiting: &WaitingMessage,
    occasion: Occasion,
) -> Option<Ranking> {
    accepted(waiting).rank_carriers(catalogue, occasion, &gateway.carriers, gateway.clock.now())
}

fn route_of<'c>(catalogue: &'c Catalogue, waiting: &WaitingMessage) -> Option<&'c Route> {
    catalogue.routes().serving(&accepted(waiting).query()).map(|(_, route)| route)
}

/// Returns a carrier as a message moves to it, with what it is believed to ask.
pub fn target(
    catalogue: &Catalogue,
    carrier: CarrierId,
    sending: &RouteQuery<'_>,
    now: Timestamp,
) -> TargetCarrier {
    let whole = splits_messages(catalogue, carrier);
    TargetCarrier { carrier, whole, cost: catalogue.believed_cost(carrier, sending, whole, now) }
}

fn splits_messages(catalogue: &Catalogue, carrier: CarrierId) -> bool {
    catalogue.carrier(carrier).is_some_and(|entry| entry.profile.carrier_splits_messages())
}

fn move_of(waiting: &WaitingMessage, from: CarrierId, to: TargetCarrier) -> Move {
    Move { message: waiting.message, account: waiting.account, from, to }
}
