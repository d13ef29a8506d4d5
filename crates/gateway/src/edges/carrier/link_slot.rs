//! One link of a carrier as a slot that one node has at a time. Several nodes share the links of a carrier: each prefers its
//! part of them, and takes others that no node has. A node alone has all of them at once.

use super::link_group::LinkGroup;
use crate::clock::Moment;
use crate::workers::Workers;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How often a node looks for a slot that it has not, or should give back.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How long a slot must be free before a node takes it that does not prefer it.
const FREE_FOR: Duration = Duration::from_secs(3);
/// How long another node must prefer a slot before it is given back: a node that has just started must be able to bind.
const GIVE_BACK_AFTER: Duration = Duration::from_secs(10);

pub(super) struct LinkSlot<'a> {
    pub(super) group: &'a LinkGroup,
    pub(super) number: u8,
}

impl LinkSlot<'_> {
    /// Runs the link whenever this node has the slot, until the links are stopped.
    pub(super) async fn keep(&self, links: &Workers, run: impl Fn(&Workers)) {
        let stopping = links.stopping();
        while self.take(&stopping).await {
            let running = links.child();
            self.group.links_here(1);
            run(&running);
            self.hold(&stopping).await;
            running.stop().await;
            self.group.links_here(-1);
            self.group.state.retire_link(self.number, self.group.gateway.clock.now());
            if let Err(error) =
                self.group.gateway.store.cluster().release_link(self.group.id(), self.number).await
            {
                tracing::warn!(%error, carrier.name = self.group.name(), "A link could not be given back; another node can use it when this one has ended");
            }
        }
    }

    /// Waits until this node has the slot. Returns false if the links are stopped.
    async fn take(&self, stopping: &CancellationToken) -> bool {
        let gateway = &self.group.gateway;
        let mut unwanted_since: Option<Moment> = None;
        loop {
            if stopping.is_cancelled() {
                return false;
            }
            let now = gateway.clock.moment();
            let is_preferred = gateway.store.cluster().prefers_link(self.group.id(), self.number);
            let since = *unwanted_since.get_or_insert(now);
            if is_preferred || since.plus(FREE_FOR) <= now {
                match gateway.store.cluster().claim_link(self.group.id(), self.number).await {
                    Ok(true) => return true,
                    Ok(false) => unwanted_since = None,
                    Err(error) => {
                        tracing::warn!(%error, carrier.name = self.group.name(), "It is not known which node has a link; trying again");
                    }
                }
            }
            tokio::select! {
                () = gateway.clock.sleep(LOOK_EVERY) => {}
                () = stopping.cancelled() => return false,
            }
        }
    }

    /// Waits until the links are stopped, or another node should have the slot.
    async fn hold(&self, stopping: &CancellationToken) {
        let gateway = &self.group.gateway;
        let mut preferred_at = gateway.clock.moment();
        while preferred_at.plus(GIVE_BACK_AFTER) > gateway.clock.moment() {
            tokio::select! {
                () = gateway.clock.sleep(LOOK_EVERY) => {}
                () = stopping.cancelled() => return,
            }
            if gateway.store.cluster().prefers_link(self.group.id(), self.number) {
                preferred_at = gateway.clock.moment();
            }
        }
    }
}
