//! What a receiver of webhooks has seen.

use std::collections::VecDeque;

use super::delays::Delays;
use super::post::ReceivedPost;

/// Posts whose contents are kept; of older ones only the count is.
pub const POSTS_KEPT_MAX: usize = 200_000;

/// Everything seen so far.
#[derive(Debug, Default)]
pub struct Record {
    pub posts: VecDeque<ReceivedPost>,
    pub count: u64,
    pub connections: u64,
    pub delays: Delays,
}

impl Record {
    pub(super) fn catch(&mut self, post: ReceivedPost) {
        self.count += 1;
        self.delays.note(&post);
        if self.posts.len() == POSTS_KEPT_MAX {
            self.posts.pop_front();
        }
        self.posts.push_back(post);
    }
}
