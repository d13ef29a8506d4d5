//! Posts webhooks to customers: DLRs and MO messages. Every endpoint with waiting events has one task, which reads due
//! events, posts them as fast as the endpoint accepts, and settles them in the store. Endpoints do not wait for each
//! other: shared limits have a separate share for failing ones. Where several nodes share a store, each endpoint is served by one
//! of them, which the node with the engine chooses (`spread.rs`).

mod alarm_post;
mod client;
mod dispatcher;
mod endpoint;
mod endpoint_status;
mod post;
mod post_limiter;
mod resolver;
mod settings;
mod spread;
mod target;
mod test_event;
mod wakeup;

pub use alarm_post::{AlarmWebhook, serve_alarms};
pub use resolver::Resolver;
pub use settings::WebhookSettings;

use crate::gateway::Gateway;
use crate::workers::Workers;
use client::WebhookClient;
use endpoint_status::EndpointStatuses;
use post_limiter::PostLimiter;
use std::sync::Arc;

/// Shared by the tasks of all endpoints.
struct Shared {
    gateway: Arc<Gateway>,
    settings: WebhookSettings,
    client: WebhookClient,
    post_limiter: PostLimiter,
    statuses: EndpointStatuses,
}

/// Posts due events until the workers stop. Posts in progress then have a short time to finish; the others are
/// repeated after the next start.
pub fn serve(gateway: Arc<Gateway>, settings: WebhookSettings, workers: &Workers) {
    let shared = Arc::new(Shared {
        client: WebhookClient::new(&settings, gateway.clock.clone(), workers.clone()),
        post_limiter: PostLimiter::new(settings.posts_max),
        statuses: EndpointStatuses::default(),
        gateway,
        settings,
    });
    test_event::serve(&shared, workers);
    workers.spawn_named("webhooks", dispatcher::serve(shared, workers.clone()));
}
