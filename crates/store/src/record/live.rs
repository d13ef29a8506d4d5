//! The live feed: what was just recorded, for those who watch. The follower makes one frame per flush and watched scope, with
//! a sample of the messages and their number; without watchers it does nothing.

use crate::record::{RecordedMessage, Scope};
use hermod_domain::time::Timestamp;
use hermod_engine::steps::StepKind;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

/// Messages that a frame shows.
pub const LIVE_SHOWN_MAX: usize = 20;
/// Frames that are kept for a watcher that comes back.
const FRAMES_KEPT: usize = 64;
/// How long frames are made for a watcher that may come back.
const RESUME_KEPT: Duration = Duration::from_secs(30);
/// Watchers at a time, over all scopes.
pub const WATCHERS_MAX: usize = 1_000;

/// A message in the live feed, with its latest step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveMessage {
    pub message: RecordedMessage,
    /// None if it was just accepted.
    pub step: Option<StepKind>,
}

/// What was recorded between two flushes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveFrame {
    /// Rises with each frame. It is the time of the frame in milliseconds, because a count of frames would tell a customer how
    /// busy the others are.
    pub number: u64,
    pub at: Timestamp,
    /// The time that it covers.
    pub covers: Duration,
    /// A sample of the messages.
    pub shown: Vec<LiveMessage>,
    /// How many messages had a step.
    pub total: u64,
    /// The frame as a text, made by the first watcher that needs it, for all of them.
    pub text: OnceLock<Arc<str>>,
}

struct Channel {
    sender: broadcast::Sender<Arc<LiveFrame>>,
    recent: VecDeque<Arc<LiveFrame>>,
    /// Since when it has no watcher.
    idle_since: Option<Timestamp>,
}

impl Channel {
    /// Whether someone watches, or left so recently that it may come back.
    fn is_wanted(&mut self, now: Timestamp) -> bool {
        if self.sender.receiver_count() > 0 {
            self.idle_since = None;
            return true;
        }
        now.since(*self.idle_since.get_or_insert(now)) < RESUME_KEPT
    }
}

/// Passes frames on to watchers.
#[derive(Default)]
pub(crate) struct LiveHub {
    watchers: AtomicUsize,
    /// How many scopes are watched, or were until a moment ago.
    channels: AtomicUsize,
    state: Mutex<HubState>,
}

#[derive(Default)]
struct HubState {
    channels: HashMap<Scope, Channel>,
    last: u64,
    published_at: Option<Timestamp>,
    is_closed: bool,
}

/// There are [`WATCHERS_MAX`] watchers already, or the store is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotWatched;

impl LiveHub {
    /// Whether anyone watches, or did a moment ago.
    pub(crate) fn is_watched(&self) -> bool {
        self.channels.load(Ordering::Relaxed) > 0
    }

    /// Begins to watch. Frames after `after` that are still kept come first.
    pub(crate) fn watch(
        self: &Arc<LiveHub>,
        scope: Scope,
        after: Option<u64>,
    ) -> Result<LiveWatch, NotWatched> {
        let mut state = self.lock();
        if state.is_closed || self.watchers.load(Ordering::Relaxed) >= WATCHERS_MAX {
            return Err(NotWatched);
        }
        self.watchers.fetch_add(1, Ordering::Relaxed);
        let channel = state.channels.entry(scope).or_insert_with(|| Channel {
            sender: broadcast::Sender::new(FRAMES_KEPT),
            recent: VecDeque::with_capacity(FRAMES_KEPT),
            idle_since: None,
        });
        let missed = |frame: &&Arc<LiveFrame>| after.is_some_and(|after| frame.number > after);
        let missed = channel.recent.iter().filter(missed).cloned().collect();
        let frames = channel.sender.subscribe();
        self.channels.store(state.channels.len(), Ordering::Relaxed);
        Ok(LiveWatch { hub: self.clone(), missed, frames })
    }

    /// Passes a flush on: each message that had a step, with its latest one.
    pub(crate) fn publish<'a>(
        &self,
        changed: impl Iterator<Item = (&'a RecordedMessage, Option<&'a StepKind>)>,
        now: Timestamp,
    ) {
        if !self.is_watched() {
            return;
        }
        let mut state = self.lock();
        state.channels.retain(|_, channel| channel.is_wanted(now));
        self.channels.store(state.channels.len(), Ordering::Relaxed);
        let covers = state.published_at.replace(now).map_or(Duration::ZERO, |before| now.since(before));
        state.last = u64::try_from(now.as_millis()).unwrap_or_default().max(state.last + 1);
        let number = state.last;
        let empty =
            || LiveFrame { number, at: now, covers, shown: Vec::new(), total: 0, text: OnceLock::new() };
        let mut frames: HashMap<Scope, LiveFrame> =
            state.channels.keys().map(|scope| (*scope, empty())).collect();
        for (message, step) in changed {
            for scope in [Scope::All, Scope::Account(message.account)] {
                let Some(frame) = frames.get_mut(&scope) else { continue };
                frame.total += 1;
                if frame.shown.len() < LIVE_SHOWN_MAX {
                    frame.shown.push(LiveMessage { message: message.clone(), step: step.cloned() });
                }
            }
        }
        for (scope, frame) in frames {
            let Some(channel) = state.channels.get_mut(&scope) else { continue };
            let frame = Arc::new(frame);
            if channel.recent.len() == FRAMES_KEPT {
                channel.recent.pop_front();
            }
            channel.recent.push_back(frame.clone());
            // Fails without watchers only.
            let _ = channel.sender.send(frame);
        }
    }

    /// Ends all watches.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        state.channels.clear();
        self.channels.store(0, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, HubState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One watcher of the live feed.
pub struct LiveWatch {
    hub: Arc<LiveHub>,
    missed: VecDeque<Arc<LiveFrame>>,
    frames: broadcast::Receiver<Arc<LiveFrame>>,
}

impl LiveWatch {
    /// Waits for the next frame. A watcher that is too slow misses frames. Returns none when the store is closed.
    pub async fn next(&mut self) -> Option<Arc<LiveFrame>> {
        if let Some(frame) = self.missed.pop_front() {
            return Some(frame);
        }
        loop {
            match self.frames.recv().await {
                Ok(frame) => return Some(frame),
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return None,
            }
        }
    }
}

impl Drop for LiveWatch {
    fn drop(&mut self) {
        self.hub.watchers.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
#[path = "live_tests.rs"]
mod tests;
