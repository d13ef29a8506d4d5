//! Keeps one link up: dials, binds, and comes back after every loss.

use super::backoff::{Ended, Reconnect};
use super::connect::connect;
use super::link::Link;
use super::link_group::Account;
use crate::board::{LinkFigures, LinkState};
use crate::clock::Moment;
use crate::secrets::sealed;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Until told to stop.
pub(super) async fn keep_linked(account: &Account, figures: &LinkFigures, stopping: &CancellationToken) {
    let keeper = Keeper { account, figures, stopping };
    let mut reconnect = Reconnect::default();
    let mut wait = Duration::ZERO;
    while keeper.waited(wait).await {
        let ended = keeper.link_once().await;
        wait = reconnect.wait_after(&ended, random_u32());
        keeper.on_ended(&ended, wait);
    }
    figures.enter(LinkState::Waiting, account.world.clock.now());
}

struct Keeper<'a> {
    account: &'a Account,
    figures: &'a LinkFigures,
    stopping: &'a CancellationToken,
}

impl Keeper<'_> {
    /// Waits for so long, and then for its turn among the carrier's links. False if it is to stop instead.
    async fn waited(&self, wait: Duration) -> bool {
        let clock = &self.account.world.clock;
        self.wait_until(clock.moment().plus(wait)).await;
        if !self.stopping.is_cancelled() {
            self.wait_until(self.account.turns.take(clock.moment())).await;
        }
        !self.stopping.is_cancelled()
    }

    async fn wait_until(&self, until: Moment) {
        let clock = &self.account.world.clock;
        let (now, wall) = (clock.moment(), clock.now());
        if until <= now {
            return;
        }
        self.figures.wait_until(wall.plus(Duration::from_millis(until.0 - now.0)), wall);
        tokio::select! {
            () = clock.sleep_until(until) => {}
            () = self.stopping.cancelled() => {}
        }
    }

    async fn link_once(&self) -> Ended {
        let Keeper { account, figures, stopping } = self;
        let (world, entry) = (&account.world, &account.entry);
        figures.attempted();
        figures.enter(LinkState::Connecting, world.clock.now());
        let stream = tokio::select! {
            stream = connect(&world.clock, entry) => stream,
            () = stopping.cancelled() => return Ended::Stopped,
        };
        let stream = match stream {
            Ok(stream) => stream,
            Err(fault) => return Ended::NotConnected(fault),
        };
        let password = match sealed::open(&world.pepper, account.name(), &entry.password) {
            Ok(password) => password,
            Err(unopened) => return Ended::NoPassword(unopened),
        };
        match Link::new(account, figures, &password) {
            Ok(link) => link.run(stream, stopping).await,
            Err(error) => Ended::BadSettings(error),
        }
    }

    fn on_ended(&self, ended: &Ended, wait: Duration) {
        let account = self.account;
        account.judge();
        if self.stopping.is_cancelled() {
            return;
        }
        let (name, link) = (account.name(), self.figures.number());
        tracing::warn!(carrier.name = name, link, reason = %ended, wait_ms = wait.as_millis(), "Link to {name} is down");
        let text = ended.to_string();
        if let Some(kind) = ended.alarm() {
            account.raise(kind, "", &format!("link {link}: {text}"));
        }
        self.figures.failed(text, account.world.clock.now());
    }
}

/// For spreading reconnects out; a predictable one would do no harm.
fn random_u32() -> u32 {
    getrandom::u32().unwrap_or(u32::MAX / 2)
}
