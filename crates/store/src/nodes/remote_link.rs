//! A link of another node, as the engine's node sees it: where its handouts go, and which parts it has.

use super::frames::{self, HeldPart, ToNode};
use super::held_links::Held;
use super::outgoing::Outgoing;
use crate::writer::mailbox::Mailbox;
use hermod_domain::ids::CarrierId;
use hermod_engine::ops::{Handout, LinkId};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_util::sync::CancellationToken;

#[derive(Clone)]
pub(super) struct RemoteLink {
    pub carrier: CarrierId,
    pub mailbox: Arc<Mailbox>,
    held: Arc<Mutex<Held>>,
    is_closed: Arc<AtomicBool>,
    /// Stops the task that sends the handouts.
    ended: CancellationToken,
}

impl RemoteLink {
    pub(super) fn new(carrier: CarrierId) -> RemoteLink {
        RemoteLink {
            carrier,
            mailbox: Arc::default(),
            held: Arc::default(),
            is_closed: Arc::default(),
            ended: CancellationToken::new(),
        }
    }

    pub(super) fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what the engine handed out, and notes that the node has it.
    pub(super) fn take_handout(&self) -> Handout {
        // Locked first, so that a part is never in neither of the two.
        let mut held = self.held();
        let handout = self.mailbox.take_now();
        held.add(&handout);
        handout
    }

    /// Returns the parts that the node has, or would have had. The link must be closed at the engine.
    pub(super) fn last_parts(&self) -> Vec<HeldPart> {
        self.ended.cancel();
        self.take_handout();
        self.held().parts().collect()
    }

    /// Notes that the engine has closed the link. Its last receipts are still acknowledged.
    pub(super) fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
    }

    /// Ends a closed link whose parts are all reported on. Returns whether it did.
    pub(super) fn ends(&self) -> bool {
        let is_over =
            self.is_closed.load(Ordering::Acquire) && self.mailbox.is_empty() && self.held().is_empty();
        if is_over {
            self.ended.cancel();
        }
        is_over
    }

    /// Sends the handouts to the node.
    pub(super) async fn send_handouts(self, id: LinkId, outgoing: Arc<Outgoing>) {
        loop {
            tokio::select! {
                () = self.mailbox.arrival() => {}
                () = self.ended.cancelled() => return,
            }
            let handout = self.take_handout();
            if handout.is_empty() {
                continue;
            }
            match frames::encode(&ToNode::Handouts(vec![(id, handout)])) {
                Ok(octets) => outgoing.put(octets),
                Err(error) => tracing::error!(%error, "Parts for another node could not be encoded"),
            }
        }
    }
}
