//! Sends statements so that the server gets all of them before the first answer is awaited.

use super::queue::Group;
use super::values::{ColumnValues, ParameterValue};
use futures_util::TryStreamExt as _;
use futures_util::future::{MaybeDone, maybe_done};
use std::pin::Pin;
use std::task::Poll;
use tokio_postgres::types::ToSql as PgToSql;
use tokio_postgres::{Client, Row, Statement};

/// Lets the server begin the transaction, unless it has.
pub(super) async fn begin_if(client: &Client, begin: bool) -> std::result::Result<(), tokio_postgres::Error> {
    if begin { client.batch_execute("BEGIN").await } else { Ok(()) }
}

pub(super) async fn rows(
    client: &Client,
    statement: &Statement,
    values: &[ParameterValue],
) -> std::result::Result<Vec<Row>, tokio_postgres::Error> {
    client.query_raw(statement, values).await?.try_collect().await
}

/// Runs a query for the rows of values in these columns.
pub(super) async fn rows_of_many(
    client: &Client,
    statement: &Statement,
    columns: &[ColumnValues],
) -> std::result::Result<Vec<Row>, tokio_postgres::Error> {
    let columns: Vec<&(dyn PgToSql + Sync)> = columns.iter().map(ColumnValues::as_parameter).collect();
    client.query(statement, &columns).await
}

async fn run_group(
    client: &Client,
    (statement, group): &(Statement, Group),
) -> std::result::Result<u64, tokio_postgres::Error> {
    let columns: Vec<&(dyn PgToSql + Sync)> = group.columns.iter().map(ColumnValues::as_parameter).collect();
    client.execute(statement, &columns).await
}

pub(super) async fn run_groups(
    client: &Client,
    groups: &[(Statement, Group)],
) -> std::result::Result<(), tokio_postgres::Error> {
    let run = |of| run_group(client, of);
    in_order(groups.iter().map(run)).await.into_iter().try_for_each(|done| done.map(drop))
}

/// Completes all futures. They are polled in their order, which is the order in which they send.
async fn in_order<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut all: Vec<Pin<Box<MaybeDone<F>>>> = futures.map(|future| Box::pin(maybe_done(future))).collect();
    std::future::poll_fn(|cx| {
        let pending = all.iter_mut().filter_map(|future| future.as_mut().poll(cx).is_pending().then_some(()));
        if pending.count() == 0 { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    all.iter_mut().filter_map(|future| future.as_mut().take_output()).collect()
}
