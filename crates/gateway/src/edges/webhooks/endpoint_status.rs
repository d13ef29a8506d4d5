//! The recent behaviour of each endpoint, kept while it has no task, so that an endpoint that failed an hour ago starts
//! cautiously again. Also raises the alarm about endpoints that fail for long.

use crate::gateway::Gateway;
use crate::live_status::{AlarmKind, Failing};
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::post_concurrency::PostConcurrency;
use hermod_store::{AttemptOutcome, Endpoint, FailingEndpoint};
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

/// An endpoint without a successful post for this long raises an alarm. A restart of the receiver takes less.
pub(super) const FAILING_FOR: Duration = Duration::from_secs(300);

/// Bounded by the number of endpoints: two per account.
#[derive(Default)]
pub(super) struct EndpointStatuses {
    pressures: Mutex<HashMap<Endpoint, PostConcurrency>>,
    failing: Mutex<BTreeMap<Endpoint, Failing>>,
    /// Endpoints of which the node that raises the alarms is to be told.
    changed: Mutex<BTreeSet<Endpoint>>,
}

impl EndpointStatuses {
    pub(super) fn of(&self, endpoint: Endpoint) -> PostConcurrency {
        self.pressures.lock().get(&endpoint).copied().unwrap_or_default()
    }

    pub(super) fn keep(&self, endpoint: Endpoint, pressure: PostConcurrency) {
        self.pressures.lock().insert(endpoint, pressure);
    }

    /// Loads the endpoints that were failing before this start.
    pub(super) fn load_failing(&self, failing: Vec<FailingEndpoint>) {
        for FailingEndpoint { endpoint, since } in failing {
            self.failing.lock().entry(endpoint).or_insert(Failing { since, url: None, last: None });
        }
    }

    /// Sets what another node knows of an endpoint.
    pub(super) fn set(&self, endpoint: Endpoint, known: Option<Failing>) {
        let mut failing = self.failing.lock();
        match known {
            Some(known) => drop(failing.insert(endpoint, known)),
            None => drop(failing.remove(&endpoint)),
        }
    }

    pub(super) fn failing(&self, endpoint: Endpoint) -> Option<Failing> {
        self.failing.lock().get(&endpoint).cloned()
    }

    /// Forgets an endpoint that this node posts to no more, and returns what was known of it.
    pub(super) fn forget(&self, endpoint: Endpoint) -> Option<Failing> {
        self.changed.lock().remove(&endpoint);
        self.failing.lock().remove(&endpoint)
    }

    /// Returns the endpoints whose posts failed or succeeded since the last call, for the node that raises the alarms.
    pub(super) fn take_changed(&self) -> Vec<(Endpoint, Option<Failing>)> {
        let changed = std::mem::take(&mut *self.changed.lock());
        let failing = self.failing.lock();
        changed.into_iter().map(|endpoint| (endpoint, failing.get(&endpoint).cloned())).collect()
    }

    /// Records a failed post.
    pub(super) fn failed(
        &self,
        endpoint: Endpoint,
        url: Option<&str>,
        last: Option<&AttemptOutcome>,
        now: Timestamp,
    ) {
        self.changed.lock().insert(endpoint);
        let mut failing = self.failing.lock();
        let known = failing.entry(endpoint).or_insert(Failing { since: now, url: None, last: None });
        if known.url.as_deref() != url && known.url.is_some() {
            // A new URL: earlier failures do not count.
            known.since = now;
        }
        known.url = url.map(str::to_owned);
        known.last = last.cloned();
    }

    pub(super) fn is_failing(&self, endpoint: Endpoint) -> bool {
        self.failing.lock().contains_key(&endpoint)
    }

    /// Records a successful post, or that the endpoint does not exist any more.
    pub(super) fn recovered(&self, endpoint: Endpoint) {
        self.changed.lock().insert(endpoint);
        self.failing.lock().remove(&endpoint);
    }

    /// Raises and clears the alarms about endpoints that have failed for a while.
    pub(super) fn update_alarms(&self, gateway: &Gateway) {
        let (catalogue, now) = (gateway.catalogue(), gateway.clock.now());
        let mut causes = Vec::new();
        self.failing.lock().retain(|endpoint, failing| {
            let Endpoint { account, kind } = *endpoint;
            let Some(view) = catalogue.account(account) else { return false };
            let wanted = view.account.webhooks.as_ref().and_then(|webhooks| webhooks.url(kind));
            // The account has no such webhook any more, or another URL.
            if wanted.is_none() || failing.url.as_deref().is_some_and(|url| Some(url) != wanted) {
                return false;
            }
            if failing.since.plus(FAILING_FOR) <= now {
                causes.push((format!("{}/{}", view.name, kind.as_str()), describe(failing)));
            }
            true
        });
        gateway.alarms.replace(AlarmKind::WebhookFailing, "", &causes, now);
    }
}

/// Describes a failing endpoint without its URL, which may contain a secret.
fn describe(failing: &Failing) -> String {
    let last = match &failing.last {
        Some(AttemptOutcome::Status(status)) => format!("the last got status {status}"),
        Some(AttemptOutcome::Failed(why)) => format!("the last failed: {why}"),
        None => "none was attempted since the start".to_owned(),
    };
    format!("no post has succeeded since {}; {last}", failing.since.to_iso())
}
