//! Statistics over time.

use crate::message::views::{RecordView, whole_ms};
use crate::views::amount::Amount;
use hermod_domain::time::Timestamp;
use hermod_store::record::Figures;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct StatisticsQuery {
    /// Only messages of this account.
    pub account: Option<String>,
    /// What is counted separately: `all` (nothing), `account`, `connection` (needs `account`), `country`, `network`,
    /// `carrier`, `sender` or `refusal` (rejected requests by code).
    #[param(pattern = "^(all|account|connection|country|network|carrier|sender|refusal)$", default = "all")]
    pub by: Option<String>,
    /// Only this account, connection, country, network, carrier, sender or code.
    pub value: Option<String>,
    /// The length of the intervals: `minute` (kept for 48 hours), `hour` (90 days) or `day` (400 days, UTC). Without it:
    /// minutes up to 3 hours, hours up to 4 days, otherwise days.
    #[param(pattern = "^(minute|hour|day)$")]
    pub per: Option<String>,
    /// `true`: adds the intervals up, one row for each value.
    pub sum: Option<bool>,
    /// The first interval: a time such as `2026-11-15T09:30:00Z`, a UTC day, or how long ago, such as `2h`. `24h` by
    /// default.
    pub since: Option<String>,
    /// The end; now by default.
    pub until: Option<String>,
}

/// Statistics. A message counts in the interval of its acceptance, also its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StatisticsView {
    #[schema(examples("hour"))]
    pub per: String,
    #[schema(examples("country"))]
    pub by: String,
    pub since: String,
    pub until: String,
    /// Intervals with messages, the oldest first; or added up, the value with the most messages first.
    pub items: Vec<StatisticView>,
    pub record: RecordView,
}

/// The figures of one interval and one value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StatisticView {
    /// The beginning of the interval; null if the intervals were added up.
    pub start: Option<String>,
    /// The account, connection, country, network, carrier, sender or code; null for `all` and where it is unknown.
    #[schema(examples("DE"))]
    pub value: Option<String>,
    /// Messages that were accepted.
    pub accepted: u64,
    pub parts: u64,
    pub delivered: u64,
    pub expired: u64,
    pub undeliverable: u64,
    pub rejected: u64,
    /// Accepted and not ended.
    pub open: u64,
    /// Requests that were rejected.
    pub refused: u64,
    /// What was charged. Over accounts of several currencies it is a plain sum.
    pub spend: Amount,
    pub refunded: Amount,
    /// Half of the delivered messages were delivered within this time, right within a fifth.
    pub p50_ms: Option<u64>,
    /// 95 of 100 were.
    pub p95_ms: Option<u64>,
}

impl StatisticView {
    pub fn new(start: Option<Timestamp>, value: Option<String>, figures: &Figures) -> StatisticView {
        StatisticView {
            start: start.map(Timestamp::to_iso),
            value,
            accepted: figures.accepted,
            parts: figures.parts,
            delivered: figures.delivered,
            expired: figures.expired,
            undeliverable: figures.undeliverable,
            rejected: figures.rejected,
            open: figures.open(),
            refused: figures.refused,
            spend: Amount(figures.spend),
            refunded: Amount(figures.refunded),
            p50_ms: figures.times.quantile(0.5).map(whole_ms),
            p95_ms: figures.times.quantile(0.95).map(whole_ms),
        }
    }
}
