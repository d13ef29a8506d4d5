//! Backups of the database, erasure of a phone number, and rows that were set aside.

use crate::author::Acting;
use crate::find::find_account;
use crate::http::routes::{Routes, doc};
use crate::input::{invalid, number};
use crate::refusal::{OperatorRefusal, Result};
use crate::views::paging::{Limit, Page, RowNumber, paged};
use hermod_domain::operator_role::OperatorPermission;
use hermod_gateway::gateway::Gateway;
use hermod_store::{Erased, SetAside, StoreError, StoredPart};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use utoipa::{IntoParams, ToSchema};

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BackupRequest {
    /// An absolute path on the gateway's machine. The gateway creates this folder; it must not exist yet.
    #[schema(examples("/var/backups/hermod/monday"))]
    pub folder: String,
}

impl crate::views::JsonBody for BackupRequest {}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BackupView {
    /// The folder, with the copy as `hermod.db`.
    pub folder: String,
    /// Size of the copy.
    pub bytes: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ErasureRequest {
    /// A plus, then 7 to 15 digits.
    #[schema(pattern = r"^\+[1-9][0-9]{6,14}$", examples("+4915112345678"))]
    pub number: String,
    /// Only in this account's messages. Default: all accounts.
    pub account: Option<String>,
}

impl crate::views::JsonBody for ErasureRequest {}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ErasureView {
    /// Messages to the number whose text and number were erased.
    pub messages: u64,
    /// Messages from the number whose text and number were erased.
    pub inbound: u64,
    /// Held messages, parked receipts, conversations and unassigned messages that were removed.
    pub others: u64,
    /// Messages to and from the number that were not erased because they, or reports about them, are still being delivered.
    pub in_progress: u64,
    /// The ids of the first 100 of those to the number.
    pub in_progress_ids: Vec<String>,
}

impl From<Erased> for ErasureView {
    fn from(Erased { messages, inbound, others, in_progress, named }: Erased) -> ErasureView {
        let in_progress_ids = named.iter().map(ToString::to_string).collect();
        ErasureView { messages, inbound, others, in_progress, in_progress_ids }
    }
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct SetAsideQuery {
    /// `next` of the previous page.
    pub after: Option<RowNumber>,
    /// How many at most; 100 by default.
    pub limit: Option<Limit>,
}

/// A row of the queue that could not be read. Its numbers are those of the database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SetAsideView {
    pub number: i64,
    /// When it was set aside.
    pub at: String,
    #[schema(examples("part 1: 99 is not a known state"))]
    pub reason: String,
    pub carrier: i64,
    pub account: i64,
    pub message_id: String,
    /// The part that left the queue; null if the row of the message is the invalid one and its parts stay queued.
    pub part: Option<StoredPartView>,
}

paged!(SetAsideView, i64, |row| row.number);

/// The columns of a part's row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StoredPartView {
    pub no: i64,
    pub state: i64,
    pub doubts: i64,
    pub resend: i64,
    pub attempts: i64,
    pub due_at: i64,
    pub expires_at: i64,
}

impl From<SetAside> for SetAsideView {
    fn from(SetAside { id, at, reason, carrier, account, message, part }: SetAside) -> SetAsideView {
        let part = part.map(|part| {
            let StoredPart { no, state, doubts, resend, attempts, due_at, expires_at } = part;
            StoredPartView { no, state, doubts, resend, attempts, due_at, expires_at }
        });
        let (at, message_id) = (at.to_iso(), message.to_string());
        SetAsideView { number: id, at, reason, carrier, account, message_id, part }
    }
}

/// The file name of the database, as in every data folder.
const DATABASE: &str = "hermod.db";

/// Copies the database into a new folder while messages are being sent. Removes the folder on any error.
pub async fn copy_database(gateway: &Acting, request: BackupRequest) -> Result<BackupView> {
    let folder = PathBuf::from(request.folder);
    if !folder.is_absolute() {
        return Err(invalid("folder", "must be an absolute path"));
    }
    create_private(&folder).map_err(|error| {
        invalid("folder", format!("{}: the gateway cannot create this folder: {error}", folder.display()))
    })?;
    gateway
        .audited(None, "database.copy", "database", &json!({ "folder": &folder }))
        .note_in_audit_log()
        .await?;
    match gateway.store.copy_to(&folder.join(DATABASE), || gateway.clock.now()).await {
        Ok(bytes) => Ok(BackupView { folder: folder.display().to_string(), bytes }),
        Err(fault) => {
            // Only an empty folder is removed.
            let _ = std::fs::remove_dir(&folder);
            Err(backup_refusal(fault))
        }
    }
}

fn backup_refusal(fault: StoreError) -> OperatorRefusal {
    match fault {
        StoreError::NoRoomForCopy { .. } | StoreError::File { .. } | StoreError::Backend(_) => {
            OperatorRefusal::BackupFailed(fault.to_string())
        }
        fault => fault.into(),
    }
}

fn create_private(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().mode(0o700).create(folder)
}

/// Erases a phone number from every message that has ended, of one account or of all.
pub async fn erase_number(gateway: &Acting, request: ErasureRequest) -> Result<ErasureView> {
    let number = number(&request.number)?;
    let account = request.account.map(|name| find_account(gateway, &name)).transpose()?;
    // The audit log must not have the number either.
    gateway.audited(account, "number.erase", "a phone number", &Value::Null).note_in_audit_log().await?;
    let erased = gateway.store.erasures().erase_number(number, account, gateway.clock.now()).await?;
    gateway.split_messages.lock().forget(number, account);
    // The log must not have the number.
    tracing::info!(
        messages = erased.messages,
        inbound = erased.inbound,
        others = erased.others,
        in_progress = erased.in_progress,
        "The operator erased a phone number"
    );
    Ok(erased.into())
}

/// Lists rows of the queue that could not be read, the oldest first.
pub async fn list_set_aside(gateway: &Gateway, query: SetAsideQuery) -> Result<Page<SetAsideView>> {
    let limit = Limit::of(query.limit);
    let rows = gateway.store.rows_set_aside().list(query.after.map(|after| after.signed()), limit).await?;
    Ok(Page::new(rows.into_iter().map(SetAsideView::from).collect(), limit))
}

pub(crate) fn routes(routes: &mut Routes) {
    routes.section("Maintenance", "Backups, erasure of personal data, invalid rows, nodes.");
    routes.post(
        "/backups",
        copy_database,
        doc("makeBackup", "Back up the database", "The copy is complete and durable.")
            .running_only()
            .local_only()
            .ends_when_stopping()
            .details(
                "Only for callers on the gateway's own machine. The gateway writes the copy a few pages at a time between \
                 commits, and responds when it is complete. A gateway that is started with the copy is held until an operator \
                 releases it. The keys of the data folder are not copied: `hermod backup` \
                 copies them.",
            )
            .errors(&["INVALID_FIELD", "BACKUP_RUNNING"])
            .least(OperatorPermission::Operations),
    );
    routes.post(
        "/erasures",
        erase_number,
        doc("eraseNumber", "Erase a phone number", "What was erased, and what was not yet.")
            .details(
                "In every message to or from the number that has ended, the text is deleted and the number replaced: by null \
                 in messages, by +9990000000 in MO messages. Ids, states, times and money stay; so do opt-outs. Messages that are still being delivered \
                 are not changed and are listed: call again when they have ended.",
            )
            .errors(&["NOT_FOUND", "INVALID_FIELD"])
            .least(OperatorPermission::Operations),
    );
    routes.get(
        "/set-aside",
        list_set_aside,
        doc("listSetAside", "List invalid rows of the queue", "The oldest first.").details(
            "Messages that cannot be sent because a row of the database is damaged or of another release. All parts of \
             such a message leave the queue, so that it blocks no other; the message is kept.",
        )
            .least(OperatorPermission::Reading),
    );
}
