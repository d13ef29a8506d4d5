//! Operations on the audit log, and on the tokens of users: sessions of the portal and one-time links.

use crate::error::StoreError;
use crate::sql::{audit_log, user_tokens};
use crate::store::Store;
use hermod_domain::audit::{AuditEntry, AuditFilter, AuditKey, AuditRow};
use hermod_domain::time::Timestamp;
use hermod_engine::commands::{AppendToAuditLog, EndUserToken, ForgetUserTokens, PutUserToken};
use hermod_engine::ops::{PAGE_ROWS_MAX, TokenDigest, USER_TOKENS_OF_ALL_SORTS_MAX, UserToken};

impl Store {
    /// Sets the key of the audit log, which is derived from the pepper. Call it before anything is written to the log; a
    /// second call changes nothing.
    pub fn set_audit_key(&self, key: AuditKey) {
        // A store has one pepper.
        let _ = self.inner.access.shared.audit_key.set(key);
    }

    /// Returns a handle whose next operation writes these entries into the audit log, in the transaction of its change. An
    /// operation that changes nothing writes none. For an operation of several transactions use
    /// [`Store::note_in_audit_log`] before it.
    #[must_use]
    pub fn audited(&self, entries: Vec<AuditEntry>) -> Store {
        Store { inner: self.inner.clone(), audit: entries.into() }
    }

    /// Writes the entries of this handle into the audit log, without a change.
    pub async fn note_in_audit_log(&self) -> Result<(), StoreError> {
        self.run(AppendToAuditLog(self.audit.to_vec())).await
    }

    /// Returns rows of the audit log before number `before`, or all, that match; the newest first.
    pub async fn audit_log(
        &self,
        filter: AuditFilter,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<AuditRow>, StoreError> {
        self.read(move |database| audit_log::page(database, &filter, before, limit.min(PAGE_ROWS_MAX))).await
    }

    /// Stores a new token. If the user has the most of its sort, the oldest ends; see [`hermod_engine::ops::USER_TOKENS_MAX`].
    pub async fn put_user_token(&self, token: UserToken) -> Result<(), StoreError> {
        self.request(PutUserToken::New(token)).await.map(drop)
    }

    /// Writes other contents of a token, unless it has ended or was changed since it was read. Returns whether they are
    /// written.
    pub async fn renew_user_token(&self, read: UserToken, renewed: UserToken) -> Result<bool, StoreError> {
        self.request(PutUserToken::Renewed { read: Box::new(read), renewed }).await
    }

    /// Returns a token that has not expired.
    pub async fn user_token(
        &self,
        digest: TokenDigest,
        now: Timestamp,
    ) -> Result<Option<UserToken>, StoreError> {
        let found = self.read(move |database| user_tokens::find(database, digest)).await?;
        Ok(found.filter(|token| !token.has_expired(now)))
    }

    /// Returns all tokens of a user that have not expired.
    pub async fn user_tokens(&self, user: u32, now: Timestamp) -> Result<Vec<UserToken>, StoreError> {
        let mut tokens = self
            .read(move |database| user_tokens::of_user(database, user, USER_TOKENS_OF_ALL_SORTS_MAX))
            .await?;
        tokens.retain(|token| !token.has_expired(now));
        Ok(tokens)
    }

    /// Ends a token. Returns whether there was one.
    pub async fn end_user_token(&self, digest: TokenDigest) -> Result<bool, StoreError> {
        self.request(EndUserToken(digest)).await
    }

    /// Deletes the tokens that have expired.
    pub(crate) async fn forget_user_tokens(&self, now: Timestamp) -> Result<(), StoreError> {
        self.request(ForgetUserTokens { now }).await
    }
}
