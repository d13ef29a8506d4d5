//! The record: every message with everything that happened to it, statistics, and a log of requests, for people who look
//! something up. It stands beside the message store in a database of its own.
//!
//! The writer passes committed batches to the [`Feed`] and never waits; a thread (the follower) writes them to the record.
//! What the feed had no room for, and what a crash lost, is read from the store's tables: states and money are then as in
//! the store, and the timelines of those messages say that steps are missing.
//!
//! Every query takes a [`Scope`], which says whose messages it may see.

mod committed;
pub(crate) mod database;
mod feed;
mod figures;
pub(crate) mod follower;
mod history;
pub(crate) mod keys;
mod live;
mod message_costs;
pub(crate) mod pending;
mod query;
mod requests;
mod running;
pub(crate) mod tally;

pub(crate) use committed::{AcceptedMessage, Committed, Erasures, PassedOn, RecordErasure};
#[cfg(any(test, feature = "fill"))]
pub use database::filling::FilledMessage;
pub use database::statistics::Currencies;
pub(crate) use feed::{Fed, Feed, real_time};
pub use figures::{
    CostSum, CostSums, Dimension, Figures, Resolution, STATISTICS_ROWS_MAX, StatisticRow, StatisticsQuery,
    TimeHistogram, Value,
};
pub use history::{HistoryStep, MessageHistory, StepNote};
pub(crate) use live::LiveHub;
pub use live::{LIVE_SHOWN_MAX, LiveFrame, LiveMessage, LiveWatch, NotWatched, WATCHERS_MAX};
pub use message_costs::MessageCosts;
pub(crate) use message_costs::{CostChange, DueCost};
pub use query::{
    Count, MessageFilter, MessagePage, RecipientFilter, RecordStatus, RecordTrouble, RecordedMessage, Scope,
    SearchLimits, TextPage, TextQuery,
};
pub use requests::{Replay, RequestEntry, RequestFilter, RequestGroup, RequestKind, RequestPage};
pub(crate) use running::RunningRecord;

/// The steps of messages, for those who show them.
pub use hermod_engine::steps::{Canceller, CarrierWord, LateResponse, NextResend, StepKind};
