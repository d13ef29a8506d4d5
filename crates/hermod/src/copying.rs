//! Asks a running gateway to copy its database. Only the gateway can do so without delaying checkpoints of its log.

use crate::failure::Failure;
use crate::operator::operator_client::{Body, OperatorClient};
use hermod_gateway::views::maintenance::{BackupRequest, BackupView};
use hyper::Method;
use std::path::Path;
use std::time::Duration;

/// Enough for a very large database on a slow disk.
const COPY_TIMEOUT: Duration = Duration::from_secs(24 * 3_600);

/// Lets the gateway create a folder with a copy of its database. Returns the size of the copy.
pub(crate) async fn copy_by_gateway(gateway: &OperatorClient, folder: &Path) -> Result<u64, Failure> {
    let folder = std::path::absolute(folder).map_err(Failure::failed)?;
    let request = BackupRequest { folder: folder.display().to_string() };
    let response =
        gateway.send_with_timeout(Method::POST, "/backups", Body::json(&request), COPY_TIMEOUT).await?;
    let BackupView { bytes, .. } = response.read_as().map_err(Failure::failed)?;
    if !folder.exists() {
        return Err(Failure::failed(format!(
            "the gateway made the copy in {}, which this process cannot see: run the command where the gateway runs",
            folder.display()
        )));
    }
    Ok(bytes)
}
