//! The databases that a store can use. `Store` is one struct for all of them: the command queue, the shared state and the
//! table scans are the same. The reads differ, and this enum has them: a second backend is one more variant, and one
//! more arm in the list of reads. `writing.rs` has the same for the writer's transactions.

pub(crate) mod copying;
pub(crate) mod writing;

use crate::audit;
use crate::audit::report::AuditReport;
use crate::data_folder::lock;
use crate::error::StoreError;
pub(crate) use crate::postgres::lease::{BootTime, Lease, RENEW_EVERY};
pub use crate::postgres::schema_status::{MigrationKind, MigrationStep, SchemaStatus};
use crate::postgres::{self, PostgresDatabase, WritingSession};
pub use crate::postgres::{BindSlot, PepperFingerprint};
pub(crate) use crate::postgres::{BindSlots, CatalogueLock, LinkSlots, Member, NodeRow, NodesStatus};
use crate::record::database::source::RecordSource;
use crate::record::database::text::{Candidates, Needle, TextMatches};
use crate::record::database::timeline::StoredLine;
use crate::record::database::{text, timeline};
pub use crate::sql::account_statement::STATEMENT_ENTRIES_MAX;
use crate::sql::erasure_scans::ParkedKey;
pub(crate) use crate::sql::erasure_scopes::ErasureScopes;
pub use crate::sql::nodes::NodeRun;
pub(crate) use crate::sql::nodes::{KeptOutcomes, SentBy};
pub(crate) use crate::sql::postgres::server::run_on_thread;
pub use crate::sql::postgres::server::{NodeKey, NodeListener, NodeOptions, Server};
pub(crate) use crate::sql::read_results;
use crate::sql::read_results::{
    CoveredInbound, CoveredMessage, Due, EndedPlace, EventPlace, LatePage, LatePlace, NumberPage, OldEvents,
    OnTransmitters, Page, PartPage, ReportPlace, StorePosition, StoredKey, WaitingPage,
};
use crate::sql::{Connection, SqlTables};
use crate::sql::{
    audit_log, balances, carrier_ids, catalogue, customer_requests, day_totals, delivery_figures,
    engine_reads, erasure, erasure_scans, errors, given_up_reports, inbound, late_parts, ledger, nodes,
    opt_outs, parked_receipts, part_rows, purging, readers, records, reports, reviews, set_aside,
    unnamed_parts, user_tokens, waiting_messages, webhook_due, webhook_listing, webhook_purging,
};
use crate::sqlite::database::Database;
pub use crate::sqlite::salvage::Salvage;
use crate::sqlite::{copying as sqlite_copying, recovery, salvage};
use hermod_domain::audit::{AuditFilter, AuditKey, AuditRow};
use hermod_domain::carrier::IdConversion;
use hermod_domain::customer_request::CustomerRequestState;
use hermod_domain::erasure::KeptErasure;
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId, MessageId, RemoteId};
use hermod_domain::origin::MessageName;
use hermod_domain::phone::Msisdn;
use hermod_domain::time::{Day, Timestamp};
use hermod_engine::ops::{
    AssignedId, Balance, CarrierQueue, CatalogueRow, CustomerRequest, DayTotals, DeliveryRow, Endpoint,
    EventId, FailingEndpoint, GivenUpReport, InboundParties, InboundRecord, LedgerRow, MessageRecord,
    MoMessage, OpenReviews, ParkedReceipt, ProvisionedRow, QueuePosition, ReceiptLoss, ReportId, SetAside,
    SetAsideCount, Statement, TokenDigest, UnassignedMo, UserToken, WebhookAttempt, WebhookContent,
    WebhookFigures, WebhookFilter, WebhookRecord,
};
use hermod_engine::state::idempotency_keys::{KeyLimits, KeyStep};
use hermod_engine::state::parked_receipts::ParkedPage;
use hermod_engine::state::queues::QueueSnapshot;
use hermod_engine::tables::{
    AttemptKey, ConversationKey, DayCarrierId, InboundKey, OptOut, ReportPage, ReviewCase, ReviewState,
    TableError, UnnamedPart,
};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use writing::WritingBackend;

/// The file with the sealed end of the audit log.
pub const AUDIT_HEAD_FILE: &str = crate::sqlite::audit_head::FILE_NAME;
pub use crate::sqlite::audit_head::AuditProof;

/// A database as it is read beside the writer. Each read is one short snapshot.
pub(crate) enum Backend {
    /// One file, used by one process at a time.
    Sqlite(Database),
    /// A server, which several processes may use.
    Postgres(Box<PostgresDatabase>),
}

/// Opens the database of a data folder, for readers and for the writer. Creates it if it does not exist. Fails with
/// [`StoreError::InUse`] if another process has it open.
pub(crate) fn open(folder: &Path) -> Result<(Backend, WritingBackend), StoreError> {
    let (database, writing) = Database::open(folder)?;
    Ok((Backend::Sqlite(database), WritingBackend::Sqlite(Box::new(writing))))
}

/// Opens the database of a server for readers, as a node. Creates it if it does not exist.
pub(crate) fn open_server(
    folder: &Path,
    server: &Server,
    name: String,
    address: String,
) -> Result<(Backend, Member), StoreError> {
    let (database, member) = PostgresDatabase::open(folder, server, name, address)?;
    Ok((Backend::Postgres(Box::new(database)), member))
}

/// Takes the right to write to the database of a server. Returns none if another node has it.
pub(crate) fn take_writer(
    server: &Server,
    run: NodeRun,
    lease: &Arc<Lease>,
) -> Result<Option<WritingBackend>, StoreError> {
    let taken = WritingSession::take(server, run, lease.clone())?;
    Ok(taken.map(|session| WritingBackend::Postgres(Box::new(session))))
}

/// Keeps the intact batches of a damaged journal.
pub(crate) fn salvage_journal(folder: &Path, is_dry_run: bool) -> Result<Salvage, StoreError> {
    salvage::salvage_journal(folder, is_dry_run)
}

/// Whether a process has the database of this folder open.
pub(crate) fn is_in_use(folder: &Path) -> Result<bool, StoreError> {
    lock::is_in_use(folder)
}

/// Audits the database of a folder. Fails with [`StoreError::ReadTooLong`] once `stop` returns true.
pub(crate) fn audit(
    folder: &Path,
    proof: AuditProof,
    stop: impl FnMut() -> bool + Send + 'static,
) -> Result<AuditReport, StoreError> {
    recovery::complete_database(folder)?;
    audit::audit(folder, proof, stop)
}

/// Audits the database of a server.
pub(crate) fn audit_server(server: &Server, key: Option<AuditKey>) -> Result<AuditReport, StoreError> {
    audit::audit_connection(&postgres::auditor(server)?, key)
}

/// Returns the schema version of a server, and what is left to migrate.
pub(crate) fn schema_status(server: &Server) -> Result<SchemaStatus, StoreError> {
    postgres::schema_status(server)
}

/// Migrates the schema of a server. Returns the applied migrations.
pub(crate) fn migrate_server(
    server: &Server,
    kinds: MigrationKind,
) -> Result<Vec<MigrationStep>, StoreError> {
    postgres::migrate(server, kinds)
}

/// Checks the journal of a folder beside the gateway that writes it. Returns how many batches the database lacks.
pub(crate) fn check_live_journal(folder: &Path) -> Result<u64, StoreError> {
    recovery::check_live_journal(folder)
}

/// Copies the database of a folder that no gateway uses into a new file.
pub(crate) fn back_up(folder: &Path, destination: &Path) -> Result<(), StoreError> {
    recovery::complete_database(folder)?;
    sqlite_copying::back_up(folder, destination)
}

/// Defines a method of [`Backend`] for each read: `fn name(arguments) -> Rows = sqlite_function(its arguments)`. The
/// function gets a connection as its first argument.
macro_rules! reads {
    ($(fn $name:ident($($argument:ident: $of:ty),* $(,)?) -> $rows:ty = $($sqlite:ident)::+($($given:expr),*);)+) => {
        impl Backend {$(
            pub(crate) async fn $name(&self, $($argument: $of),*) -> Result<$rows, StoreError> {
                match self {
                    Backend::Sqlite(database) => {
                        database.read(move |connection| $($sqlite)::+(connection, $($given),*)).await
                    }
                    Backend::Postgres(database) => {
                        database.read(move |connection| $($sqlite)::+(connection, $($given),*)).await
                    }
                }
            }
        )+}
    };
}

reads! {
    fn account_with_old_inbound(before: Timestamp) -> Option<AccountId> = purging::account_with_old_inbound(before);
    fn applied(run: NodeRun) -> (u64, KeptOutcomes) = nodes::applied(run);
    fn audit_log(filter: AuditFilter, before: Option<u64>, limit: u32) -> Vec<AuditRow>
        = audit_log::page(&filter, before, limit);
    fn balance(account: AccountId) -> Balance = balances::read(account);
    fn carrier_id_days() -> Vec<Day> = carrier_ids::carrier_id_days();
    fn carrier_ids_to(day: Day, scopes: Arc<ErasureScopes>, after: Option<DayCarrierId>) -> Page<DayCarrierId>
        = erasure_scans::carrier_ids_to(day, &scopes, after.as_ref());
    fn carriers_with_late_parts() -> Vec<CarrierId> = late_parts::carriers_with_late_parts();
    fn catalogue() -> Vec<CatalogueRow> = catalogue::read();
    fn commits() -> u64 = nodes::commits();
    fn complete_queues(queues: Vec<QueueSnapshot>) -> Vec<CarrierQueue> = engine_reads::complete_queues(queues);
    fn conversation_handsets(after: Option<i64>) -> NumberPage<i64> = erasure_scans::conversation_handsets(after);
    fn conversation_page(after: Option<ConversationKey>, limit: usize) -> Vec<(ConversationKey, Timestamp)>
        = inbound::read_conversation_page(after.as_ref(), limit);
    fn count_reports(of: ConnectionId) -> u64 = reports::count_reports(of);
    fn count_set_aside() -> SetAsideCount = set_aside::count_set_aside();
    fn customer_request(id: u64) -> Option<CustomerRequest> = customer_requests::find(id);
    fn customer_requests(account: Option<AccountId>, state: Option<CustomerRequestState>, before: Option<u64>, limit: u32)
        -> Vec<CustomerRequest> = customer_requests::page(account, state, before, limit);
    fn database_bytes() -> u64 = readers::database_bytes();
    fn day_totals(account: AccountId, days: (Day, Day)) -> Vec<DayTotals> = day_totals::between(account, days);
    fn delivery_rows(from: Day, to: Day, carrier: Option<CarrierId>) -> Vec<DeliveryRow>
        = delivery_figures::delivery_rows(from, to, carrier);
    fn due_events(endpoint: Endpoint, after: Option<(Timestamp, EventId)>, now: Timestamp, limit: usize) -> Due
        = webhook_due::due_events(endpoint, after, now, limit);
    fn expired_late_parts(carrier: CarrierId, expired_by: Timestamp, after: Option<LatePlace>, limit: u32) -> LatePage
        = late_parts::expired_late_parts(carrier, expired_by, after, limit);
    fn events_about(messages: Arc<HashSet<MessageId>>, after: Option<EventPlace>) -> Page<EventPlace>
        = erasure_scans::events_about(&messages, after);
    fn failing_endpoints() -> Vec<FailingEndpoint> = webhook_due::failing_endpoints();
    fn given_up(account: Option<AccountId>, after: Option<ReportId>, limit: u32) -> Vec<GivenUpReport>
        = given_up_reports::list_given_up(account, after, limit);
    fn mo_messages(wanted: Vec<(ReportId, AccountId, u64)>) -> Vec<(ReportId, MoMessage)>
        = engine_reads::mo_messages(wanted);
    fn webhook_attempts(account: AccountId, event: EventId) -> Option<Vec<WebhookAttempt>>
        = webhook_listing::find_attempts(account, event);
    fn webhook_content(account: AccountId, event: EventId) -> Option<WebhookContent>
        = webhook_due::find_content(account, event);
    fn webhook_event(account: AccountId, event: EventId) -> Option<WebhookRecord> = webhook_listing::find_event(account, event);
    fn webhook_events(account: AccountId, filter: WebhookFilter, before: Option<EventId>, limit: u32) -> Vec<WebhookRecord>
        = webhook_listing::list_events(account, filter, before, limit);
    fn webhook_figures(account: AccountId) -> Vec<WebhookFigures> = webhook_listing::account_figures(account);
    fn inbound(account: AccountId, since: u64, limit: u32) -> Vec<InboundRecord>
        = inbound::read_inbound_page(account, since, limit);
    fn inbound_parties(account: AccountId, before: Option<u64>, limit: u32) -> Vec<InboundParties>
        = inbound::read_parties(account, before, limit);
    fn inbound_records(account: AccountId, ids: Vec<u64>) -> Vec<InboundRecord> = inbound::read_records(account, &ids);
    fn inbound_waiting(connection: ConnectionId, account: AccountId, limit: u32) -> Vec<u64>
        = reports::inbound_waiting(connection, account, limit);
    fn inbound_from(scopes: Arc<ErasureScopes>, after: Option<InboundKey>) -> Page<CoveredInbound, InboundKey>
        = erasure::inbound_from(&scopes, after);
    fn inbound_sources(after: Option<InboundKey>) -> NumberPage<InboundKey> = erasure_scans::inbound_sources(after);
    fn kept_erasures() -> Vec<KeptErasure> = erasure_scans::kept();
    fn ledger(account: AccountId, before: Option<i64>, limit: u32) -> Vec<LedgerRow> = ledger::page(account, before, limit);
    fn message(account: AccountId, id: MessageId) -> Option<MessageRecord> = records::message(account, id);
    fn message_named(account: AccountId, name: MessageName) -> Option<MessageRecord> = engine_reads::message_named(account, name);
    fn message_text(account: AccountId, id: MessageId) -> Option<String> = text::text_of(account, id);
    fn messages_to(scopes: Arc<ErasureScopes>, after: Option<MessageId>) -> Page<CoveredMessage, MessageId>
        = erasure::messages_to(&scopes, after);
    fn newest_message() -> Option<MessageId> = erasure_scans::newest_message();
    fn next_key_step(limits: KeyLimits) -> Option<KeyStep> = engine_reads::next_key_step(limits);
    fn old_events(after: EndedPlace, before: Timestamp) -> OldEvents = webhook_purging::old_events(after, before);
    fn on_transmitters(connection: ConnectionId, after: ReportId, limit: usize) -> OnTransmitters
        = reports::on_transmitters(connection, after, limit);
    fn open_reviews() -> OpenReviews = reviews::count_open();
    fn open_reviews_of(account: AccountId, limit: u32) -> u32 = reviews::count_open_of(account, limit);
    fn review_of_text(account: AccountId, digest: [u8; 16]) -> Option<ReviewCase> = reviews::find_by_digest(account, &digest);
    fn opt_outs(account: AccountId, after: Option<Msisdn>, limit: u32) -> Vec<OptOut>
        = opt_outs::read_opt_out_page(account, after, limit);
    fn opted_out(account: AccountId, number: Msisdn) -> Option<OptOut> = opt_outs::find_opt_out(account, number);
    fn parked(carrier: CarrierId, limit: u32) -> Vec<ParkedReceipt> = parked_receipts::latest_parked(carrier, limit);
    fn parked_numbers(after: Option<ParkedKey>) -> NumberPage<ParkedKey> = erasure_scans::parked_numbers(after.as_ref());
    fn parked_page(carrier: CarrierId, ids: IdConversion, after: Option<RemoteId>) -> ParkedPage
        = engine_reads::parked_page(carrier, ids, after.as_ref());
    fn parts_after(after: Option<StoredKey>, limit: u32) -> PartPage = part_rows::parts_after(after, limit);
    fn posted(account: AccountId, reference: String) -> Option<LedgerRow> = ledger::by_reference(account, &reference);
    fn provisioned() -> Vec<ProvisionedRow> = catalogue::read_provisioned();
    fn recipients(after: Option<MessageId>) -> NumberPage<MessageId> = erasure_scans::recipients(after);
    fn responses_naming(scopes: Arc<ErasureScopes>, after: Option<AttemptKey>) -> Page<AttemptKey>
        = erasure_scans::responses_naming(&scopes, after);
    fn reports_about(messages: Arc<HashSet<MessageId>>, after: Option<ReportPlace>) -> Page<ReportPlace>
        = erasure_scans::reports_about(&messages, after);
    fn receipt_losses(from: Day, to: Day) -> Vec<ReceiptLoss> = parked_receipts::receipt_losses(from, to);
    fn review(id: u64) -> Option<ReviewCase> = reviews::find(id);
    fn reviewed_numbers(after: Option<i64>) -> NumberPage<i64> = erasure_scans::reviewed_numbers(after);
    fn reviews_after(after: Option<u64>, limit: usize) -> Vec<ReviewCase> = reviews::page_after(after, limit);
    fn reviews(account: Option<AccountId>, state: Option<ReviewState>, before: Option<u64>, limit: u32) -> Vec<ReviewCase>
        = reviews::page(account, state, before, limit);
    fn record_lines(id: MessageId) -> Vec<StoredLine> = timeline::stored_lines(id);
    fn record_texts(account: AccountId, candidates: Candidates, needle: Needle, rows: u32) -> TextMatches
        = text::match_texts(account, &candidates, &needle, rows);
    fn set_aside(after: i64, limit: u32) -> Vec<SetAside> = set_aside::set_aside_after(after, limit);
    fn statement(account: AccountId, days: (Day, Day)) -> Statement = engine_reads::read_statement(account, days);
    fn recent_carrier_ids(carrier: CarrierId, limit: usize) -> Vec<AssignedId> = carrier_ids::sample(carrier, limit);
    fn unassigned_sources(after: Option<i64>) -> NumberPage<i64> = erasure_scans::unassigned_sources(after);
    fn unassigned_inbound(since: Option<MessageId>, limit: u32) -> Vec<UnassignedMo>
        = inbound::read_unassigned_page(since, limit);
    fn unnamed_parts(after: Option<UnnamedPart>, limit: usize) -> Vec<UnnamedPart>
        = unnamed_parts::read_unnamed_page(after.as_ref(), limit);
    fn user_token(digest: TokenDigest) -> Option<UserToken> = user_tokens::find(digest);
    fn user_tokens(user: u32, limit: usize) -> Vec<UserToken> = user_tokens::of_user(user, limit);
    fn waiting(carrier: CarrierId, after: Option<QueuePosition>, limit: usize) -> WaitingPage
        = waiting_messages::read_page(carrier, after, limit);
    fn waiting_endpoints() -> Vec<(Endpoint, Timestamp)> = webhook_due::waiting_endpoints();
}

impl Backend {
    /// Returns the tables as the record reads them.
    pub(crate) fn record_source(&self, folder: &Path) -> Result<RecordSource, StoreError> {
        Ok(match self {
            Backend::Sqlite(database) => RecordSource::open(folder, Some(database.shared_progress()))?,
            Backend::Postgres(database) => RecordSource::of(database.reader()?),
        })
    }

    /// Reads at most `limit` reports of a connection after `after` and passes them to `then`, also if the future is
    /// dropped meanwhile.
    pub(crate) async fn report_page<T: Send + 'static>(
        &self,
        of: ConnectionId,
        after: ReportId,
        limit: usize,
        then: impl FnOnce(ReportPage) -> T + Send + 'static,
    ) -> Result<T, StoreError> {
        let read = move |connection: &Connection| Ok(then(reports::read_page(connection, of, after, limit)?));
        match self {
            Backend::Sqlite(database) => database.read(read).await,
            Backend::Postgres(database) => database.read(read).await,
        }
    }

    /// Returns the id of the store and its last batch, for a process that does not write.
    pub(crate) fn shared_position(&self) -> Result<StorePosition, StoreError> {
        match self {
            Backend::Sqlite(_) => Err(StoreError::damaged("the embedded store has one process")),
            Backend::Postgres(database) => Ok(nodes::store_position(&database.reader()?)?),
        }
    }

    /// Returns when the newest message was accepted, and all entries of the setup.
    pub(crate) fn contents(&self) -> Result<(Option<Timestamp>, Vec<CatalogueRow>), StoreError> {
        match self {
            Backend::Sqlite(_) => Err(StoreError::damaged("the embedded store has one process")),
            Backend::Postgres(database) => {
                let reader = database.reader()?;
                let newest = SqlTables::of(&reader).read()?.newest_message()?.map(MessageId::accepted_at);
                Ok((newest, catalogue::read(&reader)?))
            }
        }
    }

    /// Returns the fingerprint of the pepper that the store belongs to, if it knows one.
    pub(crate) fn pepper_fingerprint(&self) -> Result<Option<PepperFingerprint>, StoreError> {
        match self {
            // Its pepper is in the same folder, or named in the settings.
            Backend::Sqlite(_) => Ok(None),
            Backend::Postgres(database) => database.pepper(),
        }
    }

    /// Claims the store for a pepper. Returns false if it belongs to another one.
    pub(crate) fn claim_pepper(&self, fingerprint: PepperFingerprint) -> Result<bool, StoreError> {
        match self {
            Backend::Sqlite(_) => Ok(true),
            Backend::Postgres(database) => database.claim_pepper(fingerprint),
        }
    }

    /// Makes a copy durable that the writer has completed. Returns its size in bytes.
    pub(crate) async fn finish_copy(&self, file: PathBuf) -> Result<u64, StoreError> {
        let finish = match self {
            Backend::Sqlite(_) => sqlite_copying::finish,
            Backend::Postgres(_) => return Err(StoreError::NotEmbedded),
        };
        let finished = tokio::task::spawn_blocking(move || finish(&file)).await;
        Ok(finished.map_err(|_| StoreError::damaged("the task that finished a copy panicked"))??)
    }

    /// Sets how a read makes the writer flush, if it has to see batches that are not in the database yet.
    pub(crate) fn set_wake_writer(&self, wake: impl Fn() + Send + Sync + 'static) {
        match self {
            Backend::Sqlite(database) => database.progress().set_wake_writer(wake),
            // A committed batch is in the database.
            Backend::Postgres(_) => {}
        }
    }

    /// Makes later reads fail with [`StoreError::Closed`]. Running reads complete.
    pub(crate) fn close(&self) {
        match self {
            Backend::Sqlite(database) => database.close(),
            Backend::Postgres(database) => database.close(),
        }
    }
}

/// Each backend recognises its own errors. An error of the store that passed through a table comes out unchanged.
impl From<TableError> for StoreError {
    fn from(error: TableError) -> StoreError {
        let error = match errors::from_sqlite(error.into_inner()) {
            Ok(error) => return error,
            Err(error) => error,
        };
        match error.downcast::<StoreError>() {
            Ok(error) => *error,
            Err(error) => StoreError::Damaged(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn store_error_that_passed_through_a_table_error_is_unchanged() {
        let error = StoreError::from(TableError::from(StoreError::CopyInProgress));
        assert!(matches!(error, StoreError::CopyInProgress), "{error}");
    }
}
