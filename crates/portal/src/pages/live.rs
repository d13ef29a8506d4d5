//! The live feed: messages as they change.

use crate::elements::Chip;
use crate::layout::Shell;
use crate::time::Time;
use askama::Template;

/// `GET /accounts/{account}/live`. The script reads frames in the shape of `LiveView` from `{account}/live/feed`
/// (server-sent events named `frame`).
#[derive(Clone, Debug, Template)]
#[template(path = "live.html")]
pub struct Live {
    pub shell: Shell,
    /// The address of the event stream.
    pub feed: String,
    /// Such as `showing 20 of 3,412/s`; shown until the first frame arrives.
    pub note: Option<String>,
    /// The latest messages when the page was made.
    pub rows: Vec<LiveRow>,
}

/// One message with its latest step.
#[derive(Clone, Debug)]
pub struct LiveRow {
    pub id: String,
    pub accepted_at: Time,
    pub from: String,
    /// `None` if the number was erased.
    pub to: Option<String>,
    /// The country code of the recipient; empty if unknown.
    pub country: String,
    pub state: Chip,
    /// The latest step in words, such as `The carrier accepted it (+46 ms)`.
    pub step: String,
}
