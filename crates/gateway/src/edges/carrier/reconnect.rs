//! Keeps one link up: connects, binds, and reconnects after every loss.

use super::backoff::{Ended, ReconnectBackoff};
use super::connect::connect;
use super::link::CarrierLink;
use super::link_group::LinkGroup;
use crate::clock::Moment;
use crate::live_status::{LinkState, LinkStatus};
use crate::secrets::sealed;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How soon a link looks again whether its node may bind.
const LEASE_CHECK: Duration = Duration::from_millis(200);

/// Runs until `stopping` is cancelled.
pub(super) async fn keep_connected(group: &LinkGroup, figures: &LinkStatus, stopping: &CancellationToken) {
    let task = LinkTask { group, figures, stopping };
    let mut backoff = ReconnectBackoff::default();
    let mut wait = Duration::ZERO;
    while task.wait_for_turn(wait).await {
        let ended = task.connect_once().await;
        wait = backoff.wait_after(&ended, random_u32());
        task.on_ended(&ended, wait);
    }
    figures.enter(LinkState::Waiting, group.gateway.clock.now());
}

struct LinkTask<'a> {
    group: &'a LinkGroup,
    figures: &'a LinkStatus,
    stopping: &'a CancellationToken,
}

impl LinkTask<'_> {
    /// Waits for `wait`, then for its bind turn among the carrier's links. Returns false if the link is to stop.
    async fn wait_for_turn(&self, wait: Duration) -> bool {
        let clock = &self.group.gateway.clock;
        self.wait_until(clock.moment().plus(wait)).await;
        if !self.stopping.is_cancelled() {
            self.wait_until(self.group.turns.take(clock.moment())).await;
        }
        !self.stopping.is_cancelled()
    }

    async fn wait_until(&self, until: Moment) {
        let clock = &self.group.gateway.clock;
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

    async fn connect_once(&self) -> Ended {
        let LinkTask { group, figures, stopping } = self;
        while !group.gateway.store.may_send() {
            self.wait_until(group.gateway.clock.moment().plus(LEASE_CHECK)).await;
            if stopping.is_cancelled() {
                return Ended::Stopped;
            }
        }
        let (gateway, entry) = (&group.gateway, &group.entry);
        figures.attempted();
        figures.enter(LinkState::Connecting, gateway.clock.now());
        let stream = tokio::select! {
            stream = connect(&gateway.clock, entry) => stream,
            () = stopping.cancelled() => return Ended::Stopped,
        };
        let stream = match stream {
            Ok(stream) => stream,
            Err(fault) => return Ended::NotConnected(fault),
        };
        let password = match sealed::open(&gateway.pepper, group.name(), &entry.password) {
            Ok(password) => password,
            Err(unopened) => return Ended::NoPassword(unopened),
        };
        match CarrierLink::new(group, figures, &password) {
            Ok(link) => link.run(stream, stopping).await,
            Err(error) => Ended::BadSettings(error),
        }
    }

    fn on_ended(&self, ended: &Ended, wait: Duration) {
        let group = self.group;
        group.update_health();
        if self.stopping.is_cancelled() {
            return;
        }
        let (name, link) = (group.name(), self.figures.number());
        tracing::warn!(carrier.name = name, link, reason = %ended, wait_ms = wait.as_millis(), "Link to {name} is down");
        let text = ended.to_string();
        if let Some(kind) = ended.alarm() {
            group.raise(kind, "", &format!("link {link}: {text}"));
        }
        self.figures.failed(text, group.gateway.clock.now());
    }
}

/// Jitter for reconnects; it need not be unpredictable.
fn random_u32() -> u32 {
    getrandom::u32().unwrap_or(u32::MAX / 2)
}
