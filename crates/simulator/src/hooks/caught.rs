//! A post that a receiver of webhooks got.

use bytes::Bytes;
use std::fmt;
use std::time::Duration;

/// One post.
#[derive(Clone, PartialEq, Eq)]
pub struct Caught {
    /// Since 1970.
    pub at: Duration,
    pub method: String,
    pub path: String,
    /// Names in lower case, in the order they came.
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
}

impl Caught {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Bodies hold what people wrote.
impl fmt::Debug for Caught {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Caught({} {}, {} octets)", self.method, self.path, self.body.len())
    }
}
