//! The live feed: messages as they change.

use crate::elements::Chip;
use crate::layout::Shell;
use crate::time::Time;
use askama::Template;
use serde::Serialize;

/// `GET /accounts/{account}/live`. The script reads a [`LiveUpdate`] from each event named `frame` of
/// `{account}/live/events`.
#[derive(Clone, Debug, Template)]
#[template(path = "live.html")]
pub struct LivePage {
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
    /// The latest step in words, such as `The carrier accepted it`.
    pub step: String,
}

/// What changed since the frame before, for the script.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LiveUpdate {
    /// Messages that changed per second; `None` in the first frame.
    pub per_second: Option<u64>,
    /// Says so where only a sample is shown: `showing 20 of 3,412/s`.
    pub note: Option<String>,
    /// The latest change last.
    pub shown: Vec<LiveChange>,
}

/// One message that changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LiveChange {
    pub id: String,
    /// As in the API, such as `delivered`.
    pub state: String,
    /// ISO 8601.
    pub accepted_at: String,
    pub from: String,
    /// The number as the role may see it; `None` if it was erased.
    pub to: Option<String>,
    pub country: String,
    /// The latest step in words.
    pub step: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_has_every_field_that_the_script_reads() {
        let frame = LiveUpdate { shown: vec![LiveChange::default()], ..LiveUpdate::default() };
        let json = serde_json::to_string(&frame).unwrap();
        let script = std::str::from_utf8(crate::assets::script().bytes).unwrap();
        for field in
            ["per_second", "note", "shown", "id", "state", "accepted_at", "from", "to", "country", "step"]
        {
            assert!(json.contains(&format!("\"{field}\":")), "{field}");
            assert!(script.contains(&format!(".{field}")), "{field}");
        }
    }
}
