//! A link of a carrier that was stopped: it stays bound, so that receipts come in, and is given no parts.

use super::Link;
use crate::board::AlarmKind;
use crate::edges::carrier::backoff::Ended;

impl Link<'_> {
    pub(super) async fn on_stopped_or_resumed(&mut self) {
        let held = self.stopped.borrow_and_update().is_some();
        if held == std::mem::replace(&mut self.held, held) || self.draining_until.is_some() {
            return;
        }
        if held { self.hold().await } else { self.go_on().await }
    }

    /// What the store may still give is taken back: until it hears of this, it would fill the slots it has.
    async fn hold(&mut self) {
        self.flow.take_back();
        self.close_port().await;
    }

    /// The store gets a new port for the link; the old one gives out what it still has.
    async fn go_on(&mut self) {
        let account = self.account;
        account.clear(AlarmKind::CarrierStopped);
        if self.port.is_none() {
            return;
        }
        match account.world.store.open_link(account.id(), self.kind(), account.profile().ids).await {
            Ok(port) => {
                self.close_port().await;
                self.port = Some(port);
            }
            Err(fault) => {
                tracing::error!(%fault, "A link cannot reach the store");
                self.ended.get_or_insert(Ended::StoreGone);
            }
        }
    }
}
