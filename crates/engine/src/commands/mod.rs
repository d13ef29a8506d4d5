//! Commands: everything that the engine can do, as plain values. A command holds no closure, channel or lock. So it can be
//! copied, run again after a rollback, and later be written to a journal or sent to another node.
//!
//! [`Command`] says what one command does and what its outcome is. The list at the end of this file names all of them once;
//! [`AnyCommand`] and [`AnyOutcome`] come from it.

mod admin;
mod erasure;
mod links;
mod messages;
mod mo;
mod receipts;
mod reports;
mod retention;
mod upkeep;
mod users;
mod webhooks;

pub use admin::{DecideReview, ForgetReviews};
pub use erasure::{EraseCarrierIds, EraseInbound, EraseMessages, EraseOthers, EraseResponses, KeepErasure};
pub use links::{CloseLink, OpenLink};
pub use messages::{
    Cancel, CancelWaiting, FindKey, FindVelocityRefusal, MoveWaiting, ReadQueues, ReadWaitingParts,
};
pub use mo::{AssignInbound, ForgetConversations, ForgetRepeats, ForgetUnassigned, OptIn};
pub use receipts::{ForgetUnnamedParts, GiveUpParked, Rematch};
pub use reports::{ForgetGivenUp, GiveUpOldReports, MoveToWebhook};
pub use retention::{ExpireKeys, PurgeCarrierIds, PurgeInbound, PurgeRecords, PurgeTexts};
pub use upkeep::{DropOldFigures, ExpireParts, ReleaseDue, SetLate, SetUnreadableAside};
pub use users::{AppendToAuditLog, Audited, EndUserToken, ForgetUserTokens, PutUserToken};
pub use webhooks::{
    ForgetWebhooks, LimitWebhookWaits, ReplayFailedWebhooks, ReplayWebhook, RetryWaitingWebhooks,
};

use crate::audit_log;
use crate::batch::Batch;
use crate::ops::{
    Acceptance, CatalogueChange, CustomerRequestEnd, EntryRemoved, FinishedReports, Inbound, LedgerEntry,
    LinkBatch, NewCustomerRequest, Screened,
};
use crate::read_ahead::ReadPlan;
use crate::report;
use crate::state::idempotency_keys::KeyStep;
use crate::tables::{OptOut, TableError};
use crate::webhooks::WebhookResults;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What the writer does with a command while the disk is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFullDisk {
    /// Runs it: it writes nothing.
    Run,
    /// Refuses it. The caller can try again.
    Refuse,
    /// Keeps it until there is room: it reports a fact, which a refusal would not undo.
    Keep,
}

/// One change that the engine can make.
pub trait Command: Clone + fmt::Debug + Send + 'static {
    /// What the caller gets after the commit. A refusal is an outcome too, and changes nothing.
    type Outcome: Send + 'static;

    const ON_FULL_DISK: OnFullDisk = OnFullDisk::Refuse;

    /// True if the command reads neither reports nor given-up reports. Before every other command, the reports that customers
    /// accepted earlier in the batch are deleted.
    const IGNORES_REPORTS: bool = false;

    /// Adds to the plan what the command will read about each of many messages or events.
    fn plan_reads<'c>(&'c self, _plan: &mut ReadPlan<'c>) {}

    /// Runs the command. It can run more than once: a batch that fails is rolled back and its commands run again, each
    /// in a batch of its own. After an error the rows of the batch must be rolled back, but not after [`EntryRemoved`], with which
    /// a command fails before it changes anything.
    fn execute(&self, batch: &mut Batch<'_>) -> Result<Self::Outcome, TableError>;
}

/// A large command is boxed in [`AnyCommand`], which is as large as its largest variant.
impl<C: Command> Command for Box<C> {
    type Outcome = C::Outcome;

    const ON_FULL_DISK: OnFullDisk = C::ON_FULL_DISK;
    const IGNORES_REPORTS: bool = C::IGNORES_REPORTS;

    fn plan_reads<'c>(&'c self, plan: &mut ReadPlan<'c>) {
        C::plan_reads(self, plan);
    }

    fn execute(&self, batch: &mut Batch<'_>) -> Result<C::Outcome, TableError> {
        C::execute(self, batch)
    }
}

/// A command that is in the list, and so a variant of [`AnyCommand`].
pub trait Listed: Command + Into<AnyCommand> {
    /// Returns the outcome of this command; none if it is the outcome of another one.
    fn own_outcome(outcome: AnyOutcome) -> Option<Self::Outcome>;
}

/// Makes the two enums and the conversions from the list of all commands. The first type is what the variant holds.
macro_rules! commands {
    ($($name:ident($command:ty)),* $(,)?) => {
        /// Any command.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub enum AnyCommand {
            $($name($command)),*
        }

        /// The outcome of any command, under the name of the command.
        #[derive(Serialize, Deserialize)]
        pub enum AnyOutcome {
            $($name(<$command as Command>::Outcome),)*
            /// A command that is about a removed entry was refused: it changed nothing.
            EntryRemoved(EntryRemoved),
        }

        impl AnyCommand {
            /// The names of all commands.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name)),*];

            pub fn execute(&self, batch: &mut Batch<'_>) -> Result<AnyOutcome, TableError> {
                if !self.ignores_reports() {
                    report::delete_accepted(batch)?;
                }
                refused(match self {
                    $(AnyCommand::$name(command) => command.execute(batch).map(AnyOutcome::$name)),*
                })
            }

            pub fn plan_reads<'c>(&'c self, plan: &mut ReadPlan<'c>) {
                match self {
                    $(AnyCommand::$name(command) => command.plan_reads(plan)),*
                }
            }

            fn ignores_reports(&self) -> bool {
                match self {
                    $(AnyCommand::$name(_) => <$command as Command>::IGNORES_REPORTS),*
                }
            }

            pub fn on_full_disk(&self) -> OnFullDisk {
                match self {
                    $(AnyCommand::$name(_) => <$command as Command>::ON_FULL_DISK),*
                }
            }
        }

        impl AnyOutcome {
            /// Returns the name of the command that it is the outcome of.
            pub fn name(&self) -> &'static str {
                match self {
                    $(AnyOutcome::$name(_) => stringify!($name),)*
                    AnyOutcome::EntryRemoved(_) => "EntryRemoved",
                }
            }
        }

        $(
            impl From<$command> for AnyCommand {
                fn from(command: $command) -> AnyCommand {
                    AnyCommand::$name(command)
                }
            }

            impl Listed for $command {
                fn own_outcome(outcome: AnyOutcome) -> Option<Self::Outcome> {
                    if let AnyOutcome::$name(outcome) = outcome { Some(outcome) } else { None }
                }
            }
        )*
    };
}

commands! {
    Accept(Box<Acceptance>),
    AppendToAuditLog(AppendToAuditLog),
    AssignInbound(AssignInbound),
    Audited(Box<Audited>),
    Cancel(Cancel),
    CancelWaiting(CancelWaiting),
    ChangeCatalogue(Box<CatalogueChange>),
    CloseLink(CloseLink),
    DecideReview(DecideReview),
    DropOldFigures(DropOldFigures),
    EndCustomerRequest(CustomerRequestEnd),
    EndUserToken(EndUserToken),
    EraseCarrierIds(EraseCarrierIds),
    EraseInbound(EraseInbound),
    EraseMessages(EraseMessages),
    EraseOthers(EraseOthers),
    EraseResponses(EraseResponses),
    ExpireKeys(ExpireKeys),
    FindKey(FindKey),
    FindVelocityRefusal(FindVelocityRefusal),
    ForgetConversations(ForgetConversations),
    ForgetGivenUp(ForgetGivenUp),
    ForgetRepeats(ForgetRepeats),
    ForgetReviews(ForgetReviews),
    ForgetUnassigned(ForgetUnassigned),
    ForgetUnnamedParts(ForgetUnnamedParts),
    ForgetUserTokens(ForgetUserTokens),
    ForgetWebhooks(ForgetWebhooks),
    GiveUpOldReports(GiveUpOldReports),
    GiveUpParked(GiveUpParked),
    KeepErasure(KeepErasure),
    ExpireParts(ExpireParts),
    LimitWebhookWaits(LimitWebhookWaits),
    MakeCustomerRequest(Box<NewCustomerRequest>),
    MergeKeys(KeyStep),
    MoveToWebhook(MoveToWebhook),
    MoveWaiting(MoveWaiting),
    OpenLink(OpenLink),
    OptIn(OptIn),
    OptOut(OptOut),
    Post(LedgerEntry),
    PurgeCarrierIds(PurgeCarrierIds),
    PurgeInbound(PurgeInbound),
    PurgeRecords(PurgeRecords),
    PurgeTexts(PurgeTexts),
    PutUserToken(PutUserToken),
    ReadQueues(ReadQueues),
    ReadWaitingParts(ReadWaitingParts),
    Receive(Inbound),
    ReleaseDue(ReleaseDue),
    Rematch(Rematch),
    ReplayFailedWebhooks(ReplayFailedWebhooks),
    ReplayWebhook(ReplayWebhook),
    ReportLink(LinkBatch),
    RetryWaitingWebhooks(RetryWaitingWebhooks),
    Screen(Screened),
    SetUnreadableAside(SetUnreadableAside),
    SetLate(SetLate),
    SettleReports(FinishedReports),
    SettleWebhooks(WebhookResults),
}

/// Returns the outcome of a command that failed because an entry was removed; any other result as it is.
pub fn refused(result: Result<AnyOutcome, TableError>) -> Result<AnyOutcome, TableError> {
    result.or_else(|error| error.downcast_ref().copied().map(AnyOutcome::EntryRemoved).ok_or(error))
}

/// Only the name: an outcome can have a message text in it.
impl fmt::Debug for AnyOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl AnyCommand {
    /// Splits a command that reports several facts into commands of one fact each, so that one that cannot be written does
    /// not take the others with it. Returns every other command as it is.
    pub fn into_pieces(self) -> Result<Vec<AnyCommand>, AnyCommand> {
        match self {
            AnyCommand::ReportLink(learned) => Ok(into_all(learned.into_pieces())),
            AnyCommand::SettleReports(ends) => Ok(into_all(ends.into_pieces())),
            AnyCommand::SettleWebhooks(ends) => Ok(into_all(ends.into_pieces())),
            command => Err(command),
        }
    }
}

/// Writes everything that was held back, and applies all changes. The last step before the commit.
pub fn finish(batch: &mut Batch<'_>) -> Result<(), TableError> {
    batch.write_fresh();
    audit_log::append_postings(batch)?;
    crate::webhooks::write_last_number(batch);
    batch.state.keys.write(batch.tables);
    batch.state.balances.write(batch.tables);
    batch.state.entry_uses.write(batch.tables);
    batch.state.aliases.write(batch.tables);
    batch.state.today.write(batch.tables);
    batch.keep_steps();
    report::delete_accepted(batch)?;
    batch.tables.apply()
}

fn into_all<C: Into<AnyCommand>>(commands: impl IntoIterator<Item = C>) -> Vec<AnyCommand> {
    commands.into_iter().map(Into::into).collect()
}

#[cfg(test)]
mod tests;
