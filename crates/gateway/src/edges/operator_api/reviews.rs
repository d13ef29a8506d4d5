//! Messages that screening rules hold, and the decisions about them.

use super::answer::{Answer, fine};
use super::asked::{Asked, Named, cursor, limit, words};
use super::body::Received;
use super::desk::Desk;
use crate::app::operator::{self, OperatorRefusal, Reviewed};
use axum::extract::State;
use hermod_store::{ReviewCase, ReviewState};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

const BY_CHARS_MAX: usize = 100;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReviewsAsked {
    state: Option<String>,
    before: Option<String>,
    limit: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub(super) struct ReviewPage {
    items: Vec<ReviewShape>,
    next: Option<u64>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Review)]
pub(super) struct ReviewShape {
    id: u64,
    account: String,
    from: String,
    to: String,
    text: String,
    rules: Vec<String>,
    state: &'static str,
    seen: u64,
    opened_at: String,
    last_at: String,
    decided_at: Option<String>,
    decided_by: String,
}

impl ReviewShape {
    fn of(Reviewed { account, case }: Reviewed) -> ReviewShape {
        let ReviewCase {
            id,
            account: _,
            from,
            to,
            text,
            rules,
            opened_at,
            last_at,
            seen,
            state,
            decided_at,
            decided_by,
        } = case;
        ReviewShape {
            id,
            account,
            from: from.to_string(),
            to: to.to_string(),
            text,
            rules,
            state: state_text(state),
            seen,
            opened_at: opened_at.to_iso(),
            last_at: last_at.to_iso(),
            decided_at: decided_at.map(|at| at.to_iso()),
            decided_by,
        }
    }
}

pub(super) async fn list(
    State(desk): State<Arc<Desk>>,
    Asked(ReviewsAsked { state, before, limit: most }): Asked<ReviewsAsked>,
) -> Answer {
    let state = state.map(|text| state_of(&text)).transpose()?;
    let (before, most) = (cursor("before", before.as_deref())?, limit(most.as_deref())?);
    let (found, next) = operator::reviews(&desk.world, state, before, most).await?;
    fine(&ReviewPage { items: found.into_iter().map(ReviewShape::of).collect(), next })
}

pub(super) async fn show(State(desk): State<Arc<Desk>>, Named(id): Named<u64>) -> Answer {
    fine(&ReviewShape::of(operator::review(&desk.world, id).await?))
}

/// Who decides.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Decision)]
pub(super) struct DecisionShape {
    #[schema(min_length = 1, max_length = 100, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$", examples("Ada"))]
    by: String,
}

pub(super) async fn approve(desk: State<Arc<Desk>>, named: Named<u64>, body: Received) -> Answer {
    decide(desk, named, &body, true).await
}

pub(super) async fn reject(desk: State<Arc<Desk>>, named: Named<u64>, body: Received) -> Answer {
    decide(desk, named, &body, false).await
}

async fn decide(
    State(desk): State<Arc<Desk>>,
    Named(id): Named<u64>,
    body: &Received,
    approve: bool,
) -> Answer {
    let DecisionShape { by } = body.json()?;
    let by = words("by", by, 1, BY_CHARS_MAX)?;
    fine(&ReviewShape::of(operator::decide(&desk.world, id, approve, by).await?))
}

const fn state_text(state: ReviewState) -> &'static str {
    match state {
        ReviewState::Open => "open",
        ReviewState::Approved => "approved",
        ReviewState::Rejected => "rejected",
    }
}

fn state_of(text: &str) -> Result<ReviewState, OperatorRefusal> {
    let known = [ReviewState::Open, ReviewState::Approved, ReviewState::Rejected];
    known.into_iter().find(|state| state_text(*state) == text).ok_or_else(|| OperatorRefusal::InvalidField {
        field: "state",
        rule: format!("\"{text}\" is none of open, approved and rejected"),
    })
}
