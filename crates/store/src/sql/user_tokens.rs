//! SQL for the tokens of users.

use crate::sql::{Connection, SqlTables, described, params};
use hermod_engine::ops::{TokenDigest, UserToken};
use hermod_engine::tables::{TableError, UserTokenRows};

impl UserTokenRows for SqlTables<'_> {
    fn user_token(&self, digest: &TokenDigest) -> Result<Option<UserToken>, TableError> {
        find(self.connection, *digest)
    }

    fn user_tokens(&self, user: u32, limit: usize) -> Result<Vec<UserToken>, TableError> {
        of_user(self.connection, user, limit)
    }
}

/// Returns the token with this digest.
pub(crate) fn find(connection: &Connection, digest: TokenDigest) -> Result<Option<UserToken>, TableError> {
    described::row(connection, "WHERE digest = ?1", [digest.0])
}

/// Returns the tokens of a user in the order of their digests.
pub(crate) fn of_user(
    connection: &Connection,
    user: u32,
    limit: usize,
) -> Result<Vec<UserToken>, TableError> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    described::rows(connection, "WHERE user = ?1 ORDER BY digest LIMIT ?2", params![user, limit])
}
