//! Routes about an account's money and traffic.

use super::Api;
use super::extract::{FromBody, FromPath, FromQuery};
use super::response::{CreatedReply, Reply, created};
use super::routes::{Routes, doc};
use crate::app::operator;
use crate::author::Acting;
use crate::views::money::{
    BalanceView, DaysQuery, DaysView, LedgerEntryView, LedgerQuery, PostRequest, PostedView, StatementView,
    TrafficView,
};
use crate::views::paging::Page;
use axum::Json;
use axum::extract::State;

pub(super) fn routes(routes: &mut Routes) {
    routes.section("Money", "Balances, ledgers, statements and traffic of accounts.");
    routes.get(
        "/accounts/{name}/balance",
        balance,
        doc("getBalance", "Read an account's balance", "Balance, credit and what is available.")
            .details("`available` is always balance + credit_limit - credit_used.")
            .errors(&["NOT_FOUND"]),
    );
    routes.get(
        "/accounts/{name}/ledger",
        ledger,
        doc("listLedger", "Read an account's ledger", "The newest entry first.")
            .details("Without the charges of messages: those are in the statement.")
            .errors(&["NOT_FOUND"]),
    );
    routes.post(
        "/accounts/{name}/ledger",
        post,
        doc("postEntry", "Post a top-up, invoice, payment or adjustment", "The reference was posted before; nothing changed.")
            .created("It was posted.")
            .details(
                "With a `reference` the request can be repeated until its response arrives. An invoice without an amount is \
                 for the whole amount owed.",
            )
            .errors(&["NOT_FOUND", "INVALID_FIELD", "REFUSED", "NOTHING_OWED", "REFERENCE_TAKEN"]),
    );
    routes.get(
        "/accounts/{name}/statement",
        statement,
        doc("getStatement", "Read an account's statement", "Ledger entries, and the charges of each day.")
            .details("The lines add up exactly from the opening to the closing. At most 366 UTC days.")
            .errors(&["NOT_FOUND"]),
    );
    routes.get(
        "/accounts/{name}/days",
        days,
        doc("listDays", "Read an account's messages and spend by day", "Days with messages.")
            .errors(&["NOT_FOUND"]),
    );
    routes.get(
        "/accounts/{name}/traffic",
        traffic,
        doc("getTraffic", "Read an account's traffic of today", "Today's totals, and each traffic control.")
            .errors(&["NOT_FOUND"]),
    );
}

async fn balance(State(api): Api, FromPath(account): FromPath<String>) -> Reply<BalanceView> {
    operator::show_balance(&api.world, &account).await.map(Json)
}

async fn post(
    acting: Acting,
    FromPath(account): FromPath<String>,
    FromBody(request): FromBody<PostRequest>,
) -> CreatedReply<PostedView> {
    let posted = operator::post_entry(&acting, &account, request).await?;
    let is_new = !posted.repeated;
    created(posted, is_new)
}

async fn ledger(
    State(api): Api,
    FromPath(account): FromPath<String>,
    FromQuery(query): FromQuery<LedgerQuery>,
) -> Reply<Page<LedgerEntryView>> {
    operator::list_ledger(&api.world, &account, query).await.map(Json)
}

async fn statement(
    State(api): Api,
    FromPath(account): FromPath<String>,
    FromQuery(query): FromQuery<DaysQuery>,
) -> Reply<StatementView> {
    operator::show_statement(&api.world, &account, &query).await.map(Json)
}

async fn days(
    State(api): Api,
    FromPath(account): FromPath<String>,
    FromQuery(query): FromQuery<DaysQuery>,
) -> Reply<DaysView> {
    operator::list_days(&api.world, &account, &query).await.map(Json)
}

async fn traffic(State(api): Api, FromPath(account): FromPath<String>) -> Reply<TrafficView> {
    operator::show_traffic(&api.world, &account).await.map(Json)
}
