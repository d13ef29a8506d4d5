//! A look at each carrier every second: how it is doing, and what somebody should know about it.

use super::account::Account;
use super::health::ids_do_not_match;
use crate::board::AlarmKind;
use crate::clock::Moment;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const LOOK: Duration = Duration::from_secs(1);
/// A carrier that nothing can be sent to for this long needs somebody.
const DOWN_FOR: Duration = Duration::from_secs(60);

/// Looks until told to stop.
pub(super) async fn oversee(account: &Account, stopping: &CancellationToken) {
    let clock = &account.world.clock;
    let mut overseer = Overseer::new(account, clock.moment());
    while !stopping.is_cancelled() {
        overseer.look(clock.moment());
        tokio::select! {
            () = clock.sleep(LOOK) => {}
            () = stopping.cancelled() => {}
        }
    }
}

pub(super) struct Overseer<'a> {
    account: &'a Account,
    /// When the last link that sends was lost, or was first wanted.
    unbound_since: Option<Moment>,
    /// Alarms that are up.
    down: bool,
    unmatched: bool,
    stopped: bool,
}

impl<'a> Overseer<'a> {
    pub(super) fn new(account: &'a Account, now: Moment) -> Overseer<'a> {
        Overseer { account, unbound_since: Some(now), down: false, unmatched: false, stopped: false }
    }

    pub(super) fn look(&mut self, now: Moment) {
        let account = self.account;
        account.state.look(now, account.world.clock.now());
        account.judge();
        self.look_at_links(now);
        self.look_at_receipts(now);
        let stopped = account.state.stopped().is_some();
        if self.stopped && !stopped {
            account.clear(AlarmKind::CarrierStopped);
        }
        self.stopped = stopped;
    }

    fn look_at_links(&mut self, now: Moment) {
        let account = self.account;
        if account.state.sending_links_bound() > 0 {
            if self.down {
                account.clear(AlarmKind::CarrierDown);
            }
            (self.unbound_since, self.down) = (None, false);
            return;
        }
        let since = *self.unbound_since.get_or_insert(now);
        if since.plus(DOWN_FOR) <= now && !std::mem::replace(&mut self.down, true) {
            let errors = account.state.links();
            let error =
                errors.iter().filter_map(|link| link.show(now).last_error).max_by_key(|error| error.at);
            let why = error.map_or(String::new(), |error| format!(": {}", error.text));
            account.raise(AlarmKind::CarrierDown, "", &format!("no link has been bound for a minute{why}"));
        }
    }

    fn look_at_receipts(&mut self, now: Moment) {
        let account = self.account;
        let five_minutes = account.state.recent(now).five_minutes;
        let unmatched = ids_do_not_match(&five_minutes);
        if unmatched && !self.unmatched {
            let detail = format!(
                "{} of the {} receipts of five minutes match nothing: {}",
                five_minutes.unmatched,
                five_minutes.receipts,
                account.id_shapes()
            );
            account.raise(AlarmKind::UnmatchedReceipts, "", &detail);
        }
        if self.unmatched && !unmatched {
            account.clear(AlarmKind::UnmatchedReceipts);
        }
        self.unmatched = unmatched;
    }
}
