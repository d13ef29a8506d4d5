//! Telling customers over HTTP. For every endpoint that has something waiting there is one task, which reads what is due,
//! posts it as hard as the endpoint can take, and has the store write down what came of it. No endpoint waits for another:
//! what they share is bounded so that those who fail cannot hold it.

mod client;
mod dispatcher;
mod endpoint;
mod endpoint_status;
mod post;
mod post_limiter;
mod resolver;
mod settings;
mod target;

pub use resolver::Resolver;
pub use settings::Settings;

use crate::workers::Workers;
use crate::world::World;
use client::Client;
use endpoint_status::Standings;
use post_limiter::Turnstile;
use std::sync::Arc;

/// What all endpoints' tasks stand on.
struct Shared {
    world: Arc<World>,
    settings: Settings,
    client: Client,
    turnstile: Turnstile,
    standings: Standings,
}

/// Posts what is due, until the workers are stopped. What is under way then has a moment to come to its end; what does
/// not is posted again at the next start.
pub fn serve(world: Arc<World>, settings: Settings, workers: &Workers) {
    let shared = Arc::new(Shared {
        client: Client::new(&settings, world.clock.clone(), workers.clone()),
        turnstile: Turnstile::new(settings.posts_max),
        standings: Standings::default(),
        world,
        settings,
    });
    workers.spawn_named("webhooks", dispatcher::serve(shared, workers.clone()));
}
