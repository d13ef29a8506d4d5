//! Routes about customers' binds.

use super::extract::{FromPath, FromQuery, Running};
use super::response::Reply;
use super::routes::{Routes, doc};
use crate::app::operator;
use crate::author::Acting;
use crate::views::binds::{BindsQuery, BindsView, UnbindQuery, UnbindView};
use axum::Json;

pub(super) fn routes(routes: &mut Routes) {
    routes.section("Binds", "Customers' SMPP binds. Needs a running gateway.");
    routes.get(
        "/binds",
        list,
        doc("listBinds", "List binds", "The live binds, the oldest first.")
            .details("Each SMPP bind of a customer: source address, type, window and figures.")
            .errors(&["NOT_FOUND"]),
    );
    routes.post(
        "/binds/{number}/unbind",
        unbind,
        doc("unbind", "Unbind a customer", "The bind is being unbound.")
            .details(
                "Outstanding submits are answered first. Most customers bind again at once: to keep one out, close its \
                 connection.",
            )
            .errors(&["NOT_FOUND"]),
    );
}

async fn list(Running(api): Running, FromQuery(query): FromQuery<BindsQuery>) -> Reply<BindsView> {
    operator::list_binds(&api.world, &query).await.map(Json)
}

async fn unbind(
    _: Running,
    acting: Acting,
    FromPath(number): FromPath<String>,
    FromQuery(query): FromQuery<UnbindQuery>,
) -> Reply<UnbindView> {
    operator::unbind(&acting, &number, &query).await.map(Json)
}
