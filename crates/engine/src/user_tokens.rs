//! Stores and ends tokens of users.

use crate::batch::Batch;
use crate::ops::{
    TokenChange, TokenDigest, TokenPurpose, USER_TOKENS_MAX, USER_TOKENS_OF_ALL_SORTS_MAX, UserToken,
};
use crate::tables::{RowChange, TableError};

/// Stores a token. If the user has the most of its sort that are allowed, the oldest ends.
pub fn put(batch: &mut Batch<'_>, token: &UserToken) -> Result<(), TableError> {
    let mut others = batch.tables.read()?.user_tokens(token.user, USER_TOKENS_OF_ALL_SORTS_MAX)?;
    others.retain(|other| other.digest != token.digest && other.purpose.is_counted_with(token.purpose));
    others.sort_by_key(|other| (other.made_at, other.digest));
    let too_many = (others.len() + 1).saturating_sub(USER_TOKENS_MAX);
    for oldest in others.iter().take(too_many) {
        batch.tables.write(RowChange::<UserToken>::Delete((oldest.digest,)));
    }
    batch.tables.write(RowChange::Put(token.clone()));
    Ok(())
}

/// Writes other contents of a token, unless it has ended or was changed since it was read. Returns whether they are written.
pub fn renew(batch: &mut Batch<'_>, read: &UserToken, renewed: &UserToken) -> Result<bool, TableError> {
    let is_same = batch.tables.read()?.user_token(&read.digest)?.as_ref() == Some(read);
    if is_same {
        batch.tables.write(RowChange::Put(renewed.clone()));
    }
    Ok(is_same)
}

/// Ends a token. Returns whether there was one.
pub fn end(batch: &mut Batch<'_>, digest: TokenDigest) -> Result<bool, TableError> {
    let is_there = batch.tables.read()?.user_token(&digest)?.is_some();
    if is_there {
        batch.tables.write(RowChange::<UserToken>::Delete((digest,)));
    }
    Ok(is_there)
}

/// Ends the tokens that a change of the setup ends. The caller has checked the link that it spends.
pub(crate) fn change(batch: &mut Batch<'_>, change: &TokenChange) -> Result<(), TableError> {
    let TokenChange { spend, end_all_of, end_links_of, keep } = change;
    if let Some(link) = spend {
        batch.tables.write(RowChange::<UserToken>::Delete((*link,)));
    }
    let only_links = end_links_of.iter().filter(|user| !end_all_of.contains(user));
    let ended = end_all_of.iter().map(|user| (user, false)).chain(only_links.map(|user| (user, true)));
    for (user, is_only_links) in ended {
        for token in batch.tables.read()?.user_tokens(*user, USER_TOKENS_OF_ALL_SORTS_MAX)? {
            let ends = if is_only_links {
                token.purpose.is_link()
            } else {
                token.purpose != TokenPurpose::UsedCode && Some(token.digest) != *keep
            };
            if ends && Some(token.digest) != *spend {
                batch.tables.write(RowChange::<UserToken>::Delete((token.digest,)));
            }
        }
    }
    Ok(())
}
