//! Rows of the database that make no sense and were set aside.

use super::answer::{Answer, fine};
use super::asked::{Asked, cursor, limit};
use super::desk::Desk;
use crate::app::operator::OperatorRefusal;
use axum::extract::State;
use hermod_store::{SetAside, StoredPart};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SetAsideAsked {
    after: Option<String>,
    limit: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = SetAsidePage)]
pub(super) struct SetAsidePage {
    items: Vec<SetAsideShape>,
    /// Give it as `after` for the next page; nothing on the last one.
    next: Option<i64>,
}

/// A row that makes no sense. Its numbers are those of the database.
#[derive(Serialize, ToSchema)]
#[schema(as = SetAsideRow)]
struct SetAsideShape {
    number: i64,
    /// When it was set aside.
    at: String,
    #[schema(examples("part 1: 99 is not a known state"))]
    reason: String,
    carrier: i64,
    account: i64,
    message_id: String,
    /// The row of the part that left the queue. Nothing if the message's own row makes no sense and its parts go on.
    part: Option<StoredPartShape>,
}

/// The columns of a part's row.
#[derive(Serialize, ToSchema)]
#[schema(as = StoredPart)]
struct StoredPartShape {
    no: i64,
    state: i64,
    doubts: i64,
    resend: i64,
    attempts: i64,
    due_at: i64,
    expires_at: i64,
}

impl SetAsideShape {
    fn of(SetAside { id, at, reason, carrier, account, message, part }: SetAside) -> SetAsideShape {
        let part = part.map(|part| {
            let StoredPart { no, state, doubts, resend, attempts, due_at, expires_at } = part;
            StoredPartShape { no, state, doubts, resend, attempts, due_at, expires_at }
        });
        let (at, message_id) = (at.to_iso(), message.to_string());
        SetAsideShape { number: id, at, reason, carrier, account, message_id, part }
    }
}

pub(super) async fn list(
    State(desk): State<Arc<Desk>>,
    Asked(SetAsideAsked { after, limit: most }): Asked<SetAsideAsked>,
) -> Answer {
    let (after, most) = (cursor("after", after.as_deref())?, limit(most.as_deref())?);
    let rows = desk.world.store.set_aside(after, most).await.map_err(OperatorRefusal::from)?;
    let whole = u32::try_from(rows.len()).is_ok_and(|count| count == most);
    let next = rows.last().filter(|_| whole).map(|last| last.id);
    fine(&SetAsidePage { items: rows.into_iter().map(SetAsideShape::of).collect(), next })
}
