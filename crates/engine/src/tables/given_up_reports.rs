//! The table of reports that were given up.

use crate::ops::{GivenUpReport, ReportGiveUpReason, ReportId};
use crate::tables::TableError;
use crate::tables::columns::{Column, ColumnReader, ColumnValue, Stored, one_column};
use crate::tables::described::{stored_fields, stored_table};
use hermod_domain::receipt::ReportStatus;
use hermod_domain::time::Timestamp;

/// Stands in the place of a status for a report that delivers an MO message.
pub const TOLD_INBOUND: u8 = 200;

one_column! {
    ReportId: Number, |id| id.0.cast_signed(), |number| Some(ReportId(number.cast_unsigned()));
    Option<ReportStatus>: Number, |status| status.map_or(TOLD_INBOUND, ReportStatus::as_u8).into(), |number| {
        let number = u8::try_from(number).ok()?;
        if number == TOLD_INBOUND { Some(None) } else { ReportStatus::from_u8(number).map(Some) }
    };
}

/// The customer's error status, or null if no bind took the report in time.
impl Stored for ReportGiveUpReason {
    fn add_columns(name: &'static str, columns: &mut Vec<Column>) {
        Option::<u32>::add_columns(name, columns);
    }

    fn add_values<'v>(&'v self, values: &mut Vec<ColumnValue<'v>>) {
        values.push(match self {
            ReportGiveUpReason::TooOld => ColumnValue::Null,
            ReportGiveUpReason::Refused(status) => ColumnValue::Number((*status).into()),
        });
    }

    fn read(row: &mut ColumnReader<'_>) -> Result<ReportGiveUpReason, TableError> {
        Ok(Option::read(row)?.map_or(ReportGiveUpReason::TooOld, ReportGiveUpReason::Refused))
    }
}

stored_table! {
    given_up: GivenUpReport { id, account, connection, message, status => told, at, given_up_at, reason => status },
    key (id: ReportId),
    indexes ["INDEX given_up_account ON given_up (account, id)"]
}

/// Reads reports that were given up.
pub trait GivenUpReportRows {
    /// Returns the highest id of a report that was given up.
    fn last_given_up_report(&self) -> Result<Option<ReportId>, TableError>;

    /// Returns the first reports that were given up, in order: at most `limit`, and none from the first on that is newer
    /// than `newest`.
    fn first_given_up_reports(&self, newest: Timestamp, limit: usize) -> Result<Vec<ReportId>, TableError>;
}
