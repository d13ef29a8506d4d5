//! Reading beside the writer: a few connections of their own, each read a short snapshot on a blocking thread.

use crate::embedded::schema;
use crate::fault::StoreFault;
use rusqlite::Connection;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Semaphore;

/// Reads at the same time. More would only queue for the same two disks and cores.
const READERS: usize = 4;

pub(crate) struct Readers {
    idle: Arc<Mutex<Vec<Connection>>>,
    free: Arc<Semaphore>,
}

impl Readers {
    pub(crate) fn open(folder: &Path) -> Result<Readers, StoreFault> {
        let connections = (0..READERS).map(|_| schema::open_for_reading(folder)).collect::<Result<_, _>>()?;
        Ok(Readers { idle: Arc::new(Mutex::new(connections)), free: Arc::new(Semaphore::new(READERS)) })
    }

    /// Reads under way end in peace; later ones find the store closed.
    pub(crate) fn close(&self) {
        self.free.close();
        lock(&self.idle).clear();
    }

    pub(crate) async fn run<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, StoreFault> + Send + 'static,
    ) -> Result<T, StoreFault> {
        let permit = self.free.clone().acquire_owned().await.map_err(|_| StoreFault::Closed)?;
        let idle = self.idle.clone();
        let reading = tokio::task::spawn_blocking(move || {
            // None only if the store was closed between the permit and here.
            let Some(connection) = lock(&idle).pop() else { return Err(StoreFault::Closed) };
            let result = read(&connection);
            lock(&idle).push(connection);
            drop(permit);
            result
        });
        reading.await.map_err(|_| StoreFault::damaged("a read panicked"))?
    }
}

fn lock(idle: &Mutex<Vec<Connection>>) -> std::sync::MutexGuard<'_, Vec<Connection>> {
    idle.lock().unwrap_or_else(PoisonError::into_inner)
}
