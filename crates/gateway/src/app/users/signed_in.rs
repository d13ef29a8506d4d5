//! A user whose password was right.

use crate::provision::SignInProof;

/// A user whose password was right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedIn {
    pub user: u32,
    /// What the user proved, or has to prove with a code.
    pub proof: SignInProof,
}
