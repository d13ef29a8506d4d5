//! The inbox: threads of MO messages, and both directions of one thread.

use super::State;
use super::extract::{Path, Query};
use super::member::Member;
use super::reply::{NoPage, Reply, page};
use super::shown::time;
use crate::elements::{Chip, Tone};
use crate::layout::{NavEntry, Shell};
use crate::pages::inbox::{InboxPage, ReplyForm, ThreadMessage, ThreadPage, ThreadRow};
use crate::time::Time;
use hermod_domain::ids::MessageId;
use hermod_domain::permission::Permission;
use hermod_domain::phone::Msisdn;
use hermod_domain::time::Timestamp;
use hermod_gateway::gateway::Gateway;
use hermod_operator::inbox::{
    BindDelivery, InboundDelivery, InboxCursor, InboxMessage, InboxThread, ThreadMessages, WebhookStatus,
    find_inbound, list_threads, show_thread,
};
use hermod_operator::message::search;
use hermod_operator::message::views::{MessageView, MessagesQuery};
use hermod_operator::refusal::OperatorRefusal;
use hermod_operator::views::paging::Limit;
use serde::Deserialize;

/// Threads of a page.
const THREADS: usize = 30;
/// MO messages of a page of a thread, and messages of the account between them.
const MESSAGES: usize = 50;
/// Characters of a text in the list.
const TEXT_CHARS: usize = 80;

/// Where the list goes on.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct InboxQuery {
    slice: Option<u64>,
    before: Option<u64>,
}

/// `GET /accounts/{account}/inbox`.
pub(super) async fn list(
    axum::extract::State(portal): State,
    member: Member,
    Query(InboxQuery { slice, before }): Query<InboxQuery>,
) -> Reply {
    member.require(Permission::ReadMessages)?;
    let cursor = InboxCursor { slice, before };
    let found = list_threads(&portal.gateway, member.account, cursor, THREADS).await?;
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
        at: Time(record.received_at.as_millis()),
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

/// Where the messages of a thread go on.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ThreadQuery {
    before: Option<u64>,
}

/// `GET /accounts/{account}/inbox/{id}`.
pub(super) async fn thread(
    axum::extract::State(portal): State,
    member: Member,
    Path((_, id)): Path<(String, String)>,
    Query(ThreadQuery { before }): Query<ThreadQuery>,
) -> Reply {
    member.require(Permission::ReadMessages)?;
    let gateway = &*portal.gateway;
    let id = id.parse().map_err(|_| NoPage::NotFound)?;
    let found = show_thread(gateway, member.account, id, before, MESSAGES).await?;
    let own = own_messages(gateway, &member, &found, before).await?;
    let shell = member.shell(NavEntry::Inbox);
    let may_read = member.may(Permission::ReadTexts);
    let received = found.messages.iter().map(|InboxMessage { record, delivery }| ThreadMessage {
        is_own: false,
        at: Time(record.received_at.as_millis()),
        text: may_read.then(|| record.text.clone()),
        chips: ways(*delivery),
        href: None,
    });
    let mut messages: Vec<ThreadMessage> = received.collect();
    for message in own {
        messages.push(sent(gateway, &member, &shell, message).await);
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
    gateway: &Gateway,
    member: &Member,
    found: &ThreadMessages,
    before: Option<u64>,
) -> Result<Vec<MessageView>, NoPage> {
    let since = match (found.next, found.messages.last()) {
        (Some(_), Some(oldest)) => Some(oldest.record.received_at),
        _ => None,
    };
    let until = match before {
        Some(before) => find_inbound(gateway, member.account, before).await.ok().map(|mo| mo.received_at),
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
    match search::search_messages(gateway, query).await {
        Ok(found) => Ok(found.items),
        // The handset or the number of ours cannot be written to or from, or the record is off.
        Err(OperatorRefusal::InvalidField { .. } | OperatorRefusal::RecordOff) => Ok(Vec::new()),
        Err(refusal) => Err(refusal.into()),
    }
}

async fn sent(gateway: &Gateway, member: &Member, shell: &Shell, message: MessageView) -> ThreadMessage {
    let text = match (MessageId::parse(&message.id), member.may(Permission::ReadTexts)) {
        (Some(id), true) => gateway.store.messages().text(member.account, id).await.ok().flatten(),
        _ => None,
    };
    ThreadMessage {
        is_own: true,
        at: time(&message.accepted_at).unwrap_or(Time(0)),
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
