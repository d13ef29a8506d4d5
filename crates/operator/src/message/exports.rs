//! Exports: lists of the record as CSV, read page by page while they are sent, a few at a time.

use crate::csv::{Cell, push_headings, push_row};
use crate::message::filter::filter_of;
use crate::message::names::Names;
use crate::message::requests::{request_filter, request_view};
use crate::message::statistics::{Wanted, row_view, wanted};
use crate::message::views::{
    MessageView, MessagesQuery, RequestView, RequestsQuery, StatisticView, StatisticsQuery,
};
use crate::refusal::OperatorRefusal;
use futures_util::{Stream, stream};
use hermod_domain::ids::MessageId;
use hermod_domain::phone::masked;
use hermod_domain::time::Timestamp;
use hermod_gateway::gateway::Gateway;
use hermod_gateway::live_status::{EXPORTS_MAX, NoSlot, Slot};
use hermod_gateway::workers::Workers;
use hermod_store::record::{MessageFilter, RequestFilter, Scope, SearchLimits};
use std::io;
use std::sync::Arc;

/// Rows that are read at a time.
const PAGE_ROWS: u32 = 1_000;
/// Intervals of statistics that are read at a time: few, so that the values of all of them fit in one result.
const PAGE_INTERVALS: u32 = 12;

/// A CSV file that is read as it is sent.
pub struct Rows {
    gateway: Arc<Gateway>,
    source: Source,
    /// The beginning, read before the response begins so that an error is one.
    first: Option<String>,
    _slot: Slot<Scope>,
}

/// What is left to read.
enum Source {
    Messages { scope: Scope, filter: Box<MessageFilter>, before: Option<MessageId>, reader: Reader },
    Requests { scope: Scope, filter: Box<RequestFilter>, before: Option<u64> },
    Statistics { wanted: Box<Wanted>, next: Timestamp },
    Done,
}

/// Who reads an export of messages, and what they may see of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// Everything.
    Operator,
    /// Without the columns `account` and `carrier`, and with masked numbers unless the role may see them.
    Customer { may_see_numbers: bool },
}

/// Exports messages, newest first.
pub async fn export_messages(
    gateway: &Arc<Gateway>,
    query: MessagesQuery,
    reader: Reader,
) -> Result<Rows, OperatorRefusal> {
    let (scope, filter) = filter_of(gateway, &query)?;
    let source = Source::Messages { scope, filter: Box::new(filter), before: None, reader };
    let headings: Vec<&str> =
        MESSAGE_HEADINGS.into_iter().filter(|heading| reader.may_read(heading)).collect();
    Rows::begin(gateway, scope, &headings, source).await
}

impl Reader {
    /// Whether the export has this column.
    fn may_read(self, heading: &str) -> bool {
        self == Reader::Operator || !OPERATOR_HEADINGS.contains(&heading)
    }

    /// Shows a number as the reader may see it.
    fn shown(self, number: &str) -> String {
        match self {
            Reader::Operator | Reader::Customer { may_see_numbers: true } => number.to_owned(),
            Reader::Customer { may_see_numbers: false } => masked(number),
        }
    }
}

/// Exports the request log, newest first.
pub async fn export_requests(gateway: &Arc<Gateway>, query: RequestsQuery) -> Result<Rows, OperatorRefusal> {
    let (scope, filter) = request_filter(gateway, &query)?;
    let source = Source::Requests { scope, filter: Box::new(filter), before: None };
    Rows::begin(gateway, scope, &REQUEST_HEADINGS, source).await
}

/// Exports statistics, the oldest interval first.
pub async fn export_statistics(
    gateway: &Arc<Gateway>,
    query: StatisticsQuery,
) -> Result<Rows, OperatorRefusal> {
    let wanted = wanted(gateway, &query)?;
    let (scope, next) = (wanted.scope, wanted.query.from);
    let source = Source::Statistics { wanted: Box::new(wanted), next };
    Rows::begin(gateway, scope, &STATISTIC_HEADINGS, source).await
}

impl Rows {
    async fn begin(
        gateway: &Arc<Gateway>,
        scope: Scope,
        headings: &[&str],
        source: Source,
    ) -> Result<Rows, OperatorRefusal> {
        let slot = gateway
            .exports
            .take(scope)
            .map_err(|NoSlot| OperatorRefusal::ExportsRunning { max: EXPORTS_MAX })?;
        let mut rows = Rows { gateway: gateway.clone(), source, first: None, _slot: slot };
        let mut first = String::new();
        push_headings(&mut first, headings);
        first.push_str(&rows.read().await?.unwrap_or_default());
        rows.first = Some(first);
        Ok(rows)
    }

    /// Returns the file as it is read. If reading fails or the gateway stops, it ends with an error, so that whoever receives it
    /// sees that it is incomplete.
    pub fn into_pieces(self, workers: &Workers) -> impl Stream<Item = io::Result<String>> + Send + use<> {
        let stopping = workers.stopping();
        stream::unfold(Some(self), move |rows| {
            let stopping = stopping.clone();
            async move {
                let mut rows = rows?;
                let piece = tokio::select! {
                    biased;
                    () = stopping.cancelled() => Err(OperatorRefusal::stopping()),
                    piece = rows.next() => piece,
                };
                match piece.transpose()? {
                    Ok(text) => Some((Ok(text), Some(rows))),
                    Err(refusal) => {
                        tracing::warn!(%refusal, "An export was cut off");
                        Some((Err(io::Error::other(refusal.to_string())), None))
                    }
                }
            }
        })
    }

    /// Returns the next piece of the file, which may be empty; none at its end.
    async fn next(&mut self) -> Result<Option<String>, OperatorRefusal> {
        match self.first.take() {
            Some(first) => Ok(Some(first)),
            None => self.read().await,
        }
    }

    async fn read(&mut self) -> Result<Option<String>, OperatorRefusal> {
        let store = &self.gateway.store;
        let names = Names::of(&self.gateway);
        let mut csv = String::new();
        match &mut self.source {
            Source::Done => return Ok(None),
            Source::Messages { scope, filter, before, reader } => {
                let limits = SearchLimits { before: *before, rows: PAGE_ROWS };
                let page = store.record().search_messages(*scope, (**filter).clone(), limits).await?;
                page.rows.iter().for_each(|message| push_message(&mut csv, &names.message(message), *reader));
                match page.next {
                    Some(next) => *before = Some(next),
                    None => self.source = Source::Done,
                }
            }
            Source::Requests { scope, filter, before } => {
                let page = store.record().request_log(*scope, (**filter).clone(), *before, PAGE_ROWS).await?;
                page.rows.iter().for_each(|(_, entry)| push_request(&mut csv, &request_view(&names, entry)));
                match page.next {
                    Some(next) => *before = Some(next),
                    None => self.source = Source::Done,
                }
            }
            Source::Statistics { wanted, next } => {
                let Wanted { scope, query } = &**wanted;
                let end = next.plus(query.resolution.length() * PAGE_INTERVALS).min(query.until);
                let slice =
                    hermod_store::record::StatisticsQuery { from: *next, until: end, ..query.clone() };
                let rows = store.record().statistics(*scope, slice).await?;
                rows.iter().for_each(|row| push_statistic(&mut csv, &row_view(&names, query.by, row)));
                if end < query.until {
                    *next = end;
                } else {
                    self.source = Source::Done;
                }
            }
        }
        Ok(Some(csv))
    }
}

const MESSAGE_HEADINGS: [&str; 19] = [
    "id",
    "accepted_at",
    "account",
    "connection",
    "from",
    "to",
    "country",
    "network",
    "carrier",
    "encoding",
    "parts",
    "state",
    "code",
    "err",
    "cost",
    "refund",
    "currency",
    "ended_at",
    "took_ms",
];

/// Columns that only the operator gets.
const OPERATOR_HEADINGS: [&str; 2] = ["account", "carrier"];

fn push_message(csv: &mut String, message: &MessageView, reader: Reader) {
    let to = message.to.as_ref().map(|to| reader.shown(to));
    let cells = [
        Cell::Text(&message.id),
        Cell::Text(&message.accepted_at),
        Cell::Text(&message.account),
        Cell::Text(&message.connection),
        Cell::Text(&message.from),
        to.as_ref().map_or(Cell::Empty, |to| Cell::Phone(to)),
        Cell::Text(&message.country),
        Cell::Text(&message.network),
        Cell::Text(&message.carrier),
        Cell::Text(&message.encoding),
        Cell::Number(message.parts.to_string()),
        Cell::Text(&message.state),
        Cell::text(message.code.as_ref()),
        Cell::Number(message.err.to_string()),
        Cell::Number(message.cost.to_string()),
        Cell::number(message.refund),
        Cell::Text(&message.currency),
        Cell::text(message.ended_at.as_ref()),
        Cell::number(message.took_ms),
    ];
    let cells = MESSAGE_HEADINGS.into_iter().zip(cells);
    let readable: Vec<Cell<'_>> =
        cells.filter(|(heading, _)| reader.may_read(heading)).map(|(_, cell)| cell).collect();
    push_row(csv, &readable);
}

const REQUEST_HEADINGS: [&str; 14] = [
    "at",
    "account",
    "connection",
    "kind",
    "operation",
    "who",
    "address",
    "status",
    "code",
    "reason",
    "took_ms",
    "request",
    "replay",
    "message_id",
];

fn push_request(csv: &mut String, request: &RequestView) {
    let cells = [
        Cell::Text(&request.at),
        Cell::text(request.account.as_ref()),
        Cell::text(request.connection.as_ref()),
        Cell::Text(&request.kind),
        Cell::Text(&request.operation),
        Cell::Text(&request.who),
        Cell::text(request.address.as_ref()),
        Cell::Number(request.status.to_string()),
        Cell::text(request.code.as_ref()),
        Cell::Text(&request.reason),
        Cell::Number(request.took_ms.to_string()),
        Cell::text(request.request.as_ref()),
        Cell::Text(&request.replay),
        Cell::text(request.message_id.as_ref()),
    ];
    push_row(csv, &cells);
}

const STATISTIC_HEADINGS: [&str; 14] = [
    "start",
    "value",
    "accepted",
    "parts",
    "delivered",
    "expired",
    "undeliverable",
    "rejected",
    "open",
    "refused",
    "spend",
    "refunded",
    "p50_ms",
    "p95_ms",
];

fn push_statistic(csv: &mut String, row: &StatisticView) {
    let cells = [
        Cell::text(row.start.as_ref()),
        Cell::text(row.value.as_ref()),
        Cell::Number(row.accepted.to_string()),
        Cell::Number(row.parts.to_string()),
        Cell::Number(row.delivered.to_string()),
        Cell::Number(row.expired.to_string()),
        Cell::Number(row.undeliverable.to_string()),
        Cell::Number(row.rejected.to_string()),
        Cell::Number(row.open.to_string()),
        Cell::Number(row.refused.to_string()),
        Cell::Number(row.spend.to_string()),
        Cell::Number(row.refunded.to_string()),
        Cell::number(row.p50_ms),
        Cell::number(row.p95_ms),
    ];
    push_row(csv, &cells);
}
