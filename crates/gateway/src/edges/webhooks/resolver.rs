//! Resolves host names. A lookup blocks a thread, so their number is limited, failing endpoints have a smaller limit
//! of their own, and concurrent lookups of one name are merged.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

/// Concurrent lookups for endpoints that answer.
const LOOKUPS_MAX: usize = 24;
/// Concurrent lookups for failing endpoints.
const DOUBTFUL_LOOKUPS_MAX: usize = 8;

/// How names are resolved.
#[derive(Clone)]
pub enum Resolver {
    /// By the operating system.
    System(Lookups),
    /// By a test's function.
    Scripted(Arc<Script>),
}

type Script = dyn Fn(&str) -> Vec<IpAddr> + Send + Sync;
type Ask = dyn Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync;
/// The error is a text, because all waiters get the same one.
type Found = Result<Vec<IpAddr>, String>;

#[derive(Clone)]
pub struct Lookups {
    trusted: Arc<Semaphore>,
    doubtful: Arc<Semaphore>,
    in_progress: LookupsInProgress,
    /// A blocking function.
    ask: Arc<Ask>,
}

/// The lookups in progress, by name. Each holds a permit, which bounds their number.
type LookupsInProgress = Arc<Mutex<HashMap<String, watch::Receiver<Option<Found>>>>>;

/// A lookup in progress, also after its waiters are gone.
struct Lookup {
    name: String,
    in_progress: LookupsInProgress,
    _place: OwnedSemaphorePermit,
}

impl Resolver {
    pub fn system() -> Resolver {
        Resolver::System(Lookups::with_lookup(|name| {
            (name, 0).to_socket_addrs().map(|found| found.map(|at| at.ip()).collect())
        }))
    }

    pub fn scripted(answers: impl Fn(&str) -> Vec<IpAddr> + Send + Sync + 'static) -> Resolver {
        Resolver::Scripted(Arc::new(answers))
    }

    pub(super) async fn look_up(&self, name: &str, doubtful: bool) -> Found {
        match self {
            Resolver::Scripted(answers) => Ok(answers(name)),
            Resolver::System(lookups) => lookups.look_up(name, doubtful).await,
        }
    }
}

impl Lookups {
    fn with_lookup(ask: impl Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync + 'static) -> Lookups {
        Lookups {
            trusted: Arc::new(Semaphore::new(LOOKUPS_MAX)),
            doubtful: Arc::new(Semaphore::new(DOUBTFUL_LOOKUPS_MAX)),
            in_progress: Arc::default(),
            ask: Arc::new(ask),
        }
    }

    async fn look_up(&self, name: &str, doubtful: bool) -> Found {
        let joined = self.in_progress.lock().get(name).cloned();
        let mut found = match joined {
            Some(found) => found,
            None => {
                let places = if doubtful { &self.doubtful } else { &self.trusted };
                let place = places.clone().acquire_owned().await.map_err(|closed| closed.to_string())?;
                self.begin(name, place)
            }
        };
        let found = found.wait_for(Option::is_some).await.map_err(|_| "the lookup was cut short")?;
        found.clone().unwrap_or_else(|| Ok(Vec::new()))
    }

    /// Starts a lookup, unless another task started it while this one waited for a permit.
    fn begin(&self, name: &str, place: OwnedSemaphorePermit) -> watch::Receiver<Option<Found>> {
        let mut in_progress = self.in_progress.lock();
        if let Some(found) = in_progress.get(name) {
            return found.clone();
        }
        let (tell, found) = watch::channel(None);
        in_progress.insert(name.to_owned(), found.clone());
        drop(in_progress);
        let lookup = Lookup { name: name.to_owned(), in_progress: self.in_progress.clone(), _place: place };
        let ask = self.ask.clone();
        tokio::task::spawn_blocking(move || {
            let looked_up = ask(&lookup.name).map_err(|error| error.to_string());
            // Later callers start a new lookup.
            drop(lookup);
            tell.send_replace(Some(looked_up));
        });
        found
    }
}

impl Drop for Lookup {
    fn drop(&mut self) {
        self.in_progress.lock().remove(&self.name);
    }
}

#[cfg(test)]
#[path = "resolver_tests.rs"]
mod tests;
