//! The webhook settings.

use super::resolver::Resolver;
use crate::config;
use hermod_domain::retry::Schedule;
use hermod_domain::webhook::url::AddressRules;
use std::path::PathBuf;
use std::time::Duration;

pub struct WebhookSettings {
    pub rules: AddressRules,
    /// Name resolution, connecting and TLS handshake together.
    pub connect_max: Duration,
    /// A whole post.
    pub call_max: Duration,
    pub schedule: Schedule,
    /// Certificate authorities trusted besides this machine's.
    pub ca: Option<PathBuf>,
    /// Concurrent posts of all endpoints.
    pub posts_max: u32,
    pub resolver: Resolver,
}

impl WebhookSettings {
    pub fn new(webhooks: &config::WebhooksSection) -> WebhookSettings {
        let waits: Vec<Duration> = webhooks.retries.iter().map(|period| period.0).collect();
        WebhookSettings {
            rules: webhooks.rules(),
            connect_max: webhooks.connect_timeout.into(),
            call_max: webhooks.timeout.into(),
            schedule: Schedule::after_failed_post(&waits),
            ca: webhooks.ca.clone(),
            posts_max: webhooks.max_posts,
            resolver: Resolver::system(),
        }
    }

    /// Returns the longest wait after each failure, from the first.
    pub(crate) fn longest_waits(&self) -> Vec<Duration> {
        (1..).map_while(|failures| self.schedule.wait(failures, u32::MAX)).collect()
    }

    /// Returns the settings with another resolver, for tests.
    #[must_use]
    pub fn resolved_by(self, resolver: Resolver) -> WebhookSettings {
        WebhookSettings { resolver, ..self }
    }
}
