//! A look at each carrier every second: how it is doing, and what somebody should know about it.

use super::health::{At, ids_do_not_match, works};
use super::link_group::Account;
use crate::board::AlarmKind;
use crate::clock::Moment;
use hermod_domain::ids::RemoteId;
use hermod_store::StoreError;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const LOOK: Duration = Duration::from_secs(1);
/// A carrier that has not worked for this long needs somebody.
const DOWN_FOR: Duration = Duration::from_secs(60);
/// How often the store is asked about receipts that match nothing, while there are too many of them.
const RECEIPTS_LOOK: Duration = Duration::from_secs(10);
const FIVE_MINUTES: Duration = Duration::from_secs(300);
/// A receipt may overtake its answer by so much.
const ANSWER_GRACE: Duration = Duration::from_secs(10);
/// Receipts that are looked at in one go.
const PAGE_ROWS: usize = 1_000;

/// Looks until told to stop.
pub(super) async fn oversee(account: &Account, stopping: &CancellationToken) {
    let clock = &account.world.clock;
    let mut overseer = Overseer::new(account, clock.moment());
    while !stopping.is_cancelled() {
        if let Err(fault) = overseer.look(clock.moment()).await {
            tracing::warn!(%fault, carrier.name = account.name(), "A carrier's receipts could not be looked at");
        }
        tokio::select! {
            () = clock.sleep(LOOK) => {}
            () = stopping.cancelled() => {}
        }
    }
}

pub(super) struct Overseer<'a> {
    account: &'a Account,
    /// Since when it does not work.
    idle_since: Option<Moment>,
    /// Answers up to the last look.
    answered: u64,
    /// Alarms that are up.
    down: bool,
    unmatched: bool,
    stopped: bool,
    receipts_looked_at: Option<Moment>,
}

impl<'a> Overseer<'a> {
    pub(super) fn new(account: &'a Account, now: Moment) -> Overseer<'a> {
        Overseer {
            account,
            idle_since: Some(now),
            answered: account.state.totals().answered(),
            down: false,
            unmatched: false,
            stopped: false,
            receipts_looked_at: None,
        }
    }

    pub(super) async fn look(&mut self, now: Moment) -> Result<(), StoreError> {
        let account = self.account;
        account.state.look(now, account.world.clock.now());
        account.judge();
        self.look_at_links(now);
        let stopped = account.state.stopped().is_some();
        if self.stopped && !stopped {
            account.clear(AlarmKind::CarrierStopped);
        }
        self.stopped = stopped;
        self.look_at_receipts(now).await
    }

    fn look_at_links(&mut self, now: Moment) {
        let account = self.account;
        let answered = account.state.totals().answered();
        let at = At {
            stopped: account.state.stopped().is_some(),
            bound: account.state.sending_links_bound() > 0,
            messages_wait: account.state.queue().oldest.is_some(),
            answers: answered > std::mem::replace(&mut self.answered, answered),
        };
        if works(at) {
            if self.down {
                account.clear(AlarmKind::CarrierDown);
            }
            (self.idle_since, self.down) = (None, false);
            return;
        }
        let since = *self.idle_since.get_or_insert(now);
        if since.plus(DOWN_FOR) <= now && !std::mem::replace(&mut self.down, true) {
            let errors = account.state.links();
            let error =
                errors.iter().filter_map(|link| link.show(now).last_error).max_by_key(|error| error.at);
            let why = error.map_or(String::new(), |error| format!(": {}", error.text));
            let what = if at.messages_wait {
                "messages wait and none was answered for a minute"
            } else {
                "no link has been bound for a minute"
            };
            account.raise(AlarmKind::CarrierDown, "", &format!("{what}{why}"));
        }
    }

    /// Receipts that found nothing when they came are no trouble if their answers come behind them, so those are counted
    /// that still wait.
    async fn look_at_receipts(&mut self, now: Moment) -> Result<(), StoreError> {
        let account = self.account;
        let five_minutes = account.state.recent(now).five_minutes;
        if !ids_do_not_match(five_minutes.receipts, five_minutes.unmatched) {
            if std::mem::take(&mut self.unmatched) {
                account.clear(AlarmKind::UnmatchedReceipts);
            }
            return Ok(());
        }
        if self.receipts_looked_at.is_some_and(|at| now < at.plus(RECEIPTS_LOOK)) {
            return Ok(());
        }
        self.receipts_looked_at = Some(now);
        let (store, wall) = (&account.world.store, account.world.clock.now());
        let parked = store.parked(account.id(), u32::try_from(PAGE_ROWS).expect("a page")).await?;
        let lately = wall.minus(FIVE_MINUTES)..wall.minus(ANSWER_GRACE);
        let waiting: Vec<_> = parked.iter().filter(|receipt| lately.contains(&receipt.at)).collect();
        let count = u64::try_from(waiting.len()).unwrap_or(u64::MAX);
        // A whole page is as many as are ever counted.
        let unmatched = ids_do_not_match(five_minutes.receipts, count) || waiting.len() == PAGE_ROWS;
        if unmatched && !self.unmatched {
            let answers = store.recent_carrier_ids(account.id(), 1).await?;
            let detail = told(
                five_minutes.receipts,
                count,
                answers.first().map(|tied| &tied.remote),
                waiting.first().map(|receipt| &receipt.remote),
            );
            account.raise(AlarmKind::UnmatchedReceipts, "", &detail);
        }
        if self.unmatched && !unmatched {
            account.clear(AlarmKind::UnmatchedReceipts);
        }
        self.unmatched = unmatched;
        Ok(())
    }
}

/// With two ids that should look alike, side by side.
fn told(receipts: u64, unmatched: u64, answer: Option<&RemoteId>, receipt: Option<&RemoteId>) -> String {
    let shape = |id: Option<&RemoteId>| id.map_or("(none)".to_owned(), |id| format!("{:?}", id.to_text()));
    format!(
        "{unmatched} of the {receipts} receipts of five minutes match nothing: an answer gives the id {}, a receipt {}",
        shape(answer),
        shape(receipt)
    )
}
