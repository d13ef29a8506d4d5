//! News: what the nodes send each other every second, so that each of them can show it. A letter can be lost, and its news with it.

use super::asking::own_name;
use super::letters::News;
use super::traces;
use crate::world::World;
use std::time::Duration;

/// The age of a request from which it is not added to the log.
const OLD_AFTER: Duration = Duration::from_secs(30);

/// Takes what is to be sent to the other nodes.
pub(super) fn take(world: &World) -> News {
    News {
        node: own_name(world).unwrap_or_default(),
        key_uses: world.key_uses.take_new(),
        requests: world.request_log.take_unshared(),
        watched: world.watched.take_new(),
        traced: traces::take_new(world),
    }
}

/// Drops the requests that cannot be sent now. Later they would be too old: the request log is searched by time.
pub(super) fn drop_old(world: &World) {
    world.request_log.count_not_shared(world.request_log.take_unshared().len());
}

/// Notes the news of another node.
pub(super) fn note(world: &World, news: News) {
    let News { node, key_uses, mut requests, watched, traced } = news;
    world.key_uses.note_elsewhere(key_uses);
    let (sent, oldest) = (requests.len(), world.clock.now().minus(OLD_AFTER));
    requests.retain(|entry| entry.at > oldest);
    world.request_log.count_not_shared(sent - requests.len());
    requests.into_iter().for_each(|entry| world.store.note_request(entry));
    world.watched.count_elsewhere(watched);
    for (traced, lines) in traced {
        traces::note_elsewhere(world, traced, &node, lines);
    }
}
