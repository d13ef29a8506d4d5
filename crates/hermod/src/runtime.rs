//! The tokio runtime, and listening sockets.

use crate::failure::{CommandResult, Failure};
use std::future::Future;
use std::io::ErrorKind;
use std::net::SocketAddr;
use tokio::net::TcpListener;

pub(crate) fn block_on(work: impl Future<Output = CommandResult>) -> CommandResult {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_name("hermod")
        .build()
        .map_err(|error| Failure::failed(format!("cannot start the runtime: {error}")))?;
    runtime.block_on(work)
}

/// Listens on an address. `instead` says what to do if it is in use.
pub(crate) async fn bind(address: SocketAddr, instead: &str) -> Result<TcpListener, Failure> {
    TcpListener::bind(address).await.map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => Failure::usage(format!("{address} is in use by another process; {instead}")),
        ErrorKind::AddrNotAvailable => {
            Failure::usage(format!("{address} is not an address of this machine; {instead}"))
        }
        ErrorKind::PermissionDenied => {
            Failure::usage(format!("no permission to listen on {address}; {instead}"))
        }
        _ => Failure::failed(format!("cannot listen on {address}: {error}")),
    })
}
