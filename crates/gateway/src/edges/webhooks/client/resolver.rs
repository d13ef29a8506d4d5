//! Which addresses a name has. Looking up takes a thread of its own for as long as it takes, so there is a bound on how
//! many do, and those who fail have a smaller one to themselves.

use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::sync::Arc;
use tokio::sync::Semaphore;

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

#[derive(Clone)]
pub struct Lookups {
    trusted: Arc<Semaphore>,
    doubtful: Arc<Semaphore>,
}

impl Resolver {
    pub fn system() -> Resolver {
        Resolver::System(Lookups {
            trusted: Arc::new(Semaphore::new(LOOKUPS_MAX)),
            doubtful: Arc::new(Semaphore::new(DOUBTFUL_LOOKUPS_MAX)),
        })
    }

    pub fn scripted(answers: impl Fn(&str) -> Vec<IpAddr> + Send + Sync + 'static) -> Resolver {
        Resolver::Scripted(Arc::new(answers))
    }

    pub(super) async fn look_up(&self, name: &str, doubtful: bool) -> io::Result<Vec<IpAddr>> {
        match self {
            Resolver::Scripted(answers) => Ok(answers(name)),
            Resolver::System(Lookups { trusted, doubtful: others }) => {
                let places = if doubtful { others } else { trusted };
                let place = places.clone().acquire_owned().await.map_err(io::Error::other)?;
                let name = name.to_owned();
                let looked_up = tokio::task::spawn_blocking(move || {
                    // Until it has ended, however long nobody waits for it any more.
                    let _place = place;
                    (name.as_str(), 0).to_socket_addrs().map(|found| found.map(|at| at.ip()).collect())
                });
                looked_up.await.map_err(io::Error::other)?
            }
        }
    }
}
