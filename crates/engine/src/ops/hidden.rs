//! Values that must not be printed: their lengths are.

use std::fmt;
use std::sync::Arc;

/// A text that must not be printed, where it would be: its length.
pub(super) struct Hidden<'a>(pub(super) &'a str);

impl fmt::Debug for Hidden<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({} bytes)", self.0.len())
    }
}

/// Optional parameters as they stood in a customer's `submit_sm`. Anything can be in them, a text too.
#[derive(Clone, PartialEq, Eq)]
pub struct CustomerTlvs(pub Arc<[u8]>);

impl fmt::Debug for CustomerTlvs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({} octets)", self.0.len())
    }
}
