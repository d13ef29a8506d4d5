//! Announcements: what the nodes send each other every second, so that each of them can show it.

use super::{Announcement, NodeMessage, Traced, own_name, send};
use crate::board::Trace;
use crate::world::World;
use hermod_domain::time::Timestamp;
use std::sync::Arc;
use std::time::Duration;

/// The age of a request from which it is not added to the log.
const OLD_AFTER: Duration = Duration::from_secs(30);

/// Tells the other nodes what happened here since the last time.
pub fn announce(world: &World) {
    if !world.store.can_serve() {
        // Later these requests would be too old: the request log is searched by time.
        return world.request_log.count_not_shared(world.request_log.take_unshared().len());
    }
    let carriers = world.carriers.traces().into_iter().map(|(id, trace)| (Traced::Carrier(id), trace));
    let connections = world.binds.traces().into_iter().map(|(id, trace)| (Traced::Connection(id), trace));
    let traced = carriers.chain(connections).map(|(traced, trace)| (traced, trace.take_new()));
    let announcement = Announcement {
        node: own_name(world).unwrap_or_default(),
        key_uses: world.key_uses.take_new(),
        requests: world.request_log.take_unshared(),
        watched: world.watched.take_new(),
        traced: traced.filter(|(_, lines)| !lines.is_empty()).collect(),
    };
    let Announcement { node: _, key_uses, requests, watched, traced } = &announcement;
    if key_uses.is_empty() && requests.is_empty() && watched.is_empty() && traced.is_empty() {
        return;
    }
    send(world, None, &NodeMessage::Announcement(announcement));
}

/// Notes the announcement of another node.
pub(super) fn note(world: &World, announced: Announcement) {
    let Announcement { node, key_uses, mut requests, watched, traced } = announced;
    world.key_uses.note_elsewhere(key_uses);
    let (sent, oldest) = (requests.len(), world.clock.now().minus(OLD_AFTER));
    requests.retain(|entry| entry.at > oldest);
    world.request_log.count_not_shared(sent - requests.len());
    requests.into_iter().for_each(|entry| world.store.note_request(entry));
    world.watched.count_elsewhere(watched);
    for (traced, lines) in traced {
        if let Some(trace) = open_trace(world, traced) {
            trace.note_elsewhere(&node, lines);
        }
    }
}

/// Traces on this node until then, or no longer. Returns false if this node does not know what is traced.
pub fn switch_trace(world: &World, traced: Traced, until: Option<Timestamp>) -> bool {
    let Some(trace) = open_trace(world, traced) else { return false };
    match until {
        Some(until) => trace.enable(until),
        None => trace.disable(),
    }
    true
}

/// Returns a trace; none if the catalogue does not have what is traced.
fn open_trace(world: &World, traced: Traced) -> Option<Arc<Trace>> {
    let catalogue = world.catalogue();
    match traced {
        Traced::Carrier(id) => {
            let (_, name, _) = catalogue.carriers().iter().find(|(known, ..)| *known == id)?;
            Some(world.carriers.open(id, name).trace.clone())
        }
        Traced::Connection(id) => catalogue.connection(id).map(|_| world.binds.open_trace(id)),
    }
}
