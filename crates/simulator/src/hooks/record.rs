//! What a receiver of webhooks has seen.

use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

use bytes::Bytes;

use super::delays::Delays;

/// Posts whose contents are kept; of older ones only the count is.
pub const CAUGHT_MAX: usize = 200_000;

/// Everything seen so far.
#[derive(Debug, Default)]
pub struct Record {
    pub caught: VecDeque<Caught>,
    pub count: u64,
    pub connections: u64,
    pub delays: Delays,
}

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

impl Record {
    pub(super) fn catch(&mut self, caught: Caught) {
        self.count += 1;
        self.delays.note(&caught);
        if self.caught.len() == CAUGHT_MAX {
            self.caught.pop_front();
        }
        self.caught.push_back(caught);
    }
}
