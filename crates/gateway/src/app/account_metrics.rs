//! The metrics of accounts: queue, accepted and refused messages, balance, delivered share. They are read when they are asked for. If
//! that fails, those of the last time are shown with their age.

use crate::app::AccountBalance;
use crate::clock::Moment;
use crate::gateway::Gateway;
use crate::live_status::SubmittedMessages;
use crate::telemetry::push_family;
use hermod_domain::ids::AccountId;
use hermod_store::StoreError;
use hermod_store::record::{Figures, Resolution};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::time::Duration;
use tokio::sync::Mutex;

/// Accounts that have metrics: more labels would burden the server that collects them.
const ACCOUNTS_MAX: usize = 1_000;
/// How long they are kept: a caller that asks more often does not load the store.
const KEPT: Duration = Duration::from_secs(5);
/// The other metrics do not wait longer for these, such as when the database does not answer.
const READ_MAX: Duration = Duration::from_secs(2);

/// The metrics of one account.
struct AccountMetrics<'c> {
    name: &'c str,
    currency: String,
    /// None if it overflows.
    available: Option<String>,
    /// Parts.
    waiting: u64,
    submitted: SubmittedMessages,
    /// Of the messages that were accepted lately and have ended; none if there are none.
    delivered: Option<f64>,
}

/// The metrics of accounts as they were last read.
#[derive(Default)]
pub struct LastAccountMetrics(Mutex<LastRead>);

#[derive(Default)]
struct LastRead {
    text: String,
    read_at: Option<Moment>,
    /// When they were last to be read, also if that failed.
    tried_at: Option<Moment>,
}

impl LastAccountMetrics {
    /// Returns the metrics of accounts in the Prometheus text format, and how old they are: those of the last time, if they cannot
    /// be read soon.
    pub async fn text(&self, gateway: &Gateway) -> String {
        let mut last = self.0.lock().await;
        let moment = || gateway.clock.moment();
        if last.tried_at.is_none_or(|at| moment().since(at) >= KEPT) {
            if let Some(text) = read_soon(gateway).await {
                (last.text, last.read_at) = (text, Some(moment()));
            }
            last.tried_at = Some(moment());
        }
        let age = last.read_at.map_or("+Inf".to_owned(), |at| moment().since(at).as_secs_f64().to_string());
        let mut text = last.text.clone();
        push_family(&mut text, "hermod_account_metrics_age_seconds", &[(Vec::new(), age)]);
        text
    }
}

/// Reads the metrics of accounts. Returns none if that fails or takes too long.
async fn read_soon(gateway: &Gateway) -> Option<String> {
    let read = tokio::select! {
        biased;
        read = write_metrics(gateway) => read.map_err(|fault| fault.to_string()),
        () = gateway.clock.sleep(READ_MAX) => Err(format!("the store did not answer within {READ_MAX:?}")),
    };
    read.inspect_err(|fault| {
        tracing::warn!(fault, "Metrics of accounts could not be read; the last ones are shown")
    })
    .ok()
}

async fn write_metrics(gateway: &Gateway) -> Result<String, StoreError> {
    let catalogue = gateway.catalogue();
    let submitted = gateway.account_traffic.counts();
    let open = catalogue.accounts().filter(|(_, view)| !view.account.closed);
    let (shown, left_out) = choose(open.map(|(id, _)| id).collect(), &submitted);
    let balances: HashMap<_, _> = gateway.store.money().balances().await?.into_iter().collect();
    let waiting = gateway.store.messages().waiting_parts(shown.clone()).await?;
    let figures = recent_figures(gateway, &shown).await?;
    let metrics = shown.iter().zip(waiting).zip(figures).filter_map(|((id, waiting), figures)| {
        let view = catalogue.account(*id)?;
        let balance = AccountBalance::of(&view.account, balances.get(id).copied().unwrap_or_default());
        Some(AccountMetrics {
            name: &view.name,
            currency: view.account.currency.to_string(),
            available: balance.map(|balance| balance.available.to_string()),
            waiting,
            submitted: submitted.get(id).copied().unwrap_or_default(),
            delivered: delivered_share(&figures),
        })
    });
    Ok(written(&metrics.collect::<Vec<_>>(), left_out))
}

/// Returns those of some accounts that have metrics, if there are too many: those that submitted most to this process, then the
/// older ones. Returns also how many are left out.
fn choose(
    mut accounts: Vec<AccountId>,
    submitted: &HashMap<AccountId, SubmittedMessages>,
) -> (Vec<AccountId>, usize) {
    let total = |id: &AccountId| submitted.get(id).map_or(0, |counts| counts.accepted + counts.refused);
    accounts.sort_by_cached_key(|id| (Reverse(total(id)), *id));
    let left_out = accounts.len().saturating_sub(ACCOUNTS_MAX);
    accounts.truncate(ACCOUNTS_MAX);
    (accounts, left_out)
}

/// Returns the figures of the messages that each account sent in this hour and the one before; empty without a record.
async fn recent_figures(gateway: &Gateway, accounts: &[AccountId]) -> Result<Vec<Figures>, StoreError> {
    let now = gateway.clock.now();
    let from = Resolution::Hour.start_of(now.minus(Resolution::Hour.length()));
    let range = (Resolution::Hour, from, now.plus(Duration::from_millis(1)));
    match gateway.store.record().account_figures(accounts.to_vec(), range).await {
        Err(StoreError::RecordOff) => Ok(vec![Figures::default(); accounts.len()]),
        read => read,
    }
}

/// Returns the share of delivered messages among those that have ended.
fn delivered_share(figures: &Figures) -> Option<f64> {
    let Figures { delivered, expired, undeliverable, rejected, .. } = figures;
    let ended = delivered + expired + undeliverable + rejected;
    #[expect(clippy::cast_precision_loss, reason = "a share for a chart")]
    let share = *delivered as f64 / ended as f64;
    (ended > 0).then_some(share)
}

fn written(metrics: &[AccountMetrics<'_>], left_out: usize) -> String {
    let mut text = String::new();
    let mut counts = |name, count: fn(&AccountMetrics<'_>) -> u64| {
        let samples = metrics.iter().map(|of| (vec![("account", of.name)], count(of)));
        push_family(&mut text, name, &samples.collect::<Vec<_>>());
    };
    counts("hermod_account_waiting_parts", |of| of.waiting);
    counts("hermod_account_accepted_messages_total", |of| of.submitted.accepted);
    counts("hermod_account_refused_messages_total", |of| of.submitted.refused);
    let balances = metrics.iter().filter_map(|of| {
        let labels = vec![("account", of.name), ("currency", of.currency.as_str())];
        Some((labels, of.available.as_deref()?))
    });
    push_family(&mut text, "hermod_account_available_balance", &balances.collect::<Vec<_>>());
    let shares = metrics.iter().filter_map(|of| Some((vec![("account", of.name)], of.delivered?)));
    push_family(&mut text, "hermod_account_delivered_ratio", &shares.collect::<Vec<_>>());
    push_family(&mut text, "hermod_accounts_without_metrics", &[(Vec::new(), left_out)]);
    text
}

#[cfg(test)]
#[path = "account_metrics_tests.rs"]
mod tests;
