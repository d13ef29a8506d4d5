//! Searches for messages: by their properties, and by a text within one account.

use crate::find::find_account;
use crate::input::{invalid, words};
use crate::message::filter::{cursor, end_or_now, filter_of, range_of};
use crate::message::names::Names;
use crate::message::views::{CountView, MessagesQuery, MessagesView, TextSearchQuery, TextSearchView};
use crate::refusal::OperatorRefusal;
use crate::views::paging::Limit;
use hermod_gateway::gateway::Gateway;
use hermod_store::record::{Count, SearchLimits, TextQuery};
use std::time::Duration;

/// How far back a text is looked for if the query does not say.
const TEXT_BACK: Duration = Duration::from_secs(2 * 86_400);
const TEXT_CHARS_MAX: usize = 200;

/// Returns a page of messages, newest first.
pub async fn search_messages(
    gateway: &Gateway,
    query: MessagesQuery,
) -> Result<MessagesView, OperatorRefusal> {
    let (scope, filter) = filter_of(gateway, &query)?;
    let limits = SearchLimits { before: cursor(query.cursor.as_deref())?, rows: Limit::of(query.limit) };
    let page = gateway.store.record().search_messages(scope, filter, limits).await?;
    let names = Names::of(gateway);
    Ok(MessagesView {
        items: page.rows.iter().map(|message| names.message(message)).collect(),
        next: page.next.map(|next| next.to_string()),
        searched_to: page.searched_to.map(|at| at.to_iso()),
        record: page.status.into(),
    })
}

/// Counts messages.
pub async fn count_messages(gateway: &Gateway, query: MessagesQuery) -> Result<CountView, OperatorRefusal> {
    let (scope, filter) = filter_of(gateway, &query)?;
    let (count, exact) = match gateway.store.record().count_messages(scope, filter).await? {
        Count::Exactly(count) => (count, true),
        Count::AtLeast(count) => (count, false),
    };
    Ok(CountView { count, exact, record: gateway.store.record().status().into() })
}

/// Looks for a text in the messages of one account, one slice at a time.
pub async fn search_text(
    gateway: &Gateway,
    query: TextSearchQuery,
) -> Result<TextSearchView, OperatorRefusal> {
    let TextSearchQuery { account, text, since, until, cursor: after, limit } = query;
    let account =
        account.ok_or_else(|| invalid("account", "a text is looked for in one account: give it"))?;
    let account = find_account(gateway, &account)?;
    let text = text.ok_or_else(|| invalid("text", "give the text to look for"))?;
    let text = words("text", text, 1, TEXT_CHARS_MAX)?;
    let now = gateway.clock.now();
    let (from, until) = range_of(since.as_deref(), until.as_deref(), now)?;
    let until = end_or_now(until, now);
    let query = TextQuery { text, from: from.unwrap_or_else(|| until.minus(TEXT_BACK)), until };
    let before = cursor(after.as_deref())?;
    let page = gateway.store.record().search_text(account, query, before, Limit::of(limit)).await?;
    let names = Names::of(gateway);
    Ok(TextSearchView {
        items: page.rows.iter().map(|message| names.message(message)).collect(),
        next: page.next.map(|next| next.to_string()),
        searched_to: page.searched_to.to_iso(),
        looked_at: page.looked_at,
        record: page.status.into(),
    })
}
