//! Received posts and the record of a webhook receiver.

use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

use bytes::Bytes;

use super::delays::Delays;

/// Posts whose content is kept; older ones are only counted.
pub const POSTS_KEPT_MAX: usize = 200_000;

/// One received post.
#[derive(Clone, PartialEq, Eq)]
pub struct ReceivedPost {
    /// Time since 1970.
    pub at: Duration,
    pub method: String,
    pub path: String,
    /// Names in lower case, in the order received.
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
}

impl ReceivedPost {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Does not print the body, which contains message texts.
impl fmt::Debug for ReceivedPost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReceivedPost({} {}, {} octets)", self.method, self.path, self.body.len())
    }
}

/// All posts and connections so far.
#[derive(Debug, Default)]
pub struct PostRecord {
    pub posts: VecDeque<ReceivedPost>,
    pub count: u64,
    pub connections: u64,
    pub delays: Delays,
}

impl PostRecord {
    pub(super) fn add(&mut self, post: ReceivedPost) {
        self.count += 1;
        self.delays.add(post.at, &post.body);
        if self.posts.len() == POSTS_KEPT_MAX {
            self.posts.pop_front();
        }
        self.posts.push_back(post);
    }
}
