//! Operations on the tokens of users: sessions of the portal and one-time links.

use crate::error::StoreError;
use crate::operations::UserTokenStore;
use crate::sql::user_tokens;
use hermod_domain::time::Timestamp;
use hermod_engine::commands::{EndUserToken, ForgetUserTokens, PutUserToken};
use hermod_engine::ops::{TokenDigest, USER_TOKENS_OF_ALL_SORTS_MAX, UserToken};

impl UserTokenStore<'_> {
    /// Stores a new token. If the user has the most of its sort, the oldest ends; see [`hermod_engine::ops::USER_TOKENS_MAX`].
    pub async fn put(self, token: UserToken) -> Result<(), StoreError> {
        self.0.request(PutUserToken::New(token)).await.map(drop)
    }

    /// Writes other contents of a token, unless it has ended or was changed since it was read. Returns whether they are
    /// written.
    pub async fn renew(self, read: UserToken, renewed: UserToken) -> Result<bool, StoreError> {
        self.0.request(PutUserToken::Renewed { read: Box::new(read), renewed }).await
    }

    /// Returns a token that has not expired.
    pub async fn find(self, digest: TokenDigest, now: Timestamp) -> Result<Option<UserToken>, StoreError> {
        let found = self.0.read(move |database| user_tokens::find(database, digest)).await?;
        Ok(found.filter(|token| !token.has_expired(now)))
    }

    /// Returns all tokens of a user that have not expired.
    pub async fn list(self, user: u32, now: Timestamp) -> Result<Vec<UserToken>, StoreError> {
        let mut tokens = self
            .0
            .read(move |database| user_tokens::of_user(database, user, USER_TOKENS_OF_ALL_SORTS_MAX))
            .await?;
        tokens.retain(|token| !token.has_expired(now));
        Ok(tokens)
    }

    /// Ends a token. Returns whether there was one.
    pub async fn end(self, digest: TokenDigest) -> Result<bool, StoreError> {
        self.0.request(EndUserToken(digest)).await
    }

    /// Deletes the tokens that have expired.
    pub(crate) async fn forget_old(self, now: Timestamp) -> Result<(), StoreError> {
        self.0.request(ForgetUserTokens { now }).await
    }
}
