//! What the path and the query of a request ask for.

use super::desk::Desk;
use crate::app::operator::OperatorRefusal;
use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;
use hermod_domain::phone::Msisdn;
use hermod_domain::sender::Sender;
use hermod_domain::time::Day;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;

/// Rows of a page if nobody says how many.
const LIMIT_DEFAULT: u32 = 100;
pub(super) const LIMIT_MAX: u32 = 1_000;

/// The names in the path.
pub(super) struct Named<T>(pub(super) T);

impl<T: DeserializeOwned + Send> FromRequestParts<Arc<Desk>> for Named<T> {
    type Rejection = OperatorRefusal;

    async fn from_request_parts(head: &mut Parts, desk: &Arc<Desk>) -> Result<Named<T>, OperatorRefusal> {
        let named = Path::from_request_parts(head, desk).await;
        let missing = |_| OperatorRefusal::NotFound("there is nothing at this path".to_owned());
        named.map(|Path(named)| Named(named)).map_err(missing)
    }
}

/// The parameters of the query; one that is not known is refused.
pub(super) struct Asked<T>(pub(super) T);

impl<T: DeserializeOwned + Send> FromRequestParts<Arc<Desk>> for Asked<T> {
    type Rejection = OperatorRefusal;

    async fn from_request_parts(head: &mut Parts, desk: &Arc<Desk>) -> Result<Asked<T>, OperatorRefusal> {
        let asked = Query::from_request_parts(head, desk).await;
        asked.map(|Query(asked)| Asked(asked)).map_err(|error| OperatorRefusal::InvalidField {
            field: "query",
            rule: error.body_text().trim_start_matches("Failed to deserialize query string: ").to_owned(),
        })
    }
}

/// The days of a statement or a chart, both included.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Days {
    from: String,
    to: String,
}

impl Days {
    pub(super) fn read(&self) -> Result<(Day, Day), OperatorRefusal> {
        let day = |field, text: &str| {
            let rule = format!("\"{text}\" is not a day such as 2026-01-31");
            Day::parse(text).ok_or(OperatorRefusal::InvalidField { field, rule })
        };
        Ok((day("from", &self.from)?, day("to", &self.to)?))
    }
}

pub(super) fn limit(text: Option<&str>) -> Result<u32, OperatorRefusal> {
    let Some(text) = text else { return Ok(LIMIT_DEFAULT) };
    let limit = text.parse().ok().filter(|limit| (1..=LIMIT_MAX).contains(limit));
    limit.ok_or_else(|| OperatorRefusal::InvalidField {
        field: "limit",
        rule: format!("\"{text}\" is not a number from 1 to {LIMIT_MAX}"),
    })
}

/// A cursor as an earlier answer gave it.
pub(super) fn cursor<T: TryFrom<u64>>(
    field: &'static str,
    text: Option<&str>,
) -> Result<Option<T>, OperatorRefusal> {
    let read = |text: &str| {
        let id = text.parse().ok().filter(|id| *id <= i64::MAX.unsigned_abs());
        id.and_then(|id| T::try_from(id).ok()).ok_or_else(|| OperatorRefusal::InvalidField {
            field,
            rule: format!("\"{text}\" is not what an earlier answer gave as next"),
        })
    };
    text.map(read).transpose()
}

pub(super) fn number(text: &str) -> Result<Msisdn, OperatorRefusal> {
    Msisdn::parse(text).map_err(|refusal| OperatorRefusal::InvalidField {
        field: "number",
        rule: format!("\"{text}\": {refusal}"),
    })
}

/// A sender as it stands in a query, where a plus is a space to those who wrote it.
pub(super) fn sender(text: &str) -> Result<Sender, OperatorRefusal> {
    let text = match text.strip_prefix(' ') {
        Some(digits) => format!("+{digits}"),
        None => text.to_owned(),
    };
    Sender::parse(&text).map_err(|refusal| OperatorRefusal::InvalidField {
        field: "from",
        rule: format!("\"{text}\": {refusal}"),
    })
}

/// A few words somebody wrote.
pub(super) fn words(
    field: &'static str,
    text: String,
    least: usize,
    most: usize,
) -> Result<String, OperatorRefusal> {
    let fits = (least..=most).contains(&text.chars().count());
    if fits && !text.chars().any(char::is_control) {
        return Ok(text);
    }
    let rule = format!("must have {least} to {most} characters, none of them a control character");
    Err(OperatorRefusal::InvalidField { field, rule })
}
