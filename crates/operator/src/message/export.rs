//! Exports of messages.

use crate::csv::{Cell, push_row};
use crate::export::{PAGE_ROWS, PageRead, Pages, Rows};
use crate::message::search::{filter_of, message_view};
use crate::message::views::{MessageView, MessagesQuery};
use crate::record::Names;
use crate::refusal::Result;
use hermod_domain::ids::MessageId;
use hermod_domain::phone::masked;
use hermod_gateway::gateway::Gateway;
use hermod_store::record::{MessageFilter, Scope, SearchLimits};
use std::sync::Arc;

/// Who reads an export of messages, and what they may see of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// Every column, and masked numbers unless the role may see them.
    Operator { may_see_numbers: bool },
    /// Without the columns `account` and `carrier`, and with masked numbers unless the role may see them.
    Customer { may_see_numbers: bool },
}

/// Exports messages, newest first.
pub async fn export_messages(gateway: &Arc<Gateway>, query: MessagesQuery, reader: Reader) -> Result<Rows> {
    let (scope, filter) = filter_of(gateway, &query)?;
    let headings: Vec<&str> =
        MESSAGE_HEADINGS.into_iter().filter(|heading| reader.may_read(heading)).collect();
    Rows::begin(gateway, "messages", scope, &headings, MessagePages { scope, filter, before: None, reader })
        .await
}

struct MessagePages {
    scope: Scope,
    filter: MessageFilter,
    before: Option<MessageId>,
    reader: Reader,
}

impl Pages for MessagePages {
    fn read<'a>(&'a mut self, gateway: &'a Gateway, csv: &'a mut String) -> PageRead<'a> {
        Box::pin(async move {
            let limits = SearchLimits { before: self.before, rows: PAGE_ROWS };
            let page =
                gateway.store.record().search_messages(self.scope, self.filter.clone(), limits).await?;
            let names = Names::of(gateway);
            for message in &page.rows {
                push_message(csv, &message_view(&names, message), self.reader);
            }
            self.before = page.next;
            Ok(page.next.is_some())
        })
    }
}

impl Reader {
    /// Whether the export has this column.
    fn may_read(self, heading: &str) -> bool {
        matches!(self, Reader::Operator { .. }) || !OPERATOR_HEADINGS.contains(&heading)
    }

    /// Shows a number as the reader may see it.
    fn shown(self, number: &str) -> String {
        match self {
            Reader::Operator { may_see_numbers } | Reader::Customer { may_see_numbers } => {
                if may_see_numbers { number.to_owned() } else { masked(number) }
            }
        }
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

pub(crate) fn push_message(csv: &mut String, message: &MessageView, reader: Reader) {
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
