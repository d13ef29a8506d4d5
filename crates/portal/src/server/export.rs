//! Files that are made while they are sent.

use super::extract::Query;
use super::member::Member;
use super::messages::{Filter, query_of};
use super::reply::{NoPage, Reply};
use super::{Portal, State, csv};
use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use hermod_domain::permission::Permission;
use hermod_gateway::app::operator::{self, OperatorRefusal, Reader, Rows};

/// Seconds after which an export of the account may have ended.
const EXPORTS_RETRY_S: u32 = 30;

/// `GET /accounts/{account}/messages.csv`: the messages that the filters find.
pub(super) async fn messages(
    axum::extract::State(portal): State,
    member: Member,
    Query(filter): Query<Filter>,
) -> Reply {
    member.require(Permission::ReadMessages)?;
    let may_see_numbers = member.may(Permission::ReadTexts);
    let reader = Reader::Customer { may_see_numbers };
    let filter = Filter::of_export(filter);
    let filter = if may_see_numbers { filter } else { filter.without_number() };
    let query = query_of(&member, &filter);
    let rows = operator::export_messages(&portal.world, query, reader).await;
    let rows = rows.map_err(|refusal| match refusal {
        OperatorRefusal::ExportsRunning { .. } => NoPage::TooMany { wait_s: EXPORTS_RETRY_S },
        OperatorRefusal::InvalidField { .. } => NoPage::NotFound,
        refusal => refusal.into(),
    })?;
    Ok(csv_file(&portal, rows, "messages"))
}

/// Sends a file as it is read. If reading fails or the gateway stops, the connection is cut, so that the browser sees that the
/// file is incomplete.
pub(super) fn csv_file(portal: &Portal, rows: Rows, name: &str) -> Response {
    let stopping = portal.workers.stopping();
    let pieces = stream::unfold(Some(rows), move |rows| {
        let stopping = stopping.clone();
        async move {
            let mut rows = rows?;
            let piece = tokio::select! {
                biased;
                () = stopping.cancelled() => Err(OperatorRefusal::stopping()),
                piece = rows.next() => piece,
            };
            match piece {
                Ok(Some(text)) => Some((Ok(Bytes::from(text)), Some(rows))),
                Ok(None) => None,
                Err(refusal) => {
                    tracing::warn!(%refusal, "An export was cut off");
                    Some((Err(std::io::Error::other(refusal.to_string())), None))
                }
            }
        }
    });
    csv::file_of_today(portal, name, Body::from_stream(pieces))
}
