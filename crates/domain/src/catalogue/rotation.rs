//! Replacing a secret: the one before it may stay valid for a while, so that clients can change over without a rejected
//! request.

use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// The longest time that a replaced secret stays valid: long enough for any release cycle, and not forgotten.
pub const OVERLAP_MAX: Duration = Duration::from_secs(30 * 86_400);

/// A secret that was replaced, in its stored form: a digest, a hash, or sealed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PreviousSecret {
    pub secret: String,
    /// When it stops being valid.
    pub until: Timestamp,
}

impl PreviousSecret {
    pub fn is_valid_at(&self, now: Timestamp) -> bool {
        now < self.until
    }

    /// Replaces a stored secret by another one. Returns the replaced one if it stays valid, `None` with an overlap of zero.
    pub fn replacing(
        secret: &mut String,
        next: String,
        overlap: Duration,
        now: Timestamp,
    ) -> Option<PreviousSecret> {
        let replaced = std::mem::replace(secret, next);
        (!overlap.is_zero()).then(|| PreviousSecret { secret: replaced, until: now.plus(overlap) })
    }
}

/// Returns the stored secrets that are valid: the current one, then the one before it while it is.
pub(super) fn valid_secrets<'a>(
    current: &'a str,
    previous: Option<&'a PreviousSecret>,
    now: Timestamp,
) -> impl Iterator<Item = &'a str> {
    let previous = previous.filter(|previous| previous.is_valid_at(now));
    std::iter::once(current).chain(previous.map(|previous| previous.secret.as_str()))
}

impl fmt::Debug for PreviousSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreviousSecret").field("until", &self.until).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaced_secret_is_valid_until_the_overlap_ends() {
        let now = Timestamp::from_millis(1_790_000_000_000);
        let day = Duration::from_secs(86_400);
        let mut secret = "old".to_owned();
        let previous = PreviousSecret::replacing(&mut secret, "new".to_owned(), day, now);
        let valid = |at| valid_secrets(&secret, previous.as_ref(), at).collect::<Vec<_>>();
        assert_eq!(valid(now), ["new", "old"]);
        assert_eq!(valid(now.plus(day)), ["new"]);
        let mut secret = "old".to_owned();
        assert_eq!(PreviousSecret::replacing(&mut secret, "new".to_owned(), Duration::ZERO, now), None);
    }
}
