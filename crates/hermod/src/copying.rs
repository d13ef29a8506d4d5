//! Having a running gateway copy its database: the one process that can do so without holding up its own log.

use crate::ending::Failure;
use crate::operator::desk::{Body, Desk};
use hyper::Method;
use serde::Deserialize;
use std::path::Path;
use std::time::Duration;

/// A very large database on a slow disk. A gateway that stops answers before that.
const COPY_MAX: Duration = Duration::from_secs(24 * 3_600);

#[derive(Deserialize)]
struct Backup {
    bytes: u64,
}

/// Has the gateway make a folder with a copy of its database. Returns the size of the copy.
pub(crate) async fn copy_by_gateway(gateway: &Desk, folder: &Path) -> Result<u64, Failure> {
    let folder = std::path::absolute(folder).map_err(Failure::failed)?;
    let wanted = serde_json::json!({ "folder": folder });
    let answer = gateway.asked_within(Method::POST, "/backups", Body::Json(&wanted), COPY_MAX).await?;
    let Backup { bytes } = answer.read_as().map_err(Failure::failed)?;
    if !folder.exists() {
        return Err(Failure::failed(format!(
            "the gateway made the copy in {}, which this process does not see: run the command where the gateway runs",
            folder.display()
        )));
    }
    Ok(bytes)
}
