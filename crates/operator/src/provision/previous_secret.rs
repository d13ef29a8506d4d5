//! How a plan shows the secret before the current one.

use crate::provision::FieldChange;
use hermod_domain::catalogue::PreviousSecret;
use serde_json::Value;

/// Returns what changed about the secret before the current one: until when it is valid.
pub(super) fn previous_changes(
    field: &str,
    before: Option<&PreviousSecret>,
    after: Option<&PreviousSecret>,
) -> Option<FieldChange> {
    let until = |previous: Option<&PreviousSecret>| {
        previous.map_or(Value::Null, |previous| Value::from(previous.until.to_iso()))
    };
    (before != after).then(|| FieldChange {
        field: field.to_owned(),
        before: until(before),
        after: until(after),
    })
}
