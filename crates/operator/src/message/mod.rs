//! Messages, as the record has them: searches, timelines, exports, the live feed.

pub mod costs;
pub mod export;
pub mod history;
pub mod live;
pub(crate) mod routes;
pub mod search;
pub mod views;
