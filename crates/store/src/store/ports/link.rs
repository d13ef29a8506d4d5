//! A link's side of the store: it reports what it learned and takes out what it may send.

use crate::error::StoreError;
use crate::store::{Store, outcome_of};
use crate::writer::mailbox::Mailbox;
use crate::writer::operation::Op;
use hermod_domain::carrier::IdConversion;
use hermod_domain::ids::CarrierId;
use hermod_domain::time::Timestamp;
use hermod_engine::commands::{CloseLink, OpenLink};
use hermod_engine::ops::{Handout, LinkBatch, LinkId, LinkKind, MoRecord, ReceiptRecord, ResponseRecord};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::sync::oneshot;

/// One bound link. It must be closed with [`LinkPort::close`]; a process that dies instead leaves its parts in doubt.
pub struct LinkPort {
    store: Store,
    carrier: CarrierId,
    ids: IdConversion,
    link: LinkId,
    mailbox: Arc<Mailbox>,
}

impl Store {
    /// `ids`: how this carrier writes the ids of its answers in its receipts.
    pub async fn open_link(
        &self,
        carrier: CarrierId,
        kind: LinkKind,
        ids: IdConversion,
    ) -> Result<LinkPort, StoreError> {
        let link = LinkId(self.inner.links_opened.fetch_add(1, Ordering::Relaxed));
        let mailbox = Arc::new(Mailbox::default());
        let open = OpenLink { carrier, link, kind };
        let (reply, answer) = oneshot::channel();
        self.send(Op::OpenLink(open, mailbox.clone(), reply)).await?;
        outcome_of::<OpenLink>(answer.await)?;
        Ok(LinkPort { store: self.clone(), carrier, ids, link, mailbox })
    }
}

impl LinkPort {
    /// Reports what was learned, and how many more parts the link can take. Waits while the writer is far behind, which
    /// is how a carrier that is faster than our disk is slowed down.
    pub async fn report(
        &self,
        answers: Vec<ResponseRecord>,
        receipts: Vec<ReceiptRecord>,
        slots: u32,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.report_all(answers, receipts, Vec::new(), slots, now).await
    }

    /// The same, with what handsets sent.
    pub async fn report_all(
        &self,
        answers: Vec<ResponseRecord>,
        receipts: Vec<ReceiptRecord>,
        inbound: Vec<MoRecord>,
        slots: u32,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let LinkPort { carrier, ids, link, .. } = *self;
        let learned = LinkBatch { carrier, ids, link, responses: answers, receipts, inbound, slots, now };
        self.store.send(Op::Command(learned.into(), None)).await
    }

    /// What may be done now that it is durable. Waits until there is something.
    pub async fn handout(&self) -> Handout {
        self.mailbox.take().await
    }

    /// No more parts for this link. Returns what was handed out and not yet taken: none of its bytes have left.
    pub async fn close(&self) -> Result<Handout, StoreError> {
        self.store.request(CloseLink { carrier: self.carrier, link: self.link }).await?;
        Ok(self.mailbox.take_now())
    }
}
