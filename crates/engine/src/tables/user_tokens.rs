//! The table of tokens that users hold: sessions of the portal, and one-time links.

use crate::ops::{TokenDigest, UserToken};
use crate::tables::TableError;
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

/// A change of the table.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum UserTokenChange {
    /// A new token, or other contents of one.
    Put(UserToken),
    Delete(TokenDigest),
    /// All tokens that expired at this time or before.
    DeleteExpired(Timestamp),
}

/// Reads and writes tokens of users.
pub trait UserTokenRows {
    fn user_token(&self, digest: &TokenDigest) -> Result<Option<UserToken>, TableError>;

    /// Returns all tokens of a user, at most `limit`.
    fn user_tokens(&self, user: u32, limit: usize) -> Result<Vec<UserToken>, TableError>;

    /// Applies a change.
    fn change_user_token(&self, change: &UserTokenChange) -> Result<(), TableError>;
}
