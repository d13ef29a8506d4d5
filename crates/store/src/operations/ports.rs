//! The ports of the store: one per link to a carrier, which records responses, receipts and MO messages and receives the parts to
//! send; and one per customer bind that receives reports, which takes reports to send and records their results.

use crate::error::StoreError;
use crate::nodes::RemotePort;
use crate::operations::{Store, outcome_of};
use crate::sql::engine_reads;
use crate::writer::mailbox::Mailbox;
use crate::writer::operation::{Op, Reply};
use crate::writer::report_port::ReportPort;
use hermod_domain::carrier::IdConversion;
use hermod_domain::ids::{CarrierId, ConnectionId};
use hermod_domain::time::Timestamp;
use hermod_engine::commands::{CloseLink, OpenLink};
use hermod_engine::ops::{
    Handout, LinkBatch, LinkId, LinkKind, LinkNumber, MoMessage, MoRecord, ReceiptRecord, Report,
    ReportContent, ReportId, ReportOutcome, ResponseRecord,
};
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use tokio::sync::oneshot;

impl Store {
    /// Opens a port for a link of this carrier, which has this number among its links. `ids`: how the carrier converts the ids of its
    /// responses in its receipts.
    pub async fn open_link(
        &self,
        carrier: CarrierId,
        number: LinkNumber,
        kind: LinkKind,
        ids: IdConversion,
    ) -> Result<LinkPort, StoreError> {
        let link = LinkId(self.inner.links_opened.fetch_add(1, Ordering::Relaxed));
        let mailbox = Arc::new(Mailbox::default());
        let open = OpenLink { carrier, link, number, kind };
        let (reply, outcome) = oneshot::channel();
        self.send(Op::OpenLink(open, mailbox.clone(), Reply::Caller(reply))).await?;
        outcome_of::<OpenLink>(outcome.await)?;
        Ok(LinkPort { store: self.clone(), carrier, ids, link, mailbox })
    }

    /// Opens a port for a bind of this connection.
    pub fn open_receiver(&self, connection: ConnectionId) -> ReceiverPort {
        let remote = self.inner.front_end().filter(|_| !self.runs_engine());
        let remote = remote.map(|front_end| front_end.open_port(connection));
        let port = ReceiverPort { store: self.clone(), connection, remote, local: OnceLock::new() };
        if port.remote.is_none() {
            port.here();
        }
        port
    }
}

/// The port of one bound link. Close it with [`LinkPort::close`], or its parts stay claimed until the next start, which makes
/// them in doubt.
pub struct LinkPort {
    store: Store,
    carrier: CarrierId,
    ids: IdConversion,
    link: LinkId,
    mailbox: Arc<Mailbox>,
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

/// The port of one bind that receives reports. When it is dropped, reports that it took and did not settle are sent again
/// later.
pub struct ReceiverPort {
    store: Store,
    connection: ConnectionId,
    /// If the engine was on another node.
    remote: Option<Arc<RemotePort>>,
    /// If the engine was here.
    local: OnceLock<ReportPort>,
}

impl ReceiverPort {
    /// Returns the port to the outbox of this process.
    fn here(&self) -> &ReportPort {
        let access = &self.store.inner.access;
        match &self.remote {
            Some(remote) => remote.here(access),
            None => self.local.get_or_init(|| ReportPort::open(access.clone(), self.connection)),
        }
    }
}

impl Drop for ReceiverPort {
    fn drop(&mut self) {
        if let (Some(front_end), Some(remote)) = (self.store.inner.front_end(), &self.remote) {
            front_end.close_port(remote);
        }
    }
}

impl ReceiverPort {
    /// Waits for reports and returns at most `most`. Of several binds that wait, the one with the fewest outstanding reports is
    /// served first. Dropping the future loses nothing.
    pub async fn take(&self, most: u32, now: Timestamp) -> Vec<Report> {
        let Some(remote) = &self.remote else { return self.here().take(most, now).await };
        let mut runs_engine = self.store.inner.access.shared.runs_engine.subscribe();
        tokio::select! {
            biased;
            _ = runs_engine.wait_for(|here| *here) => {}
            reports = remote.take(most, now) => return reports,
        }
        // This node has taken over.
        self.here().take(most, now).await
    }

    /// Returns the MO messages that these reports deliver. Purged ones are left out.
    pub async fn inbound(&self, reports: &[Report]) -> Result<Vec<(ReportId, MoMessage)>, StoreError> {
        let wanted = reports.iter().filter_map(|report| match report.content {
            ReportContent::Inbound(number) => Some((report.id, report.account, number)),
            ReportContent::Dlr(_) => None,
        });
        let wanted: Vec<_> = wanted.collect();
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        self.store.read(move |database| engine_reads::mo_messages(database, wanted)).await
    }

    /// Records the results of reports that this port took; other reports are ignored. The results are queued when this
    /// returns, not durable: a report that is settled just before the process ends may be sent again.
    pub async fn settle(
        &self,
        outcomes: Vec<(ReportId, ReportOutcome)>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let here = match &self.remote {
            Some(remote) => remote.settle(outcomes, now),
            None => Some(outcomes),
        };
        match here {
            Some(outcomes) => self.here().settle(outcomes, now).await,
            None => Ok(()),
        }
    }
}
