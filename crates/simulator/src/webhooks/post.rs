//! A post that a receiver of webhooks got.

use bytes::Bytes;
use std::fmt;
use std::time::Duration;

/// One post.
#[derive(Clone, PartialEq, Eq)]
pub struct ReceivedPost {
    /// Since 1970.
    pub at: Duration,
    pub method: String,
    pub path: String,
    /// Names in lower case, in the order they came.
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
}

impl ReceivedPost {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Bodies hold what people wrote.
impl fmt::Debug for ReceivedPost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReceivedPost({} {}, {} octets)", self.method, self.path, self.body.len())
    }
}
