//! The table of what carriers can bill of messages that moved to another carrier, and the columns of a cost.

use crate::ops::EarlierCost;
use crate::tables::TableError;
use crate::tables::columns::{Column, ColumnKind, ColumnReader, ColumnValue, Stored};
use crate::tables::described::{stored_fields, stored_table};
use hermod_domain::believed_cost::BelievedCost;
use hermod_domain::ids::MessageId;
use hermod_domain::money::Money;

impl Stored for BelievedCost {
    fn add_columns(_: &'static str, columns: &mut Vec<Column>) {
        let names = ["carrier_cost", "cost_terms"];
        columns.extend(names.map(|name| Column { name, kind: ColumnKind::Number, is_optional: false }));
    }

    fn add_values<'v>(&'v self, values: &mut Vec<ColumnValue<'v>>) {
        let numbers = [self.terms.per_part.as_micros(), self.packed_terms()];
        values.extend(numbers.map(ColumnValue::Number));
    }

    fn read(row: &mut ColumnReader<'_>) -> Result<BelievedCost, TableError> {
        let (per_part, terms) = (Money::read(row)?, i64::read(row)?);
        BelievedCost::unpack(per_part, terms).map_err(TableError::unreadable)
    }
}

stored_table! {
    earlier_cost: EarlierCost { message, no, carrier, submitted, doubts, cost }, key (message: MessageId, no: u16)
}

/// Reads what carriers can bill of messages that they had earlier.
pub trait EarlierCostRows {
    /// Returns what earlier carriers of a message can bill, in the order of the moves.
    fn earlier_costs(&self, message: MessageId) -> Result<Vec<EarlierCost>, TableError>;
}
