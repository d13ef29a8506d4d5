//! The sheets that were applied, as they are stored: rows beside the setup, written in the transaction of their change.

use crate::entry::names::of_cost;
use crate::rates::plan::PlannedRate;
use crate::rates::views::{RateCounts, RateSheetView};
use crate::refusal::{OperatorRefusal, Result};
use hermod_domain::catalogue::Cost;
use hermod_domain::ids::CarrierId;
use hermod_domain::money::Money;
use hermod_domain::time::Timestamp;
use hermod_store::{CatalogueRow, RATE_SHEET_KIND};
use serde::{Deserialize, Serialize};

/// Sheets of a carrier that are kept: two years of weekly ones.
pub(crate) const KEPT_MAX: usize = 104;

/// A cost that a sheet stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct KeptChange {
    /// The name of the entry.
    pub(crate) name: String,
    pub(crate) per_part: Option<Money>,
    /// What had this name before, and was not in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) replaced: Option<Cost>,
}

/// A sheet that was applied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct KeptSheet {
    pub(crate) carrier: CarrierId,
    pub(crate) file: String,
    pub(crate) sha256: String,
    pub(crate) by: String,
    pub(crate) at: Timestamp,
    pub(crate) mode: String,
    pub(crate) counts: RateCounts,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) undone_at: Option<Timestamp>,
    /// What is needed to take it back; only the last sheet of a carrier has it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) changes: Vec<KeptChange>,
}

impl KeptSheet {
    pub(crate) fn row(&self, number: u32) -> CatalogueRow {
        let body = serde_json::to_string(self).expect("texts, numbers and lists");
        CatalogueRow { kind: RATE_SHEET_KIND.to_owned(), id: number, name: number.to_string(), body }
    }

    pub(crate) fn view(self, number: u32, carrier: &str) -> RateSheetView {
        RateSheetView {
            number,
            carrier: carrier.to_owned(),
            file: self.file,
            sha256: self.sha256,
            by: self.by,
            at: self.at.to_iso(),
            mode: self.mode,
            counts: self.counts,
            undone_at: self.undone_at.map(Timestamp::to_iso),
        }
    }
}

/// All sheets, in their order.
pub(crate) struct KeptSheets(Vec<(u32, KeptSheet)>);

impl KeptSheets {
    pub(crate) fn read(rows: Vec<CatalogueRow>) -> Result<KeptSheets> {
        let sheets = rows.into_iter().map(|row| {
            let sheet = serde_json::from_str(&row.body).map_err(|error| {
                tracing::error!(%error, sheet = row.id, "The stored rate sheet is invalid");
                OperatorRefusal::Failed
            })?;
            Ok((row.id, sheet))
        });
        sheets.collect::<Result<_>>().map(KeptSheets)
    }

    pub(crate) fn next_number(&self) -> u32 {
        self.0.last().map_or(1, |(number, _)| number + 1)
    }

    /// Returns the sheets of a carrier, the newest first.
    pub(crate) fn of(self, carrier: CarrierId) -> Vec<(u32, KeptSheet)> {
        self.0.into_iter().rev().filter(|(_, sheet)| sheet.carrier == carrier).collect()
    }
}

/// Returns what is needed to take a plan back.
pub(crate) fn changes_of(carrier: &str, planned: &[PlannedRate]) -> Vec<KeptChange> {
    let kept = |planned: &PlannedRate| {
        let cost = &planned.cost;
        KeptChange {
            name: of_cost(carrier, cost.area(), cost.sender_kind, cost.from),
            per_part: cost.per_part,
            replaced: planned.before.clone().filter(|_| planned.is_replacing),
        }
    };
    planned.iter().map(kept).collect()
}
