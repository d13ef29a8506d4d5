//! Tokens of users.

use super::MemoryTables;
use hermod_engine::ops::{TokenDigest, UserToken};
use hermod_engine::tables::{TableError, UserTokenRows};

impl UserTokenRows for MemoryTables {
    fn user_token(&self, digest: &TokenDigest) -> Result<Option<UserToken>, TableError> {
        Ok(self.read().user_token.get(&(*digest,)).map(|row| (**row).clone()))
    }

    fn user_tokens(&self, user: u32, limit: usize) -> Result<Vec<UserToken>, TableError> {
        let rows = self.read();
        let own = rows.user_token.values().filter(|token| token.user == user);
        Ok(own.take(limit).map(|row| (**row).clone()).collect())
    }
}
