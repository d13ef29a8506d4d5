//! The things of the catalogue: the same five requests for each kind.

use super::answer::{Answer, fine, json};
use super::asked::{Asked, LIMIT_MAX, Named, limit};
use super::body::Received;
use super::desk::Desk;
use super::shapes::{AppliedShape, ItemShape, PageShape, PutShape};
use crate::app::operator::{self, Applied, IfThere, Item, Listed, LiveBinds, OperatorRefusal};
use crate::provision::{Effect, Kind};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::routing::{MethodRouter, get};
use serde::Deserialize;
use std::sync::Arc;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListAsked {
    account: Option<String>,
    after: Option<String>,
    limit: Option<String>,
}

/// What else a change does.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ChangeAsked {
    unbind: Option<bool>,
}

impl ChangeAsked {
    fn binds(&self, kind: Kind) -> Result<LiveBinds, OperatorRefusal> {
        match (self.unbind, kind) {
            (None | Some(false), _) => Ok(LiveBinds::Keep),
            (Some(true), Kind::Connection) => Ok(LiveBinds::Unbind),
            (Some(true), _) => {
                let rule = format!("a {kind} has no binds; only connections have");
                Err(OperatorRefusal::InvalidField { field: "unbind", rule })
            }
        }
    }
}

type Shared = State<Arc<Desk>>;

pub(super) fn of_kind(kind: Kind) -> MethodRouter<Arc<Desk>> {
    get(move |desk: Shared, asked: Asked<ListAsked>| list(desk, kind, asked))
}

pub(super) fn of_one(kind: Kind) -> MethodRouter<Arc<Desk>> {
    get(move |desk: Shared, named: Named<String>| show(desk, kind, named))
        .put(
            move |desk: Shared,
                  named: Named<String>,
                  asked: Asked<ChangeAsked>,
                  head: HeaderMap,
                  body: Received| {
                put(desk, kind, named, asked.0.binds(kind), if_there(&head), body)
            },
        )
        .patch(move |desk: Shared, named: Named<String>, asked: Asked<ChangeAsked>, body: Received| {
            patch(desk, kind, named, asked.0.binds(kind), body)
        })
        .delete(move |desk: Shared, named: Named<String>| remove(desk, kind, named))
}

async fn list(State(desk): Shared, kind: Kind, Asked(asked): Asked<ListAsked>) -> Answer {
    let ListAsked { account, after, limit: most } = asked;
    let most = match most {
        Some(most) => limit(Some(&most))?,
        None => LIMIT_MAX,
    };
    let listed = Listed { account, after, limit: usize::try_from(most).unwrap_or(usize::MAX) };
    let page = operator::list_entries(&desk.world, kind, &listed).await?;
    fine(&PageShape::of(page))
}

async fn show(State(desk): Shared, kind: Kind, Named(name): Named<String>) -> Answer {
    fine(&ItemShape::of(operator::show_entry(&desk.world, kind, &name).await?))
}

async fn put(
    State(desk): Shared,
    kind: Kind,
    Named(name): Named<String>,
    binds: Result<LiveBinds, OperatorRefusal>,
    if_there: Result<IfThere, OperatorRefusal>,
    body: Received,
) -> Answer {
    let (applied, item) =
        operator::put_entry(&desk.world, kind, &name, body.object()?, if_there?, binds?).await?;
    let made = applied
        .changes
        .iter()
        .any(|change| change.kind == kind && change.name == item.name && change.effect == Effect::Made);
    Ok(put_answer(if made { StatusCode::CREATED } else { StatusCode::OK }, applied, item))
}

/// `If-None-Match: *` makes and never replaces. There are no tags, so nothing else can be asked for.
fn if_there(headers: &HeaderMap) -> Result<IfThere, OperatorRefusal> {
    let mut given = headers.get_all(header::IF_NONE_MATCH).iter();
    match (given.next(), given.next()) {
        (None, _) => Ok(IfThere::Replace),
        (Some(value), None) if value == "*" => Ok(IfThere::Refuse),
        (Some(_), _) => {
            let rule = "can only be *, once".to_owned();
            Err(OperatorRefusal::InvalidField { field: "If-None-Match", rule })
        }
    }
}

async fn patch(
    State(desk): Shared,
    kind: Kind,
    Named(name): Named<String>,
    binds: Result<LiveBinds, OperatorRefusal>,
    body: Received,
) -> Answer {
    let (applied, item) = operator::patch_entry(&desk.world, kind, &name, body.patch()?, binds?).await?;
    Ok(put_answer(StatusCode::OK, applied, item))
}

async fn remove(State(desk): Shared, kind: Kind, Named(name): Named<String>) -> Answer {
    fine(&AppliedShape::of(operator::remove_entry(&desk.world, kind, &name).await?))
}

pub(super) async fn rotate(State(desk): Shared, Named(key): Named<String>) -> Answer {
    fine(&AppliedShape::of(operator::rotate_key(&desk.world, &key).await?))
}

fn put_answer(status: StatusCode, applied: Applied, item: Item) -> axum::response::Response {
    json(status, &PutShape { item: ItemShape::of(item), applied: AppliedShape::of(applied) })
}
