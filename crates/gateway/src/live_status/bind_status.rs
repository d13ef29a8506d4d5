//! The status of one customer's bind: its parameters, counters and pending orders. The session writes it; metrics and
//! the operator read it at any time.

use super::counters::{PerSecond, SharedCount};
use super::link_status::LastError;
use crate::clock::Moment;
use hermod_domain::ids::{AccountId, ConnectionId};
use hermod_domain::time::Timestamp;
use hermod_smpp::BindType;
use metrics::{counter, gauge};
use parking_lot::Mutex;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// An order to a bind's session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Send enquire_link, and end without a response.
    Probe,
    /// Unbind and end.
    Unbind,
}

const PROBE: u8 = 1;
const UNBIND: u8 = 2;

/// The parameters of a new bind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewBind {
    pub connection: ConnectionId,
    pub account: AccountId,
    pub system_id: Arc<str>,
    pub kind: BindType,
    /// SMPP 3.4; false: 3.3.
    pub is_3_4: bool,
    pub peer: IpAddr,
    pub tls: bool,
    pub window: u32,
    /// The address_range of the bind. Displayed only.
    pub address_range: String,
    pub now: Timestamp,
}

/// Shared by the session and its readers.
pub struct BindStatus {
    pub number: u64,
    pub began: NewBind,
    submits: SharedCount,
    refused: SharedCount,
    receipts: SharedCount,
    /// Requests of the customer without our response.
    window_in: AtomicU32,
    /// Our requests without the customer's response.
    window_out: AtomicU32,
    per_second: PerSecond,
    last_error: Mutex<Option<LastError>>,
    orders: AtomicU8,
    called: Notify,
    gone: CancellationToken,
}

/// A bind as the operator sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BindSnapshot {
    /// From 1, in order of binding since the start of the process.
    pub number: u64,
    pub began: NewBind,
    pub window_in: u32,
    pub window_out: u32,
    /// Submits per second over the last ten seconds, in tenths, accepted or not.
    pub submits_per_10_s: u64,
    pub submits: u64,
    /// The rejected ones among them.
    pub refused: u64,
    /// Receipts that the customer acknowledged.
    pub receipts: u64,
    pub last_error: Option<LastError>,
}

impl BindStatus {
    pub(super) fn new(number: u64, began: NewBind) -> BindStatus {
        gauge!("hermod_smpp_binds", "type" => began.kind.as_str()).increment(1.0);
        BindStatus {
            number,
            began,
            submits: SharedCount::new(counter!("hermod_smpp_submits_total")),
            refused: SharedCount::new(counter!("hermod_smpp_refused_total")),
            receipts: SharedCount::new(counter!("hermod_smpp_receipts_total")),
            window_in: AtomicU32::new(0),
            window_out: AtomicU32::new(0),
            per_second: PerSecond::default(),
            last_error: Mutex::default(),
            orders: AtomicU8::new(0),
            called: Notify::new(),
            gone: CancellationToken::new(),
        }
    }

    /// Counts submits. To be called by the bind's own task only.
    pub fn submitted(&self, count: u32, now: Moment) {
        if count > 0 {
            self.submits.add(u64::from(count));
            self.per_second.add(count, now);
        }
    }

    /// Counts rejected submits.
    pub fn refused(&self, count: u32) {
        self.refused.add(u64::from(count));
    }

    /// Counts acknowledged receipts.
    pub fn receipts(&self, count: u32) {
        self.receipts.add(u64::from(count));
    }

    pub fn set_window_in(&self, open: u32) {
        self.window_in.store(open, Ordering::Relaxed);
    }

    pub fn set_window_out(&self, open: u32) {
        self.window_out.store(open, Ordering::Relaxed);
    }

    pub fn failed(&self, text: String, now: Timestamp) {
        *self.last_error.lock() = Some(LastError { at: now, text });
    }

    /// Gives the session an order, which [`BindStatus::ordered`] returns.
    pub fn order(&self, order: Order) {
        let bit = match order {
            Order::Probe => PROBE,
            Order::Unbind => UNBIND,
        };
        self.orders.fetch_or(bit, Ordering::AcqRel);
        self.called.notify_one();
    }

    /// Waits for the next order. For the session's task only. Cancel-safe.
    pub async fn ordered(&self) -> Order {
        loop {
            for (bit, order) in [(UNBIND, Order::Unbind), (PROBE, Order::Probe)] {
                if self.orders.fetch_and(!bit, Ordering::AcqRel) & bit != 0 {
                    return order;
                }
            }
            self.called.notified().await;
        }
    }

    /// Waits until the bind has ended.
    pub async fn gone(&self) {
        self.gone.cancelled().await;
    }

    /// Marks the bind as ended. Repeated calls have no effect.
    pub(super) fn left(&self) {
        if !self.gone.is_cancelled() {
            gauge!("hermod_smpp_binds", "type" => self.began.kind.as_str()).decrement(1.0);
            self.gone.cancel();
        }
    }

    pub fn show(&self, now: Moment) -> BindSnapshot {
        BindSnapshot {
            number: self.number,
            began: self.began.clone(),
            window_in: self.window_in.load(Ordering::Relaxed),
            window_out: self.window_out.load(Ordering::Relaxed),
            submits_per_10_s: self.per_second.tenths(now),
            submits: self.submits.get(),
            refused: self.refused.get(),
            receipts: self.receipts.get(),
            last_error: self.last_error.lock().clone(),
        }
    }
}
