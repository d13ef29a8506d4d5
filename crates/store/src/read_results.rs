//! Pages of rows that readers find beside the writer, whatever database they are in.

use hermod_engine::ops::{EventId, QueuePosition, ReportId, WaitingMessage, WebhookPage};
use hermod_engine::tables::{EventKey, PartRow, Readings};

/// The key of a part's row as it is stored: carrier, account, message and number.
pub(crate) type StoredKey = [i64; 4];

/// Some parts, in the order of their keys.
pub(crate) struct PartPage {
    pub parts: Readings<PartRow>,
    /// Where to read on; None at the end.
    pub last: Option<StoredKey>,
}

/// Some parts whose receipts are late, the first to expire first.
pub(crate) struct LatePage {
    pub parts: Readings<PartRow>,
    /// Where to read on; None at the end.
    pub last: Option<LatePlace>,
}

/// The place of a part among those of its carrier, as it is stored: when it expires, account, message and number.
pub(crate) type LatePlace = StoredKey;

/// One page of a table that is looked through: what matched, and where to read on.
pub(crate) struct Page<T> {
    pub(crate) found: Vec<T>,
    pub(crate) last: Option<T>,
}

/// Reports of a connection that were looked at for those of messages that came on transmitters.
pub(crate) struct OnTransmitters {
    /// Those that no webhook tells.
    pub reports: Vec<ReportId>,
    /// The last report that was looked at; the one to begin behind, if there was none.
    pub last: ReportId,
    pub looked_at: usize,
}

/// What is due at an endpoint.
pub(crate) struct Due {
    pub page: WebhookPage,
    pub untellable: Vec<Untellable>,
}

/// An event that says nothing, or nothing that makes sense.
pub(crate) struct Untellable {
    pub event: EventId,
    pub failures: u32,
}

/// How far events that have ended were looked at: account, kind and id, as they are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OldPlace(pub u32, pub u8, pub i64);

/// What one look found.
pub(crate) struct OldEvents {
    pub events: Vec<EventKey>,
    /// Behind which to go on; None at the end.
    pub next: Option<OldPlace>,
}

/// Messages that wait for a carrier, of which the carrier has nothing.
pub(crate) struct WaitingPage {
    pub waiting: Vec<WaitingMessage>,
    /// Where to read on; nothing at the end.
    pub last: Option<QueuePosition>,
}
