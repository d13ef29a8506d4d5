//! Reads the history of one message, and completes it by the lines of the store's own timeline where steps are missing.

use crate::record::database::rows::{HISTORY_COLUMNS, read_history};
use crate::record::{HistoryStep, MessageHistory, RecordStatus, Scope, StepNote};
use crate::sql::{Connection, OptionalExtension};
use hermod_domain::ids::{MessageId, PartNo};
use hermod_domain::time::Timestamp;
use hermod_engine::tables::TableError;

/// Returns the history of a message; none if there is none with this id in the scope.
pub(crate) fn history(
    connection: &Connection,
    scope: Scope,
    id: MessageId,
) -> Result<Option<MessageHistory>, TableError> {
    let mut find =
        connection.prepare_cached(&format!("SELECT {HISTORY_COLUMNS} FROM message m WHERE m.id = ?1"))?;
    let found =
        find.query_row([id.as_i64()], |row| Ok(read_history(row, RecordStatus::default()))).optional()?;
    Ok(found.transpose()?.filter(|history| scope.includes(history.message.account)))
}

/// Whether steps of a message are missing in the record.
pub(crate) fn has_gap(history: &MessageHistory) -> bool {
    history.steps.iter().any(|step| matches!(step.what, StepNote::Gap))
}

/// A line of the store's timeline.
pub(crate) struct StoredLine {
    at: Timestamp,
    part: PartNo,
    what: String,
    detail: String,
}

/// Returns the lines of a message in the store's database.
pub(crate) fn stored_lines(connection: &Connection, id: MessageId) -> Result<Vec<StoredLine>, TableError> {
    let mut lines = connection
        .prepare_cached("SELECT at, part, what, detail FROM timeline WHERE message = ?1 ORDER BY rowid")?;
    let lines = lines.query_map([id.as_i64()], |row| {
        Ok(StoredLine {
            at: Timestamp::from_millis(row.get(0)?),
            part: PartNo::new(row.get(1)?).unwrap_or(PartNo::FIRST),
            what: row.get(2)?,
            detail: row.get(3)?,
        })
    })?;
    Ok(lines.collect::<Result<_, _>>()?)
}

/// Adds the lines of the store's timeline that the history does not have as steps, in the order of their times.
pub(crate) fn add_lines(history: &mut MessageHistory, lines: Vec<StoredLine>) {
    let accepted_at = history.message.id.accepted_at();
    let recorded = history.steps.len();
    for StoredLine { at, part, what, detail } in lines {
        let at_ms = u64::try_from(at.since(accepted_at).as_millis()).unwrap_or(u64::MAX);
        let is_recorded = history.steps[..recorded].iter().any(|step| {
            let StepNote::Step(kind) = &step.what else { return false };
            let text = kind.timeline_text();
            (step.at_ms, step.part) == (at_ms, part)
                && text.is_some_and(|text| text.what == what && text.detail == detail)
        });
        if !is_recorded {
            let note = StepNote::Stored { what: what.into(), detail: detail.into() };
            history.steps.push(HistoryStep { at_ms, part, what: note });
        }
    }
    history.steps.sort_by_key(|step| step.at_ms);
}
