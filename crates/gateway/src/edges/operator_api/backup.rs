//! A copy of the database, made by the gateway that works on it.

use super::answer::{Answer, fine};
use super::body::Received;
use super::desk::Desk;
use crate::app::operator::{self, Copied, OperatorRefusal};
use crate::listeners::Reach;
use axum::extract::State;
use axum::http::{Extensions, HeaderMap};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

#[derive(Deserialize, ToSchema)]
#[schema(as = BackupRequest)]
#[serde(deny_unknown_fields)]
pub(super) struct BackupRequest {
    /// An absolute path on the gateway's machine. The gateway makes this folder; it must not exist yet.
    #[schema(examples("/var/backups/hermod/monday"))]
    folder: String,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Backup)]
pub(super) struct BackupView {
    /// The folder, with the copy as `hermod.db`.
    folder: String,
    /// Size of the copy.
    bytes: u64,
}

/// Only for callers on this machine: it writes to a path that the caller names.
pub(super) async fn make(
    State(desk): State<Arc<Desk>>,
    extensions: Extensions,
    headers: HeaderMap,
    received: Received,
) -> Answer {
    desk.must_run()?;
    let source = crate::http::source_of(&extensions, &headers);
    if source.is_some() && !Reach::ThisMachine.admits(source) {
        return Err(OperatorRefusal::NotFromHere);
    }
    let BackupRequest { folder } = received.json()?;
    let stopping = desk.workers.stopping();
    let copied = tokio::select! {
        copied = operator::copy_database(&desk.world, &folder) => copied?,
        () = stopping.cancelled() => return Err(OperatorRefusal::stopping()),
    };
    let Copied { folder, bytes } = copied;
    fine(&BackupView { folder: folder.display().to_string(), bytes })
}
