//! Messages from handsets that no account owns.

use super::answer::{Answer, fine};
use super::asked::{Asked, Named, limit};
use super::body::Received;
use super::desk::Desk;
use crate::app::operator::{self, OperatorRefusal, UnownedSeen};
use axum::extract::State;
use hermod_domain::ids::MessageId;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UnownedAsked {
    after: Option<String>,
    limit: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = UnownedPage)]
pub(super) struct UnownedPage {
    items: Vec<UnownedShape>,
    /// Give it as `after` for the next page; nothing on the last one.
    next: Option<String>,
}

/// A message that is nobody's.
#[derive(Serialize, ToSchema)]
#[schema(as = UnownedMessage)]
struct UnownedShape {
    message_id: String,
    /// Who brought it.
    #[schema(examples("acme"))]
    carrier: String,
    #[schema(examples("+4915112345678"))]
    from: String,
    #[schema(examples("80800"))]
    to: String,
    text: String,
    received_at: String,
}

impl UnownedShape {
    fn of(UnownedSeen { carrier, message }: UnownedSeen) -> UnownedShape {
        UnownedShape {
            message_id: message.message.to_string(),
            carrier,
            from: message.from,
            to: message.to,
            text: message.text,
            received_at: message.received_at.to_iso(),
        }
    }
}

pub(super) async fn list(
    State(desk): State<Arc<Desk>>,
    Asked(UnownedAsked { after, limit: most }): Asked<UnownedAsked>,
) -> Answer {
    let wrong = |text: &str| OperatorRefusal::InvalidField {
        field: "after",
        rule: format!("\"{text}\" is not what an earlier answer gave as next"),
    };
    let after = after.map(|text| MessageId::parse(&text).ok_or_else(|| wrong(&text))).transpose()?;
    let most = limit(most.as_deref())?;
    let seen = operator::unassigned_inbound(&desk.world, after, most).await?;
    let whole = u32::try_from(seen.len()).is_ok_and(|count| count == most);
    let next = seen.last().filter(|_| whole).map(|last| last.message.message.to_string());
    fine(&UnownedPage { items: seen.into_iter().map(UnownedShape::of).collect(), next })
}

/// Whose it shall be.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Assign)]
pub(super) struct AssignShape {
    #[schema(examples("shop"))]
    account: String,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Assigned)]
pub(super) struct AssignedShape {
    message_id: String,
    account: String,
    /// Its number among the account's inbound messages.
    id: u64,
}

pub(super) async fn assign(
    State(desk): State<Arc<Desk>>,
    Named(message): Named<String>,
    body: Received,
) -> Answer {
    let AssignShape { account } = body.json()?;
    let unknown = || OperatorRefusal::NotFound(format!("no unowned message has the id {message}"));
    let message = MessageId::parse(&message).ok_or_else(unknown)?;
    let (account, record) = operator::assign_inbound(&desk.world, message, &account).await?;
    fine(&AssignedShape { message_id: message.to_string(), account, id: record.id })
}
