//! What requests about rate sheets say and return.

use crate::views::amount::Amount;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct RateSheetQuery {
    /// Store what the sheet changes. Without it, it is only planned.
    #[serde(default)]
    #[param(default = false)]
    pub apply: bool,
    /// The `plan` of an earlier response: the sheet is applied only if it still has the same plan.
    #[param(pattern = "^[0-9a-f]{64}$")]
    pub plan: Option<String>,
    /// The name of the file, for the list of sheets.
    #[param(max_length = 200)]
    pub file: Option<String>,
    /// `full` or `partial`, in place of what the rate profile says.
    #[param(pattern = "^(full|partial)$")]
    pub mode: Option<String>,
    /// The sheet of a workbook, in place of what the rate profile says.
    #[param(max_length = 100)]
    pub sheet: Option<String>,
    /// How many changes and losses are listed at most; 200 by default.
    #[param(maximum = 250000)]
    pub listed: Option<u32>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct UndoQuery {
    /// Only return what would be taken back.
    #[serde(default)]
    #[param(default = false)]
    pub dry_run: bool,
}

/// What happens to the cost of a destination. `changed`: its currency, basis or end differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = RateChangeKind, examples("raised"))]
pub enum RateChange {
    Closed,
    Raised,
    Changed,
    Reopened,
    New,
    Lowered,
}

impl RateChange {
    pub const fn as_str(self) -> &'static str {
        match self {
            RateChange::Closed => "closed",
            RateChange::Raised => "raised",
            RateChange::Changed => "changed",
            RateChange::Reopened => "reopened",
            RateChange::New => "new",
            RateChange::Lowered => "lowered",
        }
    }
}

/// How many costs of a sheet are new, higher, lower, and so on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RateCounts {
    #[schema(examples(3))]
    pub new: u32,
    #[schema(examples(2))]
    pub raised: u32,
    #[schema(examples(40))]
    pub lowered: u32,
    #[schema(examples(1))]
    pub closed: u32,
    #[schema(examples(0))]
    pub reopened: u32,
    /// Another currency, basis or end.
    #[schema(examples(0))]
    pub changed: u32,
    #[schema(examples(900))]
    pub unchanged: u32,
}

impl RateCounts {
    pub(crate) fn add(&mut self, change: RateChange) {
        let count = match change {
            RateChange::New => &mut self.new,
            RateChange::Raised => &mut self.raised,
            RateChange::Lowered => &mut self.lowered,
            RateChange::Closed => &mut self.closed,
            RateChange::Reopened => &mut self.reopened,
            RateChange::Changed => &mut self.changed,
        };
        *count += 1;
    }

    /// Returns how many costs are stored.
    pub fn changes(&self) -> u32 {
        let RateCounts { new, raised, lowered, closed, reopened, changed, unchanged: _ } = self;
        new + raised + lowered + closed + reopened + changed
    }
}

/// The plan of a rate sheet, which was applied or not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RatePlanView {
    #[schema(examples("north"))]
    pub carrier: String,
    /// Whether the changes were stored.
    #[schema(examples(false))]
    pub applied: bool,
    /// Changes if the file, the rate profile or the costs of the carrier change. Give it back to apply this plan and no other.
    #[schema(examples("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"))]
    pub plan: String,
    /// The digest of the file.
    pub sha256: String,
    /// `full` or `partial`.
    #[schema(examples("partial"))]
    pub mode: String,
    #[schema(examples(946))]
    pub rows: u64,
    pub counts: RateCounts,
    /// What changes, closed and raised first; no more than `listed`.
    pub changes: Vec<RateChangeView>,
    /// Rows that cannot be read. They change nothing.
    pub problems: Vec<RowProblemView>,
    pub warnings: Vec<String>,
    /// Headers without a meaning.
    pub ignored_columns: Vec<String>,
    /// What will be sold below its cost, the most traffic first; no more than `listed`.
    pub losses: Vec<LossView>,
    /// How many there are.
    #[schema(examples(1))]
    pub losses_found: u64,
    /// Whether every destination was compared with the prices of every account.
    #[schema(examples(true))]
    pub losses_complete: bool,
}

/// The change of one cost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RateChangeView {
    /// The line of the sheet; null if the sheet does not list the destination.
    #[schema(examples(12))]
    pub line: Option<u64>,
    /// A network, prefix, MCC or country as in the name of a cost.
    #[schema(examples("262-01"))]
    pub destination: String,
    /// `alphanumeric` or `number`; null: for any sender.
    pub sender_kind: Option<String>,
    pub change: RateChange,
    /// What it costs until then; null if nothing is known or it is closed.
    pub before: Option<Amount>,
    /// What it costs then; null if it is closed.
    pub per_part: Option<Amount>,
    #[schema(examples("EUR"))]
    pub currency: String,
    pub from: String,
    pub until: Option<String>,
}

/// A row that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RowProblemView {
    #[schema(examples(17))]
    pub line: u64,
    #[schema(examples("there is no network 262-99"))]
    pub problem: String,
}

/// A destination that an account pays less for than the carrier will ask.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LossView {
    #[schema(examples("shop"))]
    pub account: String,
    /// A network, country or prefix.
    #[schema(examples("262-01"))]
    pub destination: String,
    pub from: String,
    /// What the account pays for a part, in its currency.
    pub price: Amount,
    /// What the carrier asks, in the currency of the account.
    pub cost: Amount,
    #[schema(examples("EUR"))]
    pub currency: String,
    /// The account's parts to there in the last 30 days, by any carrier; null without a record.
    #[schema(examples(1200))]
    pub parts: Option<u64>,
}

/// A rate sheet that was applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RateSheetView {
    #[schema(examples(1))]
    pub number: u32,
    #[schema(examples("north"))]
    pub carrier: String,
    pub file: String,
    pub sha256: String,
    /// Who applied it.
    #[schema(examples("operator ann"))]
    pub by: String,
    pub at: String,
    /// `full` or `partial`.
    #[schema(examples("partial"))]
    pub mode: String,
    pub counts: RateCounts,
    /// When it was taken back; null if it was not.
    pub undone_at: Option<String>,
}

/// The sheets of a carrier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RateSheetsView {
    /// The newest first.
    pub items: Vec<RateSheetView>,
}

/// What taking the last sheet back did, or would do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UndoneView {
    /// Whether this is only what would be done.
    #[schema(examples(false))]
    pub dry_run: bool,
    #[schema(examples(1))]
    pub number: u32,
    pub file: String,
    /// Costs that were taken back: those before apply.
    #[schema(examples(41))]
    pub taken_back: u32,
    /// Costs that are in force already. They stay.
    #[schema(examples(0))]
    pub in_force: u32,
    /// Costs that were changed or removed since. They stay as they are.
    #[schema(examples(0))]
    pub changed_since: u32,
}
