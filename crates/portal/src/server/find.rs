//! Finds what a person pasted: a message id, a number, an id of a carrier, request or event, a sender.

use super::State;
use super::extract::Query;
use super::member::Member;
use super::reply::{Reply, redirect};
use crate::layout::{NavEntry, encode_segment};
use hermod_domain::permission::Permission;
use hermod_operator::message::views::MessagesQuery;
use hermod_operator::message::{history, search};
use hermod_operator::refusal::OperatorRefusal;
use hermod_operator::views::paging::Limit;
use hermod_operator::webhook::use_cases::show_webhook_event;
use serde::Deserialize;

/// A longer text is none of these.
const CHARS_MAX: usize = 128;

#[derive(Deserialize)]
pub(super) struct FindQuery {
    #[serde(default)]
    q: String,
}

/// `GET /accounts/{account}/find?q=`.
pub(super) async fn find(
    axum::extract::State(portal): State,
    member: Member,
    Query(FindQuery { q }): Query<FindQuery>,
) -> Reply {
    member.require(Permission::ReadMessages)?;
    let shell = member.shell(NavEntry::Messages);
    let wanted = q.trim();
    if wanted.is_empty() || wanted.len() > CHARS_MAX {
        return Ok(redirect(&shell.path("messages")));
    }
    if history::show_message_of(&portal.gateway, member.account, wanted).await.is_ok() {
        return Ok(redirect(&shell.path_to("messages", wanted)));
    }
    if member.may(Permission::ReadSetup)
        && show_webhook_event(&portal.gateway, &member.account_name, wanted).await.is_ok()
    {
        return Ok(redirect(&shell.path_to("webhooks/events", wanted)));
    }
    let text = || Some(wanted.to_owned());
    let ids = [
        MessagesQuery { carrier_id: text(), ..MessagesQuery::default() },
        MessagesQuery { request: text(), ..MessagesQuery::default() },
        MessagesQuery { key: text(), ..MessagesQuery::default() },
        MessagesQuery { event: text(), ..MessagesQuery::default() },
    ];
    for query in ids {
        let limit = Limit::try_from("1".to_owned()).ok();
        let query = MessagesQuery { account: Some(member.account_name.clone()), limit, ..query };
        match search::search_messages(&portal.gateway, query).await {
            Ok(found) => {
                if let Some(message) = found.items.first() {
                    return Ok(redirect(&shell.path_to("messages", &message.id)));
                }
            }
            // Not an id of this kind.
            Err(OperatorRefusal::InvalidField { .. }) => {}
            Err(refusal) => return Err(refusal.into()),
        }
    }
    let is_number = wanted.trim_start_matches('+').bytes().all(|b| b.is_ascii_digit() || b == b'*');
    let field = if is_number { "to" } else { "from" };
    Ok(redirect(&format!("{}?{field}={}", shell.path("messages"), encode_segment(wanted))))
}
