//! Routes about backups, erasure of phone numbers, rows that were set aside, nodes, and the audit log.

use crate::api::OperatorApi;
use crate::author::Acting;
use crate::http::routes::{Routes, doc};
use crate::http::use_case::FromHere;
use crate::maintenance::use_cases::{copy_database, erase_number, list_audit_log, list_set_aside};
use crate::maintenance::views::{BackupRequest, BackupView};
use crate::node::use_cases::{drain_node, list_nodes};
use crate::refusal::OperatorRefusal;

pub(crate) fn routes(routes: &mut Routes) {
    routes.section("Maintenance", "Backups, erasure of personal data, invalid rows, nodes.");
    routes.post(
        "/backups",
        back_up,
        doc("makeBackup", "Back up the database", "The copy is complete and durable.")
            .running_only()
            .details(
                "Only for callers on the gateway's own machine. The gateway writes the copy a few pages at a time between \
                 commits, and responds when it is complete. The keys of the data folder are not copied: `hermod backup` \
                 copies them.",
            )
            .errors(&["INVALID_FIELD", "BACKUP_RUNNING"]),
    );
    routes.post(
        "/erasures",
        erase_number,
        doc("eraseNumber", "Erase a phone number", "What was erased, and what was not yet.")
            .details(
                "In every message to or from the number that has ended, the text is deleted and the number replaced by \
                 +9990000000. Ids, states, times and money stay; so do opt-outs. Messages that are still being delivered \
                 are not changed and are listed: call again when they have ended.",
            )
            .errors(&["NOT_FOUND", "INVALID_FIELD"]),
    );
    routes.get(
        "/set-aside",
        list_set_aside,
        doc("listSetAside", "List invalid rows of the queue", "The oldest first.").details(
            "Messages that cannot be sent because a row of the database is damaged or of another release. All parts of \
             such a message leave the queue, so that it blocks no other; the message is kept.",
        ),
    );
    routes.get(
        "/nodes",
        list_nodes,
        doc("listNodes", "List the nodes", "In the order in which they first started.").details(
            "Several gateways on one PostgreSQL are nodes. One of them runs the engine, which makes every decision; all serve \
             customers and carriers.",
        ),
    );
    routes.post(
        "/nodes/{name}/drain",
        drain_node,
        doc("drainNode", "Take a node out of service", "The node is being stopped.")
            .running_only()
            .details(
                "As SIGTERM does: it finishes its requests, its links and the engine move to other nodes, and its process ends \
                 with exit code 0. It is in service again when it is started again.",
            )
            .errors(&["NOT_FOUND"]),
    );
    routes.section("Audit log", "Who changed what, from where.");
    routes.get(
        "/audit-log",
        list_audit_log,
        doc("listAuditLog", "List changes", "The newest first.")
            .details(
                "Each row was written in the transaction of its change. Its hash covers the row before it, so that \
                 `hermod audit` finds rows that were altered or removed.",
            )
            .errors(&["NOT_FOUND"]),
    );
}

async fn back_up(
    api: &OperatorApi,
    acting: &Acting,
    // The caller names a path that is written to.
    _: FromHere,
    request: BackupRequest,
) -> Result<BackupView, OperatorRefusal> {
    let stopping = api.workers.stopping();
    tokio::select! {
        copied = copy_database(acting, request) => copied,
        () = stopping.cancelled() => Err(OperatorRefusal::stopping()),
    }
}
