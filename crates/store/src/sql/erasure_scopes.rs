//! Erasures that are made together, so that the tables are read once for all of them.

use hermod_domain::erasure::ErasureScope;
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::phone::Msisdn;
use hermod_domain::time::Timestamp;
use std::collections::{BTreeSet, HashMap};

/// Digits at the end of a number that responses are searched for: a receiver may leave the country code out.
const LAST_DIGITS: usize = 8;

/// What some erasures cover.
pub(crate) struct ErasureScopes {
    by_number: HashMap<Msisdn, Vec<ErasureScope>>,
    /// By the last digits of the number.
    by_end: HashMap<Vec<u8>, Vec<ErasureScope>>,
    /// The lengths of those digits.
    lengths: BTreeSet<usize>,
    /// The lowest message id that none covers.
    pub(crate) first_left: MessageId,
}

impl ErasureScopes {
    /// Returns none without an erasure.
    pub(crate) fn new(scopes: &[ErasureScope]) -> Option<ErasureScopes> {
        let first_left = scopes.iter().map(ErasureScope::first_left).max()?;
        let (mut by_number, mut by_end) = (HashMap::<_, Vec<_>>::new(), HashMap::<Vec<u8>, Vec<_>>::new());
        for scope in scopes {
            by_number.entry(scope.number).or_default().push(*scope);
            let digits = scope.number.digits();
            let end = &digits.as_bytes()[digits.len().saturating_sub(LAST_DIGITS)..];
            by_end.entry(end.to_vec()).or_default().push(*scope);
        }
        let lengths = by_end.keys().map(Vec::len).collect();
        Some(ErasureScopes { by_number, by_end, lengths, first_left })
    }

    /// Whether an erasure covers a number in what an account has from a time.
    pub(crate) fn cover(&self, number: Msisdn, account: AccountId, at: Timestamp) -> bool {
        self.by_number.get(&number).is_some_and(|scopes| scopes.iter().any(|scope| scope.covers(account, at)))
    }

    /// Returns the erasures whose numbers end with digits that a response has in a row, with any signs but letters between
    /// them: `151 123-45678`.
    pub(crate) fn named_in(&self, response: &[u8]) -> Vec<&ErasureScope> {
        let without_signs: Vec<u8> = response.iter().copied().filter(u8::is_ascii_alphanumeric).collect();
        let rows = self.lengths.iter().flat_map(|length| without_signs.windows(*length));
        rows.filter_map(|digits| self.by_end.get(digits)).flatten().collect()
    }
}

#[cfg(test)]
#[path = "erasure_scopes_tests.rs"]
mod tests;
