//! Results of reads, the same for every database: above all pages of rows.

use hermod_domain::ids::MessageId;
use hermod_domain::phone::Msisdn;
use hermod_engine::ops::{EventId, QueuePosition, ReportId, WaitingMessage, WebhookPage};
use hermod_engine::tables::{EventKey, InboundKey, PartRow, Readings};

/// The stored key of a part's row: carrier, account, message and part number.
pub(crate) type StoredKey = [i64; 4];

/// Parts in the order of their keys.
pub(crate) struct PartPage {
    pub parts: Readings<PartRow>,
    /// The key to continue after; `None` at the end of the table.
    pub last: Option<StoredKey>,
}

/// Parts whose receipts are late, in the order of their expiry.
pub(crate) struct LatePage {
    pub parts: Readings<PartRow>,
    /// The position to continue after; `None` at the end.
    pub last: Option<LatePlace>,
}

/// The position of a late part among those of its carrier: expiry, account, message and part number.
pub(crate) type LatePlace = StoredKey;

/// The matching rows of one page of a table scan.
pub(crate) struct Page<T, K = T> {
    pub(crate) found: Vec<T>,
    /// The last row that was read; `None` at the end of the table.
    pub(crate) last: Option<K>,
}

/// A message that an erasure covers.
#[derive(Clone, Copy)]
pub(crate) struct CoveredMessage {
    pub(crate) id: MessageId,
    /// Its recipient.
    pub(crate) to: Msisdn,
    pub(crate) has_ended: bool,
}

/// An MO message that an erasure covers.
#[derive(Clone, Copy)]
pub(crate) struct CoveredInbound {
    pub(crate) key: InboundKey,
    /// Its sender.
    pub(crate) from: Msisdn,
    pub(crate) message: MessageId,
}

/// A report that waits, and the message that it is about or delivers.
#[derive(Clone, Copy)]
pub(crate) struct ReportPlace {
    pub(crate) connection: u32,
    pub(crate) id: i64,
    pub(crate) message: MessageId,
}

/// A webhook event that waits, and the message that it is about or delivers.
#[derive(Clone, Copy)]
pub(crate) struct EventPlace {
    pub(crate) account: u32,
    pub(crate) kind: u8,
    pub(crate) id: i64,
    pub(crate) message: MessageId,
}

/// The numbers in one page of a table scan.
pub(crate) struct NumberPage<T> {
    pub(crate) numbers: Vec<Msisdn>,
    /// The last row that was read; `None` at the end of the table.
    pub(crate) last: Option<T>,
}

/// A page of a connection's reports, filtered for messages that were submitted on a transmitter bind.
pub(crate) struct OnTransmitters {
    /// Those that are not also sent by webhook.
    pub reports: Vec<ReportId>,
    /// The last report that was read, or the starting position if there was none.
    pub last: ReportId,
    /// How many reports were read, matching or not.
    pub rows_read: usize,
}

/// The events that are due at an endpoint.
pub(crate) struct Due {
    pub page: WebhookPage,
    pub undeliverable: Vec<UndeliverableEvent>,
}

/// An event without content: its message was purged, or its row is unreadable.
pub(crate) struct UndeliverableEvent {
    pub event: EventId,
    pub failures: u32,
}

/// A position among the events that have ended: the stored account, kind and id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct EndedPlace(pub u32, pub u8, pub i64);

/// Events whose retention is over.
pub(crate) struct OldEvents {
    pub events: Vec<EventKey>,
    /// The position to continue after; `None` at the end.
    pub next: Option<EndedPlace>,
}

/// Messages in a carrier's queue of which no part was sent.
pub(crate) struct WaitingPage {
    pub waiting: Vec<WaitingMessage>,
    /// The position to continue after; `None` at the end.
    pub last: Option<QueuePosition>,
}

/// The state of a store that a record belongs to, or that is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StorePosition {
    pub id: [u8; 16],
    /// The last batch.
    pub sequence: u64,
}
