//! Why a request of the operator is rejected. A rejected request changed nothing.

pub mod published;

use crate::csv_table::CsvError;
use crate::kind::Kind;
use hermod_domain::catalogue::CatalogueError;
use hermod_domain::operator_role::{OperatorPermission, OperatorRole};
use hermod_domain::refusal::published::PublishedError;
use hermod_domain::time::Timestamp;
use hermod_gateway::gateway::LoadCatalogueError;
use hermod_store::{EntryUse, PostRefusal, StoreError, UnreadableRow, Usage};

/// What a use case returns. Only a few fail with another error.
pub type Result<T, E = OperatorRefusal> = std::result::Result<T, E>;
/// What a change of the setup returns before it is stored.
pub type ProvisionResult<T> = Result<T, ProvisionRefusal>;

/// Values of Retry-After, in seconds.
const RETRY_SOON_S: u32 = 1;
const RETRY_LATER_S: u32 = 10;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OperatorRefusal {
    #[error(
        "the operator's token is missing or invalid; it is in the file operator.token of the data folder"
    )]
    InvalidToken,
    #[error(
        "your token expired on {until}; ask an admin for another one (hermod operator set NAME until=...)"
    )]
    ExpiredToken { until: Timestamp },
    #[error("your role is {role}, and this needs the role {}", .permission.named_roles())]
    RoleNotAllowed { role: OperatorRole, permission: OperatorPermission },
    #[error(
        "the response has whole numbers or texts: give the reason for which you need them in the header X-Reason, or with --unmask \
         of a command; it is written into the audit log"
    )]
    ReasonNeeded,
    #[error("too many invalid tokens from your address; wait and retry")]
    RateLimited { retry_after_s: u32 },
    #[error(
        "the operator API accepts only direct callers on its own machine, by a loopback address or as localhost, and none from \
         [http] trusted_proxies; set [operations] listen to an address without proxies, list the caller in [operations] allow, or \
         set [operator] from_anywhere = true"
    )]
    NotFromHere,
    #[error("the body is not valid: {0}")]
    InvalidJson(String),
    #[error("{0}")]
    InvalidToml(String),
    #[error("{0}")]
    InvalidCsv(#[from] CsvError),
    #[error("{0}")]
    InvalidContentType(&'static str),
    #[error("the body has more than {bytes_max} bytes")]
    BodyTooLarge { bytes_max: usize },
    #[error("{field}: {rule}")]
    InvalidField { field: &'static str, rule: String },
    /// The query string is invalid.
    #[error("{0}")]
    InvalidQuery(String),
    /// The framing of the request is ambiguous: a proxy may have read it in another way. The connection is closed.
    #[error("{field}: {rule}")]
    Ambiguous { field: &'static str, rule: &'static str },
    #[error("{0}")]
    NotFound(String),
    #[error("the path does not support this method")]
    MethodNotAllowed,
    #[error("{0}")]
    Unfit(ProvisionRefusal),
    #[error("{0}")]
    Posting(PostRefusal),
    #[error("{kind} \"{name}\" already exists")]
    AlreadyExists { kind: &'static str, name: String },
    #[error("account \"{account}\" owes nothing: its balance is {balance}")]
    NothingOwed { account: String, balance: String },
    #[error("request {id} was {state} before")]
    AlreadyDecided { id: u64, state: &'static str },
    #[error("this needs a running gateway: start it with hermod serve")]
    NotRunning,
    #[error("another test of a carrier is running: retry when it has ended")]
    TestRunning,
    #[error("another backup is running: retry when it has ended")]
    BackupRunning,
    #[error("the backup failed: {0}")]
    BackupFailed(String),
    #[error(
        "{max} exports of this account are running; those over all accounts count as one account: retry when one has ended"
    )]
    ExportsRunning { max: u32 },
    #[error(
        "the gateway keeps no record: set enabled = true in the section [record] of its settings and restart it"
    )]
    RecordOff,
    /// The record cannot answer this within its limits.
    #[error("{0}")]
    TooMuch(String),
    #[error("internal error; nothing was changed")]
    Failed,
    #[error("{cause}")]
    Unavailable { cause: &'static str, retry_after_s: u32 },
}

impl OperatorRefusal {
    pub(crate) fn no_such(kind: &str, name: &str) -> OperatorRefusal {
        OperatorRefusal::NotFound(format!("there is no {kind} \"{name}\""))
    }

    pub(crate) fn no_path() -> OperatorRefusal {
        OperatorRefusal::NotFound("there is nothing at this path".to_owned())
    }

    /// Another node did not answer in time.
    pub(crate) const fn no_answer() -> OperatorRefusal {
        OperatorRefusal::Unavailable {
            cause: "that node did not answer: hermod nodes shows whether it is lost",
            retry_after_s: RETRY_SOON_S,
        }
    }

    pub const fn stopping() -> OperatorRefusal {
        OperatorRefusal::Unavailable { cause: "the gateway is stopping", retry_after_s: RETRY_LATER_S }
    }

    /// The row of the catalogue of errors.
    pub const fn published(&self) -> &'static PublishedError {
        match self {
            OperatorRefusal::InvalidToken | OperatorRefusal::ExpiredToken { .. } => &published::INVALID_TOKEN,
            OperatorRefusal::RoleNotAllowed { .. } => &published::ROLE_NOT_ALLOWED,
            OperatorRefusal::ReasonNeeded => &published::REASON_NEEDED,
            OperatorRefusal::RateLimited { .. } => &published::RATE_LIMITED,
            OperatorRefusal::NotFromHere => &published::IP_NOT_ALLOWED,
            OperatorRefusal::InvalidJson(_) => &published::INVALID_JSON,
            OperatorRefusal::InvalidToml(_) => &published::INVALID_TOML,
            OperatorRefusal::InvalidCsv(_) => &published::INVALID_CSV,
            OperatorRefusal::InvalidContentType(_) => &published::INVALID_CONTENT_TYPE,
            OperatorRefusal::BodyTooLarge { .. } => &published::BODY_TOO_LARGE,
            OperatorRefusal::InvalidField { .. }
            | OperatorRefusal::InvalidQuery(_)
            | OperatorRefusal::Ambiguous { .. } => &published::INVALID_FIELD,
            OperatorRefusal::NotFound(_) => &published::NOT_FOUND,
            OperatorRefusal::MethodNotAllowed => &published::METHOD_NOT_ALLOWED,
            OperatorRefusal::Unfit(ProvisionRefusal::NotRemovable { .. }) => &published::NOT_REMOVABLE,
            OperatorRefusal::Posting(PostRefusal::ReferenceTaken) => &published::REFERENCE_TAKEN,
            OperatorRefusal::Unfit(_) | OperatorRefusal::Posting(_) => &published::REFUSED,
            OperatorRefusal::NothingOwed { .. } => &published::NOTHING_OWED,
            OperatorRefusal::AlreadyExists { .. } => &published::ALREADY_EXISTS,
            OperatorRefusal::AlreadyDecided { .. } => &published::ALREADY_DECIDED,
            OperatorRefusal::NotRunning => &published::NOT_RUNNING,
            OperatorRefusal::TestRunning => &published::TEST_RUNNING,
            OperatorRefusal::BackupRunning => &published::BACKUP_RUNNING,
            OperatorRefusal::ExportsRunning { .. } => &published::EXPORTS_RUNNING,
            OperatorRefusal::RecordOff => &published::RECORD_OFF,
            OperatorRefusal::TooMuch(_) => &published::TOO_MUCH,
            OperatorRefusal::Failed | OperatorRefusal::BackupFailed(_) => &published::FAILED,
            OperatorRefusal::Unavailable { .. } => &published::GATEWAY_UNAVAILABLE,
        }
    }

    pub const fn retry_after_s(&self) -> Option<u32> {
        match self {
            OperatorRefusal::RateLimited { retry_after_s }
            | OperatorRefusal::Unavailable { retry_after_s, .. } => Some(*retry_after_s),
            OperatorRefusal::ExportsRunning { .. } => Some(RETRY_LATER_S),
            _ => None,
        }
    }
}

impl From<ProvisionRefusal> for OperatorRefusal {
    fn from(refusal: ProvisionRefusal) -> OperatorRefusal {
        match refusal {
            // The stored catalogue is invalid: not the caller's fault.
            ProvisionRefusal::Unreadable(row) => {
                tracing::error!(%row, "The stored catalogue is invalid");
                OperatorRefusal::Failed
            }
            ProvisionRefusal::Wrong { .. }
            | ProvisionRefusal::NotRemovable { .. }
            | ProvisionRefusal::SignInChanged(_)
            | ProvisionRefusal::Unfit(_) => OperatorRefusal::Unfit(refusal),
        }
    }
}

impl From<StoreError> for OperatorRefusal {
    fn from(fault: StoreError) -> OperatorRefusal {
        match fault {
            StoreError::CopyInProgress => OperatorRefusal::BackupRunning,
            StoreError::QueueFull(_) | StoreError::QueueTimeout | StoreError::ReadTooLong => {
                OperatorRefusal::Unavailable { cause: "the store is overloaded", retry_after_s: RETRY_SOON_S }
            }
            StoreError::DiskLow => OperatorRefusal::Unavailable {
                cause: "the disk is nearly full",
                retry_after_s: RETRY_LATER_S,
            },
            StoreError::Closed => OperatorRefusal::stopping(),
            StoreError::RecordOff => OperatorRefusal::RecordOff,
            StoreError::RecordUnavailable => OperatorRefusal::Unavailable {
                cause: "the record is being checked after a start, or cannot be opened",
                retry_after_s: RETRY_LATER_S,
            },
            StoreError::TextRangeTooLong | StoreError::TooManyRows(_) => {
                OperatorRefusal::TooMuch(fault.to_string())
            }
            StoreError::TooManyWatchers(_) => OperatorRefusal::Unavailable {
                cause: "the live feed has as many watchers as it can have",
                retry_after_s: RETRY_LATER_S,
            },
            StoreError::EntryRefused(refusal) => OperatorRefusal::Posting(refusal),
            StoreError::EntryRemoved(_) => OperatorRefusal::Unavailable {
                cause: "the entry was removed at this moment; nothing was done",
                retry_after_s: RETRY_SOON_S,
            },
            fault => {
                tracing::error!(%fault, "The store failed an operation");
                OperatorRefusal::Failed
            }
        }
    }
}

impl From<ProvisionError> for OperatorRefusal {
    fn from(error: ProvisionError) -> OperatorRefusal {
        match error {
            ProvisionError::Refused(refusal) => refusal.into(),
            ProvisionError::Store(fault) => fault.into(),
        }
    }
}

/// Why a change was rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProvisionRefusal {
    #[error("{what} {sentence}")]
    Wrong { what: String, sentence: String },
    #[error("{kind} \"{name}\" cannot be removed: it was first used at {since}, for {first}; {instead}")]
    NotRemovable { kind: Kind, name: String, first: &'static str, since: String, instead: &'static str },
    #[error("user \"{0}\" has another password or second factor meanwhile; sign in again")]
    SignInChanged(String),
    #[error("{0}")]
    Unfit(#[from] CatalogueError),
    #[error("{0}")]
    Unreadable(#[from] UnreadableRow),
}

impl ProvisionRefusal {
    pub(crate) fn about(what: &str, sentence: impl Into<String>) -> ProvisionRefusal {
        ProvisionRefusal::Wrong { what: what.to_owned(), sentence: sentence.into() }
    }

    /// An entry cannot be removed, because it was used.
    pub(crate) fn in_use(kind: Kind, name: String, used: &EntryUse) -> ProvisionRefusal {
        let first = match used.usage {
            Usage::Message => "a message",
            Usage::LedgerEntry => "a ledger entry",
            Usage::InboundMessage => "an MO message",
            Usage::Receipt => "a DLR",
            Usage::OptOut => "an opt-out",
            Usage::Review => "a text that is held for review",
            Usage::CustomerRequest => "a request of the customer",
            Usage::Removed => "nothing",
        };
        let instead = kind.instead_of_removing().unwrap_or("keep it");
        ProvisionRefusal::NotRemovable { kind, name, first, since: used.at.to_iso(), instead }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum ProvisionError {
    #[error(transparent)]
    Refused(#[from] ProvisionRefusal),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<LoadCatalogueError> for ProvisionError {
    fn from(error: LoadCatalogueError) -> ProvisionError {
        match error {
            LoadCatalogueError::Store(error) => error.into(),
            LoadCatalogueError::Unreadable(row) => ProvisionRefusal::from(row).into(),
            LoadCatalogueError::Unfit(error) => ProvisionRefusal::from(error).into(),
        }
    }
}
