//! Which addresses a name has. Looking up takes a thread of its own for as long as it takes, so there is a bound on how
//! many do, those who fail have a smaller one to themselves, and no name takes more than one.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

/// Lookups at a time for endpoints that answer.
const LOOKUPS_MAX: usize = 24;
/// And for those that do not.
const DOUBTFUL_LOOKUPS_MAX: usize = 8;

/// Who is asked what addresses a name has.
#[derive(Clone)]
pub enum Resolver {
    /// This machine, as every other program on it.
    System(Lookups),
    /// A test.
    Scripted(Arc<Script>),
}

type Script = dyn Fn(&str) -> Vec<IpAddr> + Send + Sync;
type Ask = dyn Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync;
/// What went wrong is a sentence: everybody who waits is told the same.
type Found = Result<Vec<IpAddr>, String>;

#[derive(Clone)]
pub struct Lookups {
    trusted: Arc<Semaphore>,
    doubtful: Arc<Semaphore>,
    under_way: Arc<UnderWay>,
    /// Blocks.
    ask: Arc<Ask>,
}

/// The names that are being looked up, each with a place: so there are never more than there are places.
#[derive(Default)]
struct UnderWay(Mutex<HashMap<String, watch::Receiver<Option<Found>>>>);

/// A lookup, until it has ended, however long nobody waits for it any more.
struct Lookup {
    name: String,
    under_way: Arc<UnderWay>,
    _place: OwnedSemaphorePermit,
}

impl Resolver {
    pub fn system() -> Resolver {
        Resolver::System(Lookups::asking(|name| {
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
    fn asking(ask: impl Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync + 'static) -> Lookups {
        Lookups {
            trusted: Arc::new(Semaphore::new(LOOKUPS_MAX)),
            doubtful: Arc::new(Semaphore::new(DOUBTFUL_LOOKUPS_MAX)),
            under_way: Arc::default(),
            ask: Arc::new(ask),
        }
    }

    async fn look_up(&self, name: &str, doubtful: bool) -> Found {
        let joined = self.under_way.lock().get(name).cloned();
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

    /// Begins a lookup, unless somebody else has begun it while this one waited for a place.
    fn begin(&self, name: &str, place: OwnedSemaphorePermit) -> watch::Receiver<Option<Found>> {
        let mut under_way = self.under_way.lock();
        if let Some(found) = under_way.get(name) {
            return found.clone();
        }
        let (tell, found) = watch::channel(None);
        under_way.insert(name.to_owned(), found.clone());
        drop(under_way);
        let lookup = Lookup { name: name.to_owned(), under_way: self.under_way.clone(), _place: place };
        let ask = self.ask.clone();
        tokio::task::spawn_blocking(move || {
            let looked_up = ask(&lookup.name).map_err(|error| error.to_string());
            // Whoever asks from here on asks anew.
            drop(lookup);
            tell.send_replace(Some(looked_up));
        });
        found
    }
}

impl UnderWay {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, watch::Receiver<Option<Found>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Lookup {
    fn drop(&mut self) {
        self.under_way.lock().remove(&self.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::within;
    use std::net::Ipv4Addr;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;
    use std::time::Duration;

    const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    #[tokio::test]
    async fn a_name_that_hangs_takes_one_place_however_many_ask_for_it() {
        let asked = Arc::new(AtomicUsize::new(0));
        let (answer, answers) = mpsc::channel::<()>();
        let (counted, answers) = (asked.clone(), Mutex::new(answers));
        let lookups = Lookups::asking(move |name| {
            if name == "hangs.example" {
                counted.fetch_add(1, Ordering::Relaxed);
                let _ = answers.lock().unwrap().recv();
            }
            Ok(vec![HERE])
        });
        for doubtful in [false, true, false, true] {
            let waited = Duration::from_millis(20);
            let asking = lookups.look_up("hangs.example", doubtful);
            assert!(within(waited, asking).await.is_err(), "nobody answers");
        }
        let places = (lookups.trusted.available_permits(), lookups.doubtful.available_permits());
        assert_eq!(places, (LOOKUPS_MAX - 1, DOUBTFUL_LOOKUPS_MAX));
        assert_eq!(lookups.look_up("answers.example", false).await, Ok(vec![HERE]));
        let two = async {
            tokio::join!(lookups.look_up("hangs.example", false), lookups.look_up("hangs.example", true))
        };
        let (both, ()) = tokio::join!(two, async { answer.send(()).unwrap() });
        assert_eq!(both, (Ok(vec![HERE]), Ok(vec![HERE])));
        assert_eq!(asked.load(Ordering::Relaxed), 1, "they all waited for the same");
        assert_eq!(lookups.trusted.available_permits(), LOOKUPS_MAX);
        answer.send(()).unwrap();
        assert_eq!(lookups.look_up("hangs.example", false).await, Ok(vec![HERE]));
        assert_eq!(asked.load(Ordering::Relaxed), 2, "what was found is not kept");
        assert!(lookups.under_way.lock().is_empty());
    }

    #[tokio::test]
    async fn what_went_wrong_is_told_and_tried_anew() {
        let asked = AtomicUsize::new(0);
        let lookups = Lookups::asking(move |_| match asked.fetch_add(1, Ordering::Relaxed) {
            0 => Err(io::Error::other("no such name")),
            1 => panic!("a lookup that ends badly"),
            _ => Ok(vec![HERE]),
        });
        assert_eq!(lookups.look_up("a.example", false).await, Err("no such name".to_owned()));
        assert_eq!(lookups.look_up("a.example", false).await, Err("the lookup was cut short".to_owned()));
        assert_eq!(lookups.look_up("a.example", false).await, Ok(vec![HERE]));
    }
}
