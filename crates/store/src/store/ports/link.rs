//! A link's port to the store: records responses, receipts and MO messages, and receives the parts to send.

use crate::error::StoreError;
use crate::store::{Store, outcome_of};
use crate::writer::mailbox::Mailbox;
use crate::writer::operation::{Op, Reply};
use hermod_domain::carrier::IdConversion;
use hermod_domain::ids::CarrierId;
use hermod_domain::time::Timestamp;
use hermod_engine::commands::{CloseLink, OpenLink};
use hermod_engine::ops::{Handout, LinkBatch, LinkId, LinkKind, MoRecord, ReceiptRecord, ResponseRecord};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::sync::oneshot;

/// The port of one bound link. Close it with [`LinkPort::close`], or its parts stay claimed until the next start, which makes
/// them in doubt.
pub struct LinkPort {
    store: Store,
    carrier: CarrierId,
    ids: IdConversion,
    link: LinkId,
    mailbox: Arc<Mailbox>,
}

impl Store {
    /// Opens a port for a link of this carrier. `ids`: how the carrier converts the ids of its responses in its receipts.
    pub async fn open_link(
        &self,
        carrier: CarrierId,
        kind: LinkKind,
        ids: IdConversion,
    ) -> Result<LinkPort, StoreError> {
        let link = LinkId(self.inner.links_opened.fetch_add(1, Ordering::Relaxed));
        let mailbox = Arc::new(Mailbox::default());
        let open = OpenLink { carrier, link, kind };
        let (reply, outcome) = oneshot::channel();
        self.send(Op::OpenLink(open, mailbox.clone(), Reply::Caller(reply))).await?;
        outcome_of::<OpenLink>(outcome.await)?;
        Ok(LinkPort { store: self.clone(), carrier, ids, link, mailbox })
    }
}

impl LinkPort {
    /// Queues what the link received, and how many more parts it can take (`slots`). Waits while the writer's queue is full,
    /// which slows down a carrier that is faster than the disk. Nothing is durable yet when this returns: receipts and MO
    /// messages are acknowledged by [`LinkPort::handout`].
    pub async fn record(
        &self,
        responses: Vec<ResponseRecord>,
        receipts: Vec<ReceiptRecord>,
        inbound: Vec<MoRecord>,
        slots: u32,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let LinkPort { carrier, ids, link, .. } = *self;
        let batch = LinkBatch { carrier, ids, link, responses, receipts, inbound, slots, now };
        self.store.send(Op::Command(batch.into(), None)).await
    }

    /// Waits for durable results: parts to send, and receipts and MO messages to acknowledge.
    pub async fn handout(&self) -> Handout {
        self.mailbox.take().await
    }

    /// Closes the link: it gets no more parts. Returns what was handed out and not taken yet; nothing of it was sent.
    pub async fn close(&self) -> Result<Handout, StoreError> {
        self.store.request(CloseLink { carrier: self.carrier, link: self.link }).await?;
        Ok(self.mailbox.take_now())
    }
}
