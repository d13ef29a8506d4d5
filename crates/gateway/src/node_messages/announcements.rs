//! Announcements: what the nodes send each other every second, so that each of them can show it.

use super::{Announcement, NodeMessage, Traced, own_name, send};
use crate::gateway::Gateway;
use crate::live_status::Trace;
use hermod_domain::time::Timestamp;
use std::sync::Arc;
use std::time::Duration;

/// The age of a request from which it is not added to the log.
const OLD_AFTER: Duration = Duration::from_secs(30);

/// Tells the other nodes what happened here since the last time.
pub fn announce(gateway: &Gateway) {
    if !gateway.store.can_serve() {
        // Later these requests would be too old: the request log is searched by time.
        return gateway.request_log.count_not_shared(gateway.request_log.take_unshared().len());
    }
    let carriers = gateway.carriers.traces().into_iter().map(|(id, trace)| (Traced::Carrier(id), trace));
    let connections = gateway.binds.traces().into_iter().map(|(id, trace)| (Traced::Connection(id), trace));
    let traced = carriers.chain(connections).map(|(traced, trace)| (traced, trace.take_new()));
    let announcement = Announcement {
        node: own_name(gateway).unwrap_or_default(),
        key_uses: gateway.key_uses.take_new(),
        requests: gateway.request_log.take_unshared(),
        watched: gateway.watched.take_new(),
        traced: traced.filter(|(_, lines)| !lines.is_empty()).collect(),
    };
    let Announcement { node: _, key_uses, requests, watched, traced } = &announcement;
    if key_uses.is_empty() && requests.is_empty() && watched.is_empty() && traced.is_empty() {
        return;
    }
    send(gateway, None, &NodeMessage::Announcement(announcement));
}

/// Notes the announcement of another node.
pub(super) fn note(gateway: &Gateway, announced: Announcement) {
    let Announcement { node, key_uses, mut requests, watched, traced } = announced;
    gateway.key_uses.note_elsewhere(key_uses);
    let (sent, oldest) = (requests.len(), gateway.clock.now().minus(OLD_AFTER));
    requests.retain(|entry| entry.at > oldest);
    gateway.request_log.count_not_shared(sent - requests.len());
    requests.into_iter().for_each(|entry| gateway.store.record().note_request(entry));
    gateway.watched.count_elsewhere(watched);
    for (traced, lines) in traced {
        if let Some(trace) = open_trace(gateway, traced) {
            trace.note_elsewhere(&node, lines);
        }
    }
}

/// Traces on this node until then, or no longer. Returns false if this node does not know what is traced.
pub fn switch_trace(gateway: &Gateway, traced: Traced, until: Option<Timestamp>) -> bool {
    let Some(trace) = open_trace(gateway, traced) else { return false };
    match until {
        Some(until) => trace.enable(until),
        None => trace.disable(),
    }
    true
}

/// Returns a trace; none if the catalogue does not have what is traced.
fn open_trace(gateway: &Gateway, traced: Traced) -> Option<Arc<Trace>> {
    let catalogue = gateway.catalogue();
    match traced {
        Traced::Carrier(id) => {
            let (_, name, _) = catalogue.carriers().iter().find(|(known, ..)| *known == id)?;
            Some(gateway.carriers.open(id, name).trace.clone())
        }
        Traced::Connection(id) => catalogue.connection(id).map(|_| gateway.binds.open_trace(id)),
    }
}
