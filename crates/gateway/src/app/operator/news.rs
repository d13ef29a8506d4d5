//! News: what the nodes tell each other every second, so that each of them can say it. A letter can be lost, and its news with it.

use super::asking::own_name;
use super::traces::{self, Traced};
use crate::board::{KeyUse, TraceLine};
use crate::world::World;
use hermod_domain::ids::AccountId;
use hermod_store::record::RequestEntry;
use serde::{Deserialize, Serialize};

/// What happened at a node since its last news.
#[derive(Serialize, Deserialize)]
pub(super) struct News {
    node: String,
    /// When API keys were last used.
    key_uses: Vec<(String, KeyUse)>,
    /// Lines of the request log.
    requests: Vec<RequestEntry>,
    /// How often controls were exceeded that only watch.
    watched: Vec<(AccountId, String, u64)>,
    traced: Vec<(Traced, Vec<TraceLine>)>,
}

impl News {
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

    pub(super) fn is_empty(&self) -> bool {
        let News { node: _, key_uses, requests, watched, traced } = self;
        key_uses.is_empty() && requests.is_empty() && watched.is_empty() && traced.is_empty()
    }

    /// Notes the news of another node.
    pub(super) fn note(self, world: &World) {
        let News { node, key_uses, requests, watched, traced } = self;
        world.key_uses.note_elsewhere(key_uses);
        requests.into_iter().for_each(|entry| world.store.note_request(entry));
        world.watched.count_elsewhere(watched);
        for (traced, lines) in traced {
            traces::note_elsewhere(world, traced, &node, lines);
        }
    }
}
