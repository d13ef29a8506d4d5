//! Commands about tokens of users, and commands whose change is in the audit log.

use crate::audit_log;
use crate::batch::Batch;
use crate::commands::{AnyCommand, AnyOutcome, Command};
use crate::ops::{MadeCustomerRequest, PostOutcome, TokenDigest, UserToken, WebhookReplay};
use crate::tables::{RowChange, TableError};
use crate::user_tokens;
use hermod_domain::audit::AuditEntry;
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Stores a token of a user. Returns whether it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PutUserToken {
    New(UserToken),
    /// Other contents of a token. One that has ended or was changed since it was read stays as it is.
    Renewed {
        read: Box<UserToken>,
        renewed: UserToken,
    },
}

impl Command for PutUserToken {
    type Outcome = bool;

    fn execute(&self, batch: &mut Batch<'_>) -> Result<bool, TableError> {
        match self {
            PutUserToken::New(token) => user_tokens::put(batch, token).map(|()| true),
            PutUserToken::Renewed { read, renewed } => user_tokens::renew(batch, read, renewed),
        }
    }
}

/// Ends a token of a user. Returns whether there was one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndUserToken(pub TokenDigest);

impl Command for EndUserToken {
    type Outcome = bool;

    fn execute(&self, batch: &mut Batch<'_>) -> Result<bool, TableError> {
        user_tokens::end(batch, self.0)
    }
}

/// Deletes tokens that have expired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForgetUserTokens {
    pub now: Timestamp,
}

impl Command for ForgetUserTokens {
    type Outcome = ();

    fn execute(&self, batch: &mut Batch<'_>) -> Result<(), TableError> {
        batch
            .tables
            .write(RowChange::<UserToken>::delete_in([("expires_at", i64::MIN..=self.now.as_millis())]));
        Ok(())
    }
}

/// Writes entries into the audit log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppendToAuditLog(pub Vec<AuditEntry>);

impl Command for AppendToAuditLog {
    type Outcome = ();

    fn execute(&self, batch: &mut Batch<'_>) -> Result<(), TableError> {
        audit_log::append_postings(batch)?;
        audit_log::append(batch, &self.0)
    }
}

/// A command with its entries for the audit log, which are written in the same batch. A command that changes nothing writes
/// none.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Audited {
    pub command: AnyCommand,
    pub entries: Vec<AuditEntry>,
}

impl Command for Audited {
    /// The outcome of the command.
    type Outcome = Box<AnyOutcome>;

    fn execute(&self, batch: &mut Batch<'_>) -> Result<Box<AnyOutcome>, TableError> {
        // Postings of earlier commands are not this author's.
        audit_log::append_postings(batch)?;
        let outcome = self.command.execute(batch)?;
        if has_changed(&outcome) {
            audit_log::append(batch, &self.entries)?;
        }
        Ok(Box::new(outcome))
    }
}

/// Whether the outcome says that the command has changed something.
fn has_changed(outcome: &AnyOutcome) -> bool {
    match outcome {
        AnyOutcome::ChangeCatalogue(changed) => changed.is_ok(),
        AnyOutcome::Post(posted) => matches!(posted, PostOutcome::Posted { .. }),
        AnyOutcome::DecideReview(decided) => decided.is_some(),
        AnyOutcome::AssignInbound(assigned) => assigned.is_some(),
        AnyOutcome::OptOut(is_new) => *is_new,
        AnyOutcome::OptIn(was_out) => *was_out,
        AnyOutcome::ReplayWebhook(replayed) => *replayed == WebhookReplay::Again,
        AnyOutcome::PutUserToken(is_stored) => *is_stored,
        AnyOutcome::EndUserToken(was_there) => *was_there,
        AnyOutcome::MakeCustomerRequest(made) => matches!(made, MadeCustomerRequest::New(_)),
        AnyOutcome::EndCustomerRequest(was_open) => *was_open,
        AnyOutcome::EntryRemoved(_) => false,
        _ => true,
    }
}
