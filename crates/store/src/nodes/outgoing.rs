//! Frames on their way to another node. One task writes them to the socket, all that wait at once.

use super::envelope::count_lost;
use super::frames::encode;
use serde::Serialize;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Frames that may wait before an envelope is lost.
const UNSENT_MAX: usize = 4_096;

/// Bounded by what is put into it: operations that are not answered, one take and the settlements of each bind, the handouts for
/// the slots of links, and batches for the record up to a number of octets.
#[derive(Default)]
pub(crate) struct Outgoing {
    waiting: Mutex<Waiting>,
    arrived: Notify,
    ended: CancellationToken,
}

#[derive(Default)]
struct Waiting {
    frames: Vec<Vec<u8>>,
    closed: bool,
}

impl Outgoing {
    /// Adds an encoded frame. It is dropped if the connection is closed.
    pub(crate) fn put(&self, frame: Vec<u8>) {
        let mut waiting = self.lock();
        if waiting.closed {
            return;
        }
        waiting.frames.push(frame);
        let first = waiting.frames.len() == 1;
        drop(waiting);
        if first {
            self.arrived.notify_one();
        }
    }

    /// Encodes a frame and adds it.
    pub(super) fn send(&self, frame: &impl Serialize) {
        match encode(frame) {
            Ok(octets) => self.put(octets),
            Err(error) => tracing::error!(%error, "A frame for another node could not be encoded"),
        }
    }

    /// Waits for frames, and returns all that wait; none once the connection is closed.
    pub(crate) async fn take(&self) -> Option<Vec<Vec<u8>>> {
        loop {
            {
                let mut waiting = self.lock();
                if waiting.closed {
                    return None;
                }
                if !waiting.frames.is_empty() {
                    return Some(std::mem::take(&mut waiting.frames));
                }
            }
            self.arrived.notified().await;
        }
    }

    /// Adds a frame with an envelope, unless too many frames wait.
    pub(super) fn put_envelope(&self, frame: &impl Serialize) {
        if self.lock().frames.len() >= UNSENT_MAX {
            return count_lost();
        }
        match encode(frame) {
            Ok(octets) => self.put(octets),
            Err(error) => tracing::error!(%error, "An envelope to another node could not be encoded"),
        }
    }

    /// Returns how many octets wait.
    pub(super) fn octets(&self) -> usize {
        self.lock().frames.iter().map(Vec::len).sum()
    }

    pub(crate) fn close(&self) {
        let mut waiting = self.lock();
        waiting.closed = true;
        waiting.frames = Vec::new();
        drop(waiting);
        self.ended.cancel();
        self.arrived.notify_one();
    }

    /// Waits until the connection is closed.
    pub(crate) async fn closed(&self) {
        self.ended.cancelled().await;
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
