//! Posts notifications about alarms to the operator's own URL, signed like customers' webhooks. The rules for customers' addresses do not
//! apply: who writes the settings may call any address.

use super::WebhookSettings;
use super::client::{Pool, PostDraft, PostResult, WebhookClient};
use super::post::SignedPost;
use super::resolver::Resolver;
use crate::app::{AlarmNotification, serve_notifications};
use crate::clock::Clock;
use crate::config::{NotifySection, WebhooksSection};
use crate::gateway::Gateway;
use crate::secrets::{Secret, read_line};
use crate::workers::Workers;
use hermod_domain::webhook::signature::{Signer, Signers};
use hermod_domain::webhook::url::{AddressRules, WebhookUrl};
use hermod_store::AttemptOutcome;
use hyper::Uri;
use hyper::header::HeaderValue;
use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::mpsc;

/// The environment variable with the secret.
const SECRET_VARIABLE: &str = "HERMOD_ALARM_SECRET";
/// As for the secrets of customers' webhooks.
const SECRET_CHARS_MIN: usize = 16;

/// Where and how notifications are posted.
pub struct AlarmWebhook {
    url: WebhookUrl,
    secret_file: Option<PathBuf>,
    settings: WebhookSettings,
}

impl AlarmWebhook {
    /// Returns the settings; none if nothing is posted. Timeouts and certificate authorities are those of customers' webhooks.
    pub fn new(
        notify: &NotifySection,
        webhooks: &WebhooksSection,
        resolver: Resolver,
    ) -> Option<AlarmWebhook> {
        let url = WebhookUrl::parse(notify.webhook.as_ref()?).ok()?;
        let everywhere = vec![IpNet::V4(Ipv4Net::default()), IpNet::V6(Ipv6Net::default())];
        let rules = AddressRules { allow_http: true, allow: everywhere };
        let settings = WebhookSettings { rules, ..WebhookSettings::new(webhooks).resolved_by(resolver) };
        Some(AlarmWebhook { url, secret_file: notify.secret_file.clone(), settings })
    }

    /// Reads the secret, at every post.
    pub fn secret(&self) -> Result<Secret, String> {
        let file = self.secret_file.as_deref();
        let found = read_line(file, SECRET_VARIABLE, "secret")?;
        found.filter(|secret| secret.reveal().len() >= SECRET_CHARS_MIN).ok_or_else(|| match file {
            Some(file) => format!(
                "the first line of the secret file {} has fewer than {SECRET_CHARS_MIN} characters",
                file.display()
            ),
            None => format!(
                "there is no secret of {SECRET_CHARS_MIN} characters or more: set secret_file of [alarms.notify] or the \
                 variable {SECRET_VARIABLE}"
            ),
        })
    }

    /// Makes the signed request of one attempt.
    fn draft(
        &self,
        notification: &AlarmNotification,
        attempt: u32,
        clock: &Clock,
    ) -> Result<PostDraft, String> {
        let host = HeaderValue::try_from(&self.url.authority).map_err(|error| error.to_string())?;
        let target = Uri::try_from(&self.url.target).map_err(|error| error.to_string())?;
        let signers = Signers { current: Signer::new(self.secret()?.reveal()), next: None, previous: None };
        let post = SignedPost { host: &host, target: &target, signers: &signers };
        // Receivers compare the timestamp with their own clock.
        Ok(post.draft(&notification.id, notification.body(), attempt, clock.machine_time()))
    }
}

/// Posts every notification until the workers stop. One at a time.
pub fn serve_alarms(
    gateway: &Arc<Gateway>,
    webhook: AlarmWebhook,
    notifications: mpsc::Receiver<AlarmNotification>,
    workers: &Workers,
) {
    let clock = gateway.clock.clone();
    let client = WebhookClient::new(&webhook.settings, clock.clone(), workers.clone());
    let shared = Arc::new((webhook, client, clock.clone()));
    serve_notifications(clock, "webhook", notifications, workers, move |notification, attempt| {
        let shared = shared.clone();
        async move {
            let (webhook, client, clock) = &*shared;
            let draft = webhook.draft(&notification, attempt, clock)?;
            post(client, &webhook.url, &draft).await
        }
    });
}

/// Posts once, over a connection of its own: alarms are rare.
async fn post(client: &WebhookClient, url: &WebhookUrl, draft: &PostDraft) -> Result<(), String> {
    let PostResult { outcome, kept: _ } = client.post(url, &Pool::default(), draft, false).await;
    match outcome {
        AttemptOutcome::Status(200..=299) => Ok(()),
        AttemptOutcome::Status(status) => Err(format!("{} answered with status {status}", url.authority)),
        AttemptOutcome::Failed(sentence) => Err(sentence),
    }
}

#[cfg(test)]
#[path = "alarm_post_tests.rs"]
mod tests;
