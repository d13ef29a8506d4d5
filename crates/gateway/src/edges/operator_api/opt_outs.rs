//! Handsets that want no more messages from an account.

use super::answer::{Answer, fine, json};
use super::asked::{Asked, Named, limit, number, words};
use super::body::Received;
use super::desk::Desk;
use crate::app::operator;
use axum::extract::State;
use axum::http::StatusCode;
use hermod_store::OptOut;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

const HOW_CHARS_MAX: usize = 100;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OptOutsAsked {
    after: Option<String>,
    limit: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub(super) struct OptOutPage {
    items: Vec<OptOutShape>,
    next: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = OptOut)]
pub(super) struct OptOutShape {
    number: String,
    how: String,
    at: String,
}

impl OptOutShape {
    fn of(OptOut { account: _, number, how, now }: OptOut) -> OptOutShape {
        OptOutShape { number: number.to_string(), how, at: now.to_iso() }
    }
}

pub(super) async fn list(
    State(desk): State<Arc<Desk>>,
    Named(account): Named<String>,
    Asked(OptOutsAsked { after, limit: most }): Asked<OptOutsAsked>,
) -> Answer {
    // A plus in a query is a space to those who wrote it; both mean the number.
    let after = after.map(|text| number(&text.replace(' ', "+"))).transpose()?;
    let (found, next) = operator::opt_outs(&desk.world, &account, after, limit(most.as_deref())?).await?;
    let items = found.into_iter().map(OptOutShape::of).collect();
    fine(&OptOutPage { items, next: next.map(|number| number.to_string()) })
}

/// How it came about, in a few words.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = How)]
pub(super) struct HowShape {
    #[schema(
        min_length = 1,
        max_length = 100,
        pattern = r"^[^\x00-\x1f\x7f-\x9f]*$",
        examples("asked by phone")
    )]
    how: String,
}

pub(super) async fn put(
    State(desk): State<Arc<Desk>>,
    Named((account, text)): Named<(String, String)>,
    body: Received,
) -> Answer {
    let how = if body.is_empty() { "the operator".to_owned() } else { body.json::<HowShape>()?.how };
    let how = words("how", how, 1, HOW_CHARS_MAX)?;
    let (kept, new) = operator::opt_out(&desk.world, &account, number(&text)?, how).await?;
    let status = if new { StatusCode::CREATED } else { StatusCode::OK };
    Ok(json(status, &OptOutShape::of(kept)))
}

#[derive(Serialize, ToSchema)]
#[schema(as = OptIn)]
pub(super) struct RemovedShape {
    number: String,
    removed: bool,
}

pub(super) async fn remove(
    State(desk): State<Arc<Desk>>,
    Named((account, text)): Named<(String, String)>,
) -> Answer {
    let number = number(&text)?;
    operator::forget_opt_out(&desk.world, &account, number).await?;
    fine(&RemovedShape { number: number.to_string(), removed: true })
}
