//! The route of the audit log.

use super::Api;
use super::extract::FromQuery;
use super::response::Reply;
use super::routes::{Routes, doc};
use crate::app::operator;
use crate::views::audit_log::{AuditLogQuery, AuditRowView};
use crate::views::paging::Page;
use axum::Json;
use axum::extract::State;

pub(super) fn routes(routes: &mut Routes) {
    routes.section("Audit log", "Who changed what, from where.");
    routes.get(
        "/audit-log",
        list,
        doc("listAuditLog", "List changes", "The newest first.")
            .details(
                "Each row was written in the transaction of its change. Its hash covers the row before it, so that \
                 `hermod audit` finds rows that were altered or removed.",
            )
            .errors(&["NOT_FOUND"]),
    );
}

async fn list(State(api): Api, FromQuery(query): FromQuery<AuditLogQuery>) -> Reply<Page<AuditRowView>> {
    operator::list_audit_log(&api.world, query).await.map(Json)
}
