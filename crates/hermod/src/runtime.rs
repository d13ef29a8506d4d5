//! The threads a gateway runs on, and how its sockets are opened.

use crate::ending::{Ended, Failure};
use std::future::Future;
use std::io::ErrorKind;
use std::net::SocketAddr;
use tokio::net::TcpListener;

pub(crate) fn block_on(work: impl Future<Output = Ended>) -> Ended {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_name("hermod")
        .build()
        .map_err(|error| Failure::failed(format!("no threads to run on: {error}")))?;
    runtime.block_on(work)
}

/// `instead` says what to do when the address is taken.
pub(crate) async fn bind(address: SocketAddr, instead: &str) -> Result<TcpListener, Failure> {
    TcpListener::bind(address).await.map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => Failure::mend(format!("{address} is in use by another process; {instead}")),
        ErrorKind::AddrNotAvailable => {
            Failure::mend(format!("{address} is no address of this machine; {instead}"))
        }
        ErrorKind::PermissionDenied => {
            Failure::mend(format!("{address} may not be opened by this user; {instead}"))
        }
        _ => Failure::failed(format!("cannot listen on {address}: {error}")),
    })
}
