//! Files as downloads: CSV files, and exports that are made while they are sent.

use super::extract::Query;
use super::member::Member;
use super::messages::{MessageListFilter, query_of};
use super::reply::{NoPage, Reply};
use super::{Portal, State};
use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use hermod_domain::permission::Permission;
use hermod_operator::export::Rows;
use hermod_operator::message::export;
use hermod_operator::message::export::Reader;
use hermod_operator::refusal::OperatorRefusal;

/// Seconds after which an export of the account may have ended.
const EXPORTS_RETRY_S: u32 = 30;

/// `GET /accounts/{account}/messages.csv`: the messages that the filters find.
pub(super) async fn messages(
    axum::extract::State(portal): State,
    member: Member,
    Query(filter): Query<MessageListFilter>,
) -> Reply {
    member.require(Permission::ReadMessages)?;
    let may_see_numbers = member.may(Permission::ReadTexts);
    let reader = Reader::Customer { may_see_numbers };
    let filter = MessageListFilter::of_export(filter);
    let filter = if may_see_numbers { filter } else { filter.without_number() };
    let query = query_of(&member, &filter);
    let rows = export::export_messages(&portal.gateway, query, reader).await;
    let rows = rows.map_err(|refusal| match refusal {
        OperatorRefusal::ExportsRunning { .. } => NoPage::TooMany { wait_s: EXPORTS_RETRY_S },
        OperatorRefusal::InvalidField { .. } => NoPage::NotFound,
        refusal => refusal.into(),
    })?;
    Ok(csv_stream(&portal, rows, "messages"))
}

/// Sends a file as it is read.
fn csv_stream(portal: &Portal, rows: Rows, name: &str) -> Response {
    csv_of_today(portal, name, Body::from_stream(rows.into_pieces(&portal.workers)))
}

/// Returns a file that the browser saves under a name with the day.
pub(super) fn csv_of_today(portal: &Portal, name: &str, content: impl Into<Body>) -> Response {
    csv(&format!("{name}-{}", portal.gateway.clock.now().day()), content)
}

/// Returns a file that the browser saves under a name: plain letters, digits and dashes.
pub(super) fn csv(name: &str, content: impl Into<Body>) -> Response {
    let disposition = HeaderValue::try_from(format!("attachment; filename=\"{name}.csv\""));
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/csv; charset=utf-8; header=present")),
        (header::CONTENT_DISPOSITION, disposition.unwrap_or(HeaderValue::from_static("attachment"))),
    ];
    (headers, content.into()).into_response()
}
