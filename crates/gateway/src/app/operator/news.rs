//! News: what the nodes tell each other every second, so that each of them can say it. A letter can be lost, and its news with it.

use super::asking::own_name;
use super::letters::News;
use super::traces;
use crate::world::World;

/// Takes what the other nodes have not been told.
pub(super) fn take(world: &World) -> News {
    News {
        node: own_name(world).unwrap_or_default(),
        key_uses: world.key_uses.take_new(),
        requests: world.request_log.take_untold(),
        watched: world.watched.take_new(),
        traced: traces::take_new(world),
    }
}

/// Notes the news of another node.
pub(super) fn note(world: &World, news: News) {
    let News { node, key_uses, requests, watched, traced } = news;
    world.key_uses.note_elsewhere(key_uses);
    requests.into_iter().for_each(|entry| world.store.note_request(entry));
    world.watched.count_elsewhere(watched);
    for (traced, lines) in traced {
        traces::note_elsewhere(world, traced, &node, lines);
    }
}
