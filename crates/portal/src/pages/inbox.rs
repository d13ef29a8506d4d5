//! The inbox: MO messages as threads between a handset and one of the account's numbers, and both directions of one thread.

use crate::elements::{Chip, Tone};
use crate::layout::{NavEntry, Shell};
use crate::request::extract::{Before, Path, Query};
use crate::request::member::Member;
use crate::request::reply::{NoPage, Reply, page};
use crate::request::shown::time_of;
use crate::time::Time;
use askama::Template;
use hermod_domain::ids::MessageId;
use hermod_domain::permission::Permission;
use hermod_domain::phone::Msisdn;
use hermod_domain::time::Timestamp;
use hermod_operator::inbox::{
    BindDelivery, InboundDelivery, InboxCursor, InboxMessage, InboxThread, ThreadMessages, WebhookStatus,
    find_inbound, list_threads, show_thread,
};
use hermod_operator::message::search;
use hermod_operator::message::views::{MessageView, MessagesQuery};
use hermod_operator::refusal::OperatorRefusal;
use hermod_operator::views::paging::Limit;
use serde::Deserialize;

/// `GET /accounts/{account}/inbox`.
#[derive(Clone, Debug, Template)]
#[template(path = "inbox.html")]
pub struct InboxPage {
    pub shell: Shell,
    /// The newest first.
    pub threads: Vec<ThreadRow>,
    /// The address of the next page.
    pub next: Option<String>,
    /// Whether this is the first page.
    pub is_first: bool,
}

/// A thread with its newest MO message.
#[derive(Clone, Debug)]
pub struct ThreadRow {
    /// The address of the thread.
    pub href: String,
    /// The handset, masked for roles that may not see it.
    pub from: String,
    /// The account's number.
    pub to: String,
    /// The beginning of the text; `None` if the role may not read texts.
    pub text: Option<String>,
    pub at: Time,
    /// MO messages of the thread.
    pub count: usize,
    /// How the newest one was delivered.
    pub ways: Vec<Chip>,
}

/// `GET /accounts/{account}/inbox/{id}`: the thread of an MO message. The form posts `from`, `to`, `text`, `once` and `csrf` to
/// `compose`, which shows the price first.
#[derive(Clone, Debug, Template)]
#[template(path = "thread.html")]
pub struct ThreadPage {
    pub shell: Shell,
    /// The handset, masked for roles that may not see it.
    pub from: String,
    /// The account's number.
    pub to: String,
    /// The oldest first.
    pub messages: Vec<ThreadMessage>,
    /// The address of older ones.
    pub older: Option<String>,
    /// `None` if the role may not send, or the handset cannot be written to.
    pub reply: Option<ReplyForm>,
}

/// One message of a thread.
#[derive(Clone, Debug)]
pub struct ThreadMessage {
    /// Whether the account sent it.
    pub is_own: bool,
    pub at: Time,
    /// `None` if the role may not read texts, or the text was deleted.
    pub text: Option<String>,
    /// How an MO message was delivered, or the state of one that the account sent.
    pub chips: Vec<Chip>,
    /// The page of a message that the account sent.
    pub href: Option<String>,
}

/// What a reply is sent with.
#[derive(Clone, Debug)]
pub struct ReplyForm {
    pub from: String,
    pub to: String,
}

/// Threads of a page.
const THREADS: usize = 30;
/// MO messages of a page of a thread, and messages of the account between them.
const MESSAGES: usize = 50;
/// Characters of a text in the list.
const TEXT_CHARS: usize = 80;

/// The address of the next page of the list.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct InboxQuery {
    slice: Option<u64>,
    before: Option<u64>,
}

/// `GET /accounts/{account}/inbox`.
pub(crate) async fn list(member: Member, Query(InboxQuery { slice, before }): Query<InboxQuery>) -> Reply {
    member.require(Permission::ReadMessages)?;
    let cursor = InboxCursor { slice, before };
    let found = list_threads(member.gateway(), member.account, cursor, THREADS).await?;
    let shell = member.shell(NavEntry::Inbox);
    let rows = found.threads.into_iter().map(|thread| row(&member, &shell, slice, thread));
    Ok(page(&InboxPage {
        threads: rows.collect(),
        next: found.next.map(|next| address(&shell, next)),
        is_first: cursor == InboxCursor::default(),
        shell,
    }))
}

fn address(shell: &Shell, cursor: InboxCursor) -> String {
    let given = [("slice", cursor.slice), ("before", cursor.before)].into_iter();
    let pairs = given.filter_map(|(name, number)| number.map(|number| format!("{name}={number}")));
    format!("{}?{}", shell.path("inbox"), pairs.collect::<Vec<_>>().join("&"))
}

fn row(member: &Member, shell: &Shell, slice: Option<u64>, thread: InboxThread) -> ThreadRow {
    let InboxThread { last: InboxMessage { record, delivery }, count } = thread;
    let mut href = shell.path_to("inbox", &record.id.to_string());
    if let Some(slice) = slice {
        href.push_str(&format!("?before={slice}"));
    }
    ThreadRow {
        href,
        from: member.shown_number(Some(record.from)).unwrap_or_default(),
        to: record.to,
        text: member.may(Permission::ReadTexts).then(|| beginning(&record.text)),
        at: Time::from(record.received_at),
        count,
        ways: ways(delivery),
    }
}

/// Returns the beginning of a text.
fn beginning(text: &str) -> String {
    let mut letters = text.chars();
    let first: String = letters.by_ref().take(TEXT_CHARS).collect();
    if letters.next().is_some() { format!("{first}…") } else { first }
}

/// Shows by which ways a message was delivered.
fn ways(InboundDelivery { is_polled, webhook, bind }: InboundDelivery) -> Vec<Chip> {
    let mut chips = Vec::new();
    if is_polled {
        chips.push(Chip::new(Tone::Good, "Polled"));
    }
    chips.extend(webhook.map(|status| match status {
        WebhookStatus::Waiting => Chip::new(Tone::Waiting, "Webhook waiting"),
        WebhookStatus::Delivered => Chip::new(Tone::Good, "Webhook"),
        WebhookStatus::Failed => Chip::new(Tone::Bad, "Webhook given up"),
    }));
    chips.extend(bind.map(|bind| match bind {
        BindDelivery::Waiting => Chip::new(Tone::Waiting, "Waiting for your receiver to connect"),
        BindDelivery::Delivered => Chip::new(Tone::Good, "Bind"),
        BindDelivery::GivenUp => Chip::new(Tone::Bad, "Bind given up"),
    }));
    if chips.is_empty() {
        chips.push(Chip::new(Tone::Neutral, "Not fetched yet"));
    }
    chips
}

/// `GET /accounts/{account}/inbox/{id}`.
pub(crate) async fn thread(
    member: Member,
    Path((_, id)): Path<(String, String)>,
    Query(Before { before }): Query<Before>,
) -> Reply {
    member.require(Permission::ReadMessages)?;
    let gateway = member.gateway();
    let id = id.parse().map_err(|_| NoPage::NotFound)?;
    let found = show_thread(gateway, member.account, id, before, MESSAGES).await?;
    let own = own_messages(&member, &found, before).await?;
    let shell = member.shell(NavEntry::Inbox);
    let may_read = member.may(Permission::ReadTexts);
    let received = found.messages.iter().map(|InboxMessage { record, delivery }| ThreadMessage {
        is_own: false,
        at: Time::from(record.received_at),
        text: may_read.then(|| record.text.clone()),
        chips: ways(*delivery),
        href: None,
    });
    let mut messages: Vec<ThreadMessage> = received.collect();
    for message in own {
        messages.push(sent(&member, &shell, message).await);
    }
    messages.sort_by_key(|message| message.at);
    let can_reply = member.may(Permission::SendMessages) && Msisdn::parse(&found.from).is_ok();
    let older = |before: u64| format!("{}?before={before}", shell.path_to("inbox", &id.to_string()));
    Ok(page(&ThreadPage {
        older: found.next.map(older),
        reply: can_reply.then(|| ReplyForm { from: found.to.clone(), to: found.from.clone() }),
        from: member.shown_number(Some(found.from)).unwrap_or_default(),
        to: found.to,
        messages,
        shell,
    }))
}

/// Returns the messages that the account sent to the handset from the same number, in the time of the shown MO messages.
async fn own_messages(
    member: &Member,
    found: &ThreadMessages,
    before: Option<u64>,
) -> Result<Vec<MessageView>, NoPage> {
    let since = match (found.next, found.messages.last()) {
        (Some(_), Some(oldest)) => Some(oldest.record.received_at),
        _ => None,
    };
    let until = match before {
        Some(before) => {
            find_inbound(member.gateway(), member.account, before).await.ok().map(|mo| mo.received_at)
        }
        None => None,
    };
    let query = MessagesQuery {
        account: Some(member.account_name.clone()),
        to: Some(found.from.clone()),
        from: Some(found.to.clone()),
        since: since.map(Timestamp::to_iso),
        until: until.map(Timestamp::to_iso),
        limit: Limit::try_from(MESSAGES.to_string()).ok(),
        ..MessagesQuery::default()
    };
    match search::search_messages(member.gateway(), query).await {
        Ok(found) => Ok(found.items),
        // The handset or the number of ours cannot be written to or from, or the record is off.
        Err(OperatorRefusal::InvalidField { .. } | OperatorRefusal::RecordOff) => Ok(Vec::new()),
        Err(refusal) => Err(refusal.into()),
    }
}

async fn sent(member: &Member, shell: &Shell, message: MessageView) -> ThreadMessage {
    let text = match (MessageId::parse(&message.id), member.may(Permission::ReadTexts)) {
        (Some(id), true) => member.gateway().store.messages().text(member.account, id).await.ok().flatten(),
        _ => None,
    };
    ThreadMessage {
        is_own: true,
        at: time_of(&message.accepted_at),
        text,
        chips: vec![Chip::of_state(&message.state)],
        href: Some(shell.path_to("messages", &message.id)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_of_delivery_is_shown_and_none_has_words_too() {
        let labels = |delivery| ways(delivery).into_iter().map(|chip| chip.label).collect::<Vec<_>>();
        assert_eq!(labels(InboundDelivery::default()), ["Not fetched yet"]);
        let all = InboundDelivery {
            is_polled: true,
            webhook: Some(WebhookStatus::Failed),
            bind: Some(BindDelivery::Waiting),
        };
        assert_eq!(labels(all), ["Polled", "Webhook given up", "Waiting for your receiver to connect"]);
    }

    #[test]
    fn long_text_is_cut_between_characters() {
        assert_eq!(beginning("hello"), "hello");
        assert_eq!(beginning(&"é".repeat(100)).chars().count(), TEXT_CHARS + 1);
    }
}
