//! The live feed: frames of what was just recorded, for one account or all.

use crate::message::history::kind_view;
use crate::message::search::message_view;
use crate::message::views::{MessageView, StepView};
use crate::record::{Names, scope_of};
use crate::refusal::Result;
use crate::views::masking::Masking;
use hermod_domain::grouping::grouped;
use hermod_gateway::gateway::Gateway;
use hermod_store::record::{LiveFrame, LiveMessage, LiveWatch};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct LiveQuery {
    /// Only messages of this account.
    pub account: Option<String>,
}

/// A frame of the live feed: the messages that had a step since the last frame, or a sample of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LiveView {
    /// Rises with each frame; also the id of the event.
    pub number: u64,
    pub at: String,
    /// The time that the frame covers.
    pub covers_ms: u64,
    /// How many messages had a step.
    pub total: u64,
    /// The same per second; null in the first frame.
    pub per_second: Option<u64>,
    /// Says so where only a sample is shown: `showing 20 of 3,412/s`.
    pub note: Option<String>,
    /// At most 20.
    pub shown: Vec<LiveMessageView>,
}

/// A message of the live feed with its latest step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LiveMessageView {
    pub message: MessageView,
    /// Null if it was just accepted.
    pub step: Option<StepView>,
}

/// One watcher of the live feed.
pub struct LiveFeed {
    gateway: Arc<Gateway>,
    watch: LiveWatch,
}

/// The number of the last frame that a watcher got, if it watched before.
#[derive(Clone, Copy, Debug)]
pub struct LastEvent(pub Option<u64>);

/// Begins to watch. Frames after the last one that are still kept come first.
pub fn watch_live(
    gateway: &Arc<Gateway>,
    query: &LiveQuery,
    LastEvent(after): LastEvent,
) -> Result<LiveFeed> {
    let scope = scope_of(gateway, query.account.as_deref())?;
    let watch = gateway.store.record().watch(scope, after)?;
    Ok(LiveFeed { gateway: gateway.clone(), watch })
}

impl LiveFeed {
    /// Waits for the next frame with messages. Returns its number, and the frame as JSON. The JSON with whole numbers is made once
    /// for all watchers. Returns none when the store is closed.
    pub async fn next(&mut self, masking: Masking) -> Option<(u64, Arc<str>)> {
        loop {
            let frame = self.watch.next().await?;
            if frame.total > 0 {
                let written = || frame_text(&Names::of(&self.gateway), &frame);
                let text = match masking {
                    Masking::Whole => frame.text.get_or_init(written).clone(),
                    Masking::Masked => masking.write(written),
                };
                return Some((frame.number, text));
            }
        }
    }

    /// Waits for the next frame with messages, to be shown in another form. Returns none when the store is closed.
    pub async fn next_view(&mut self) -> Option<LiveView> {
        loop {
            let frame = self.watch.next().await?;
            if frame.total > 0 {
                return Some(frame_view(&Names::of(&self.gateway), &frame));
            }
        }
    }

    pub fn gateway(&self) -> &Gateway {
        &self.gateway
    }
}

fn frame_text(names: &Names, frame: &LiveFrame) -> Arc<str> {
    let view = frame_view(names, frame);
    serde_json::to_string(&view).expect("a view has texts, numbers and lists").into()
}

fn frame_view(names: &Names, frame: &LiveFrame) -> LiveView {
    let covers_ms = u64::try_from(frame.covers.as_millis()).unwrap_or(u64::MAX);
    let per_second = (covers_ms > 0).then(|| frame.total.saturating_mul(1_000) / covers_ms);
    let shown = frame.shown.iter().map(|LiveMessage { message, step }| LiveMessageView {
        message: message_view(names, message),
        step: step.as_ref().map(|step| kind_view(names, step)),
    });
    LiveView {
        number: frame.number,
        at: frame.at.to_iso(),
        covers_ms,
        total: frame.total,
        per_second,
        note: sample_note(frame.shown.len(), frame.total, per_second),
        shown: shown.collect(),
    }
}

/// Says how much of a frame is shown, if it is not all.
fn sample_note(shown: usize, total: u64, per_second: Option<u64>) -> Option<String> {
    let is_sample = u64::try_from(shown).is_ok_and(|shown| shown < total);
    is_sample.then(|| match per_second {
        Some(rate) => format!("showing {shown} of {}/s", grouped(rate)),
        None => format!("showing {shown} of {}", grouped(total)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn note_says_how_much_of_a_frame_is_shown() {
        assert_eq!(sample_note(20, 1_706, Some(3_412)).as_deref(), Some("showing 20 of 3,412/s"));
        assert_eq!(sample_note(20, 1_234_567, None).as_deref(), Some("showing 20 of 1,234,567"));
        assert_eq!(sample_note(3, 3, Some(6)), None);
    }
}
