//! Requests and messages to an edge, which wait until it takes them.

use parking_lot::Mutex;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::oneshot;

/// A bounded queue whose receiver one task takes.
#[derive(Debug)]
pub struct Inbox<T> {
    arriving: mpsc::Sender<T>,
    receiver: Mutex<Option<mpsc::Receiver<T>>>,
}

/// Why a request got no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoAnswer {
    Busy,
    Stopping,
}

impl<T> Inbox<T> {
    pub(super) fn of(waiting_max: usize) -> Inbox<T> {
        let (arriving, receiver) = mpsc::channel(waiting_max);
        Inbox { arriving, receiver: Mutex::new(Some(receiver)) }
    }

    /// Queues one. Fails if the queue is full or its receiver is gone.
    pub fn put(&self, one: T) -> Result<(), TrySendError<T>> {
        self.arriving.try_send(one)
    }

    /// Puts a request and waits for its answer.
    pub(super) async fn ask<R>(&self, request: impl FnOnce(oneshot::Sender<R>) -> T) -> Result<R, NoAnswer> {
        let (answer, given) = oneshot::channel();
        self.put(request(answer)).map_err(|refused| match refused {
            TrySendError::Full(_) => NoAnswer::Busy,
            TrySendError::Closed(_) => NoAnswer::Stopping,
        })?;
        given.await.map_err(|_| NoAnswer::Stopping)
    }

    /// How many more may wait.
    pub(super) fn room(&self) -> usize {
        self.arriving.capacity()
    }

    /// Returns the receiver, once; `None` after that.
    pub fn receiver(&self) -> Option<mpsc::Receiver<T>> {
        self.receiver.lock().take()
    }
}
