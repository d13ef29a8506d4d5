//! A whole provision file at once.

use super::answer::{Answer, fine};
use super::asked::Asked;
use super::body::{Received, TOML};
use super::desk::Desk;
use super::shapes::AppliedShape;
use crate::app::operator::{OperatorRefusal, apply_wanted};
use crate::config::Source;
use crate::provision::{Wanted, wanted_whole};
use axum::extract::State;
use serde::Deserialize;
use std::sync::Arc;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ApplyAsked {
    #[serde(default)]
    dry_run: bool,
    /// Bring everything to the file, also what was changed since it was last applied.
    #[serde(default)]
    force: bool,
}

pub(super) async fn apply(
    State(desk): State<Arc<Desk>>,
    Asked(ApplyAsked { dry_run, force }): Asked<ApplyAsked>,
    body: Received,
) -> Answer {
    let applied = apply_wanted(&desk.world, &wanted(&body)?.forced(force), dry_run).await?;
    fine(&AppliedShape::of(applied))
}

fn wanted(body: &Received) -> Result<Wanted, OperatorRefusal> {
    if body.is(TOML) {
        let source = Source { path: "file".into(), text: body.text()?.to_owned() };
        return Wanted::parse(&source).map_err(|error| OperatorRefusal::InvalidToml(error.to_string()));
    }
    let object = body.object().map_err(|refusal| match refusal {
        OperatorRefusal::InvalidContentType(_) => OperatorRefusal::InvalidContentType(
            "send Content-Type: application/toml for a provision file, or application/json",
        ),
        other => other,
    })?;
    Ok(wanted_whole(&object)?)
}
