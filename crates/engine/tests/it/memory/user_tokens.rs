//! Tokens of users.

use super::MemoryTables;
use hermod_engine::ops::{TokenDigest, UserToken};
use hermod_engine::tables::{TableError, UserTokenChange, UserTokenRows};

impl UserTokenRows for MemoryTables {
    fn user_token(&self, digest: &TokenDigest) -> Result<Option<UserToken>, TableError> {
        Ok(self.read().user_token.get(digest).cloned())
    }

    fn user_tokens(&self, user: u32, limit: usize) -> Result<Vec<UserToken>, TableError> {
        let rows = self.read();
        Ok(rows.user_token.values().filter(|token| token.user == user).take(limit).cloned().collect())
    }

    fn change_user_token(&self, change: &UserTokenChange) -> Result<(), TableError> {
        let rows = &mut *self.write();
        match change {
            UserTokenChange::Put(token) => rows.user_token.put(token.digest, token.clone()),
            UserTokenChange::Delete(digest) => drop(rows.user_token.delete(digest)),
            UserTokenChange::DeleteExpired(now) => {
                rows.user_token.delete_where(|_, token| token.has_expired(*now));
            }
        }
        Ok(())
    }
}
