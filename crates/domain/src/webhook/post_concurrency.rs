//! How many webhooks are posted to an endpoint at a time. The number grows while the endpoint responds quickly and is
//! cut when it fails; a failing endpoint also gets a growing backoff between posts.

use std::time::Duration;

/// Concurrent posts to an endpoint without history.
pub const POSTS_INITIAL: u32 = 4;
/// Concurrent posts to a fast endpoint.
pub const POSTS_MAX: u32 = 64;
/// The slowest response that counts as fast.
pub const FAST_RESPONSE_MAX: Duration = Duration::from_secs(1);
/// The backoff after the first failure; each further failure doubles it.
const BACKOFF_FIRST: Duration = Duration::from_millis(10);
/// The longest backoff.
pub const BACKOFF_MAX: Duration = Duration::from_secs(1);

/// The number of concurrent posts to an endpoint, adapted to its responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PostConcurrency {
    posts: u32,
    /// The endpoint never failed: each fast response adds a post. Later, each round of fast responses adds one.
    never_failed: bool,
    /// Fast responses in this round.
    fast_responses: u32,
    /// Consecutive failures.
    failures: u32,
    /// The last response was fast.
    is_fast: bool,
}

impl Default for PostConcurrency {
    fn default() -> PostConcurrency {
        PostConcurrency {
            posts: POSTS_INITIAL,
            never_failed: true,
            fast_responses: 0,
            failures: 0,
            is_fast: false,
        }
    }
}

impl PostConcurrency {
    /// Returns the maximum number of concurrent posts.
    pub const fn posts(&self) -> u32 {
        self.posts
    }

    /// Whether the last post failed, was slow or has had no response for too long.
    pub const fn is_doubtful(&self) -> bool {
        self.failures > 0 || !(self.is_fast || self.never_failed)
    }

    /// Records a successful post that took this long.
    pub fn succeeded(&mut self, took: Duration) {
        self.failures = 0;
        self.is_fast = took <= FAST_RESPONSE_MAX;
        if !self.is_fast {
            // More concurrent posts would only be slower.
            self.never_failed = false;
            self.fast_responses = 0;
            self.posts = self.posts.saturating_sub(1).max(POSTS_INITIAL);
            return;
        }
        self.fast_responses += 1;
        if self.never_failed || self.fast_responses >= self.posts {
            self.fast_responses = 0;
            self.posts = (self.posts + 1).min(POSTS_MAX);
        }
    }

    /// Records a failed post.
    pub fn failed(&mut self) {
        self.never_failed = false;
        self.is_fast = false;
        self.fast_responses = 0;
        self.failures = self.failures.saturating_add(1);
        self.posts = (self.posts / 2).max(1);
    }

    /// Records that a post has had no response for too long.
    pub fn exceeded_wait(&mut self) {
        self.never_failed = false;
        self.is_fast = false;
    }

    /// Returns the wait before the next post.
    pub fn backoff(&self) -> Duration {
        match self.failures {
            0 => Duration::ZERO,
            failures => BACKOFF_FIRST.saturating_mul(1 << (failures - 1).min(10)).min(BACKOFF_MAX),
        }
    }
}

#[cfg(test)]
#[path = "post_concurrency_tests.rs"]
mod tests;
