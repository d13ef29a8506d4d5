//! What callers of the writer have: its queue, the reads beside it, and the state that they share with it without going through
//! the queue.

use crate::backend::Backend;
use crate::backend::Lease;
use crate::data_folder::disk::Disk;
use crate::error::StoreError;
use crate::outboxes::Outboxes;
use crate::record::Feed;
use crate::writer::queue::Callers;
use arc_swap::ArcSwap;
use hermod_domain::audit::AuditKey;
use hermod_domain::catalogue::Catalogue;
use hermod_domain::erasure::ErasureKey;
use hermod_domain::ids::CarrierId;
use hermod_domain::time::Timestamp;
use hermod_engine::maps::{HashMap, HashSet};
use hermod_engine::ops::{ENDPOINTS_WOKEN_MAX, Endpoint};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use tokio::sync::{Notify, oneshot, watch};

const NOTHING_DUE: i64 = i64::MAX;

/// What reaches an open store.
pub(crate) struct Access {
    pub queue: Callers,
    pub backend: Backend,
    pub shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub disk: Arc<Disk>,
    next_due_ms: AtomicI64,
    pub outboxes: Outboxes,
    /// The setup that the next batch decides by. Never empty before the stored one was read: see [`Shared::new`].
    pub catalogue: ArcSwap<Catalogue>,
    pub wakeup: Wakeup,
    pub copies: CopySlot,
    /// Parts whose last resend got no response. They count as submitted.
    pub unconfirmed: CarrierCounts,
    /// Ids that a carrier gave to a part while another part had them.
    pub reused_ids: CarrierCounts,
    /// The key of the audit log, once the caller has set it.
    pub audit_key: OnceLock<AuditKey>,
    /// The key of the digests of erased numbers, once the caller has set it.
    pub erasure_key: OnceLock<ErasureKey>,
    /// Erasures are not made again in a restored store before this time.
    pub replay_after_ms: AtomicI64,
    /// What the record has not seen yet.
    pub feed: Arc<Feed>,
    /// Until when this node may answer and send.
    pub lease: Arc<Lease>,
    /// Whether this process runs the engine.
    pub runs_engine: watch::Sender<bool>,
    /// Increases when the setup was changed, by this process or another.
    pub catalogue_changed: watch::Sender<u64>,
}

impl Shared {
    /// `catalogue`: the stored setup.
    pub(crate) fn new(
        disk: Arc<Disk>,
        outboxes: Outboxes,
        feed: Arc<Feed>,
        lease: Arc<Lease>,
        catalogue: Arc<Catalogue>,
    ) -> Shared {
        Shared {
            disk,
            next_due_ms: AtomicI64::new(NOTHING_DUE),
            outboxes,
            catalogue: ArcSwap::new(catalogue),
            wakeup: Wakeup::default(),
            copies: CopySlot::default(),
            unconfirmed: CarrierCounts::default(),
            reused_ids: CarrierCounts::default(),
            audit_key: OnceLock::new(),
            erasure_key: OnceLock::new(),
            replay_after_ms: AtomicI64::new(i64::MIN),
            feed,
            lease,
            runs_engine: watch::Sender::new(false),
            catalogue_changed: watch::Sender::new(0),
        }
    }

    /// Sets when the first deferred part is due; `None` if no part is deferred.
    pub(crate) fn set_next_due(&self, at: Option<Timestamp>) {
        self.next_due_ms.store(at.map_or(NOTHING_DUE, Timestamp::as_millis), Ordering::Release);
    }

    /// Whether a deferred part is due.
    pub(crate) fn is_due(&self, now: Timestamp) -> bool {
        self.next_due_ms.load(Ordering::Acquire) <= now.as_millis()
    }
}

/// The webhook endpoints at which an event became due. The writer adds them after the commit; one task takes them.
#[derive(Default)]
pub(crate) struct Wakeup {
    woken: Mutex<HashSet<Endpoint>>,
    wake: Notify,
}

impl Wakeup {
    /// Adds endpoints and wakes the task that waits for them. Beyond [`ENDPOINTS_WOKEN_MAX`] further endpoints are
    /// dropped; `WebhookStore::waiting` finds them.
    pub(crate) fn wake(&self, endpoints: HashSet<Endpoint>) {
        if endpoints.is_empty() {
            return;
        }
        let mut woken = lock(&self.woken);
        if woken.is_empty() {
            *woken = endpoints;
        } else {
            let room = ENDPOINTS_WOKEN_MAX.saturating_sub(woken.len());
            woken.extend(endpoints.into_iter().take(room));
        }
        drop(woken);
        self.wake.notify_one();
    }

    /// Waits for endpoints, and returns those added since the last call. For one caller at a time. Dropping the future
    /// loses nothing.
    pub(crate) async fn take(&self) -> Vec<Endpoint> {
        loop {
            let woken = std::mem::take(&mut *lock(&self.woken));
            if !woken.is_empty() {
                return woken.into_iter().collect();
            }
            self.wake.notified().await;
        }
    }
}

/// A request to copy the database into a new file.
pub(crate) struct CopyRequest {
    pub file: PathBuf,
    pub reply: oneshot::Sender<Result<(), StoreError>>,
}

/// Holds the one copy that may be requested or in progress at a time. Callers request it, the writer makes it.
#[derive(Default)]
pub(crate) struct CopySlot {
    occupied: AtomicBool,
    requested: Mutex<Option<CopyRequest>>,
}

impl CopySlot {
    /// Requests a copy. Fails with [`StoreError::CopyInProgress`] until the last one has finished.
    pub(crate) fn request(&self, request: CopyRequest) -> Result<(), StoreError> {
        if self.occupied.swap(true, Ordering::AcqRel) {
            return Err(StoreError::CopyInProgress);
        }
        *lock(&self.requested) = Some(request);
        Ok(())
    }

    /// Takes the request, if there is one. Further requests fail until [`CopySlot::release`].
    pub(crate) fn take(&self) -> Option<CopyRequest> {
        lock(&self.requested).take()
    }

    /// Allows the next request, after the copy was completed or aborted.
    pub(crate) fn release(&self) {
        self.occupied.store(false, Ordering::Release);
    }
}

/// Counts, per carrier, of what raises an alarm.
#[derive(Default)]
pub(crate) struct CarrierCounts {
    counts: Mutex<BTreeMap<CarrierId, u64>>,
}

impl CarrierCounts {
    /// Adds the counts of a batch. Called after its commit.
    pub(crate) fn add(&self, counted: HashMap<CarrierId, u64>) {
        if counted.is_empty() {
            return;
        }
        let mut counts = lock(&self.counts);
        for (carrier, count) in counted {
            *counts.entry(carrier).or_default() += count;
        }
    }

    /// Returns the counts since the last call and resets them.
    pub(crate) fn take(&self) -> BTreeMap<CarrierId, u64> {
        std::mem::take(&mut *lock(&self.counts))
    }
}

/// Locks it, also after a panic elsewhere: no holder leaves these values half changed.
fn lock<T>(guarded: &Mutex<T>) -> MutexGuard<'_, T> {
    guarded.lock().unwrap_or_else(PoisonError::into_inner)
}
