//! Writes the audit log in the batch of the change that it is about. Every change of an account's money by a person has a row,
//! whether or not its command names the author.

use crate::batch::Batch;
use crate::ops::Balance;
use crate::state::audit_log::UnloggedPosting;
use crate::tables::{RowChange, SealedEnd, TableError};
use hermod_domain::audit::{AuditEnd, AuditEntry, AuditPosting, SealPlace};

/// The author of a change whose command names none.
const NO_AUTHOR: &str = "unknown";
/// The action of a row that was written for a posting alone.
const POSTED: &str = "ledger.post";
/// Its subject. Customers read it; the id of the entry, which counts those of all accounts, is in the row's posting only.
const POSTED_TO: &str = "the account";

/// Appends entries to the audit log. The postings of the same command belong to the entries of their accounts; those
/// without such an entry get rows of their own.
pub fn append(batch: &mut Batch<'_>, entries: &[AuditEntry]) -> Result<(), TableError> {
    let mut postings = std::mem::take(&mut batch.unlogged_postings);
    for entry in entries {
        let own = postings.iter().position(|posting| entry.account == Some(posting.account));
        let posting = own.map(|place| postings.remove(place));
        append_row(batch, entry.clone(), posting)?;
    }
    for posting in postings {
        append_row(batch, entry_about(posting, entries.first()), Some(posting))?;
    }
    Ok(())
}

/// Logs the postings of commands that name no author.
pub fn append_postings(batch: &mut Batch<'_>) -> Result<(), TableError> {
    if batch.unlogged_postings.is_empty() { Ok(()) } else { append(batch, &[]) }
}

fn append_row(
    batch: &mut Batch<'_>,
    entry: AuditEntry,
    posting: Option<UnloggedPosting>,
) -> Result<(), TableError> {
    let key = batch.state.audit_log.key;
    let posting = posting.map(|UnloggedPosting { id, change, .. }| AuditPosting {
        entry: id,
        balance: change.balance,
        credit_used: change.credit_used,
    });
    let row = batch.state.audit_log.end(batch.tables)?.append(key, entry, posting);
    let end = AuditEnd::from(&row);
    let seal = end.seal(key, SealPlace::Database);
    batch.tables.write(RowChange::Add(row));
    batch.tables.write(RowChange::Put(SealedEnd { end, seal }));
    batch.state.audit_log.set_end(end);
    batch.results.audit_log_end = Some(end);
    Ok(())
}

fn entry_about(posting: UnloggedPosting, author: Option<&AuditEntry>) -> AuditEntry {
    let UnloggedPosting { id: _, account, at, change } = posting;
    let Balance { balance, credit_used } = change;
    AuditEntry {
        at,
        account: Some(account),
        by: author.map_or_else(|| NO_AUTHOR.to_owned(), |author| author.by.clone()),
        from: author.map(|author| author.from.clone()).unwrap_or_default(),
        action: POSTED.to_owned(),
        subject: POSTED_TO.to_owned(),
        detail: format!(r#"{{"balance":"{balance}","credit_used":"{credit_used}"}}"#),
    }
}
