//! SQL for the tokens of users.

use crate::sql::SqlTables;
use crate::sql::{Connection, OptionalExtension, Row, params};
use hermod_domain::time::Timestamp;
use hermod_engine::ops::{TokenDigest, TokenPurpose, UserToken};
use hermod_engine::tables::{TableError, UserTokenChange, UserTokenRows};

/// The columns in the order that [`read`] expects.
const COLUMNS: &str = "digest, user, purpose, made_at, expires_at, body";

impl UserTokenRows for SqlTables<'_> {
    fn user_token(&self, digest: &TokenDigest) -> Result<Option<UserToken>, TableError> {
        find(self.connection, *digest)
    }

    fn user_tokens(&self, user: u32, limit: usize) -> Result<Vec<UserToken>, TableError> {
        of_user(self.connection, user, limit)
    }

    fn change_user_token(&self, change: &UserTokenChange) -> Result<(), TableError> {
        match change {
            UserTokenChange::Put(token) => self.put_user_token(token),
            UserTokenChange::Delete(digest) => {
                let mut delete =
                    self.connection.prepare_cached("DELETE FROM user_token WHERE digest = ?1")?;
                delete.execute([digest.0])?;
                Ok(())
            }
            UserTokenChange::DeleteExpired(now) => {
                let mut delete =
                    self.connection.prepare_cached("DELETE FROM user_token WHERE expires_at <= ?1")?;
                delete.execute([now.as_millis()])?;
                Ok(())
            }
        }
    }
}

impl SqlTables<'_> {
    fn put_user_token(&self, token: &UserToken) -> Result<(), TableError> {
        let UserToken { digest, user, purpose, made_at, expires_at, body } = token;
        self.connection
            .prepare_cached(&format!(
                "INSERT INTO user_token ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                 ON CONFLICT (digest) DO UPDATE SET user = excluded.user, purpose = excluded.purpose,
                     made_at = excluded.made_at, expires_at = excluded.expires_at, body = excluded.body"
            ))?
            .execute(params![
                digest.0,
                user,
                purpose.to_stored(),
                made_at.as_millis(),
                expires_at.as_millis(),
                body
            ])?;
        Ok(())
    }
}

/// Returns the token with this digest.
pub(crate) fn find(connection: &Connection, digest: TokenDigest) -> Result<Option<UserToken>, TableError> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM user_token WHERE digest = ?1"))?
        .query_row([digest.0], |row| Ok(read(row)))
        .optional()?
        .transpose()
}

/// Returns the tokens of a user in the order of their digests.
pub(crate) fn of_user(
    connection: &Connection,
    user: u32,
    limit: usize,
) -> Result<Vec<UserToken>, TableError> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM user_token WHERE user = ?1 ORDER BY digest LIMIT ?2"
    ))?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = statement.query_map(params![user, limit], |row| Ok(read(row)))?;
    rows.map(|row| row?).collect()
}

fn read(row: &Row<'_>) -> Result<UserToken, TableError> {
    let purpose: i64 = row.get(2)?;
    let unknown = || TableError::unreadable(format!("{purpose} is not a purpose of a token"));
    Ok(UserToken {
        digest: TokenDigest(row.get(0)?),
        user: row.get(1)?,
        purpose: TokenPurpose::from_stored(purpose).ok_or_else(unknown)?,
        made_at: Timestamp::from_millis(row.get(3)?),
        expires_at: Timestamp::from_millis(row.get(4)?),
        body: row.get(5)?,
    })
}
