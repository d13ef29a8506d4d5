//! How each endpoint has answered so far, remembered while nothing waits for it: an endpoint that was dead an hour ago is
//! not met with open arms because it had nothing to take in between. And the alarm for those that fail for long.

use crate::board::AlarmKind;
use crate::world::World;
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::pressure::Pressure;
use hermod_store::{AttemptOutcome, Endpoint, FailingEndpoint};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// An endpoint that has taken nothing for this long is an alarm. A receiver that is being restarted is back before.
pub(super) const FAILING_FOR: Duration = Duration::from_secs(300);

/// An endpoint that has answered no post with success since then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failing {
    pub(super) since: Timestamp,
    /// Where the posts went; nothing if none was made since the start.
    pub(super) url: Option<String>,
    /// What came of the last one.
    pub(super) last: Option<AttemptOutcome>,
}

/// Bounded by the endpoints there are: two of an account.
#[derive(Default)]
pub(super) struct Standings {
    pressures: Mutex<HashMap<Endpoint, Pressure>>,
    failing: Mutex<BTreeMap<Endpoint, Failing>>,
}

impl Standings {
    pub(super) fn of(&self, endpoint: Endpoint) -> Pressure {
        lock(&self.pressures).get(&endpoint).copied().unwrap_or_default()
    }

    pub(super) fn keep(&self, endpoint: Endpoint, pressure: Pressure) {
        lock(&self.pressures).insert(endpoint, pressure);
    }

    /// What the store knows of endpoints that were failing before this start.
    pub(super) fn start_with(&self, failing: Vec<FailingEndpoint>) {
        for FailingEndpoint { endpoint, since } in failing {
            lock(&self.failing).entry(endpoint).or_insert(Failing { since, url: None, last: None });
        }
    }

    /// A post was not answered with success.
    pub(super) fn failed(
        &self,
        endpoint: Endpoint,
        url: Option<&str>,
        last: Option<&AttemptOutcome>,
        now: Timestamp,
    ) {
        let mut failing = lock(&self.failing);
        let known = failing.entry(endpoint).or_insert(Failing { since: now, url: None, last: None });
        if known.url.as_deref() != url && known.url.is_some() {
            // Another receiver: what the one before did says nothing about it.
            known.since = now;
        }
        known.url = url.map(str::to_owned);
        known.last = last.cloned();
    }

    pub(super) fn is_failing(&self, endpoint: Endpoint) -> bool {
        lock(&self.failing).contains_key(&endpoint)
    }

    /// A post was answered with success, or the endpoint is no more.
    pub(super) fn recovered(&self, endpoint: Endpoint) {
        lock(&self.failing).remove(&endpoint);
    }

    /// Raises and clears the alarms about endpoints that have failed for a while.
    pub(super) fn judge(&self, world: &World) {
        let (catalogue, now) = (world.catalogue(), world.clock.now());
        let mut causes = Vec::new();
        lock(&self.failing).retain(|endpoint, failing| {
            let Endpoint { account, kind } = *endpoint;
            let Some(view) = catalogue.account(account) else { return false };
            let wanted = view.account.webhooks.as_ref().and_then(|webhooks| webhooks.url(kind));
            // The account wants no such webhooks any more, or elsewhere.
            if wanted.is_none() || failing.url.as_deref().is_some_and(|url| Some(url) != wanted) {
                return false;
            }
            if failing.since.plus(FAILING_FOR) <= now {
                causes.push((format!("{}/{}", view.name, kind.as_str()), told(failing)));
            }
            true
        });
        world.alarms.replace(AlarmKind::WebhookFailing, "", &causes, now);
    }
}

/// Without the address: it can hold a secret.
fn told(failing: &Failing) -> String {
    let last = match &failing.last {
        Some(AttemptOutcome::Status(status)) => format!("the last was answered with status {status}"),
        Some(AttemptOutcome::Failed(why)) => format!("the last failed: {why}"),
        None => "none was made since this start".to_owned(),
    };
    format!("no post has succeeded since {}; {last}", failing.since.to_iso())
}

fn lock<T>(counted: &Mutex<T>) -> MutexGuard<'_, T> {
    counted.lock().unwrap_or_else(PoisonError::into_inner)
}
