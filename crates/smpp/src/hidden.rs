//! Octets that must never reach a log: passwords and message text. They are read freely in code, and
//! print as a length only.

use std::{fmt, ops::Deref};

/// Borrowed octets whose `Debug` shows only how many there are.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Hidden<'a>(pub &'a [u8]);

impl Deref for Hidden<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0
    }
}

impl<'a> From<&'a [u8]> for Hidden<'a> {
    fn from(octets: &'a [u8]) -> Self {
        Hidden(octets)
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for Hidden<'a> {
    fn from(octets: &'a [u8; N]) -> Self {
        Hidden(octets)
    }
}

impl fmt::Debug for Hidden<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({} octets)", self.0.len())
    }
}
