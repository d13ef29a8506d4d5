//! A store in a folder of its own with a clock that the test moves, and the actors around it: customers who send, and
//! links that answer for a carrier.

use hermod_domain::carrier::IdConversion;
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId, MessageId, RemoteId};
use hermod_domain::lifecycle::{DoubtPolicy, MessageState, RefusedFor, Verdict};
use hermod_domain::money::Money;
use hermod_domain::phone::Msisdn;
use hermod_domain::sender::Sender;
use hermod_domain::text::{Encoding, MessageText};
use hermod_domain::time::Timestamp;
use hermod_store::{
    AcceptOutcome, Acceptance, Balance, DailyLimits, Handout, Job, KeyClaim, LedgerEntry, LedgerKind,
    LinkKind, LinkPort, MessageRecord, OpenOptions, PostOutcome, ReceiptOutcome, ReceiptRecord,
    ResponseRecord, Store, StoreError, SubmitResponse, TargetCarrier,
};
use rusqlite::Connection;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;
use tokio::time::error::Elapsed;

pub(crate) const ALICE: AccountId = AccountId::new(1);
pub(crate) const BOB: AccountId = AccountId::new(2);
pub(crate) const ACME: CarrierId = CarrierId::new(1);
pub(crate) const OTHER: CarrierId = CarrierId::new(2);
/// What a message costs in these stories, in millionths.
pub(crate) const PRICE: i64 = 65_000;
pub(crate) const IN_DOUBT_WAIT: Duration = Duration::from_secs(30);
pub(crate) const VALIDITY: Duration = Duration::from_secs(72 * 3600);
/// How long receipts are waited for beyond validity where the catalogue does not say.
pub(crate) const RECEIPT_WAIT: Duration = Duration::from_secs(24 * 3600);
/// Long enough for a loaded machine; nothing waits this long unless it is broken.
const PATIENCE: Duration = Duration::from_secs(20);

/// Waits for `future` for at most `limit` of real time. The error says that the limit passed first.
#[expect(clippy::disallowed_methods, reason = "what a test waits for here happens in real time")]
pub(crate) async fn within<T>(limit: Duration, future: impl Future<Output = T>) -> Result<T, Elapsed> {
    tokio::time::timeout(limit, future).await
}

/// Blocks the calling thread: for what the store's own threads do in real time.
#[expect(clippy::disallowed_methods, reason = "what a test waits for here happens in real time")]
pub(crate) fn block(pause: Duration) {
    std::thread::sleep(pause);
}

pub(crate) const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// 2026-11-14, half past twelve: well away from midnight.
pub(crate) const fn noon() -> Timestamp {
    Timestamp::from_millis(1_794_659_400_000)
}

pub(crate) fn options(folder: &Path, now: Timestamp) -> OpenOptions {
    OpenOptions { folder: folder.to_owned(), low_water_bytes: 0, in_doubt_wait: IN_DOUBT_WAIT, now }
}

/// Whom Alice writes to, if a story says nothing else.
pub(crate) fn recipient() -> Msisdn {
    Msisdn::from_number(4_915_112_345_678).expect("a number")
}

/// One message of Alice's, to be changed where a story needs it.
pub(crate) fn sms(now: Timestamp) -> Acceptance {
    Acceptance {
        account: ALICE,
        connection: ConnectionId::new(1),
        carrier: ACME,
        to: recipient(),
        from: Sender::parse("Hermod").expect("a sender"),
        text: MessageText::parse("hello").expect("a text"),
        encoding: Encoding::Gsm7,
        parts: 1,
        whole: false,
        tlvs: None,
        shape: None,
        origin: None,
        reply_to: None,
        cost: Money::from_micros(PRICE),
        credit_limit: Money::ZERO,
        minimum: Money::ZERO,
        daily: DailyLimits::default(),
        key: None,
        doubt: DoubtPolicy::ResendOnce,
        validity: VALIDITY,
        now,
    }
}

/// Takes back migrations 17 to 15.
pub(crate) const UNDO_15: &str = "ALTER TABLE unassigned_inbound RENAME TO unowned_inbound; DROP TABLE message_exception; DROP TABLE carrier_refusal; DROP TABLE step_counter; PRAGMA user_version = 14;";

/// Takes back migrations 17 to 14, of a store that has no idempotency keys.
pub(crate) const UNDO_14: &str = "
    ALTER TABLE unassigned_inbound RENAME TO unowned_inbound;
    DROP TABLE message_exception; DROP TABLE carrier_refusal; DROP TABLE step_counter;
    DROP TABLE key_log; DROP TABLE key_bucket; DROP TABLE key_block; DROP TABLE key_filter;
    CREATE TABLE key_filter (day INTEGER NOT NULL, part INTEGER NOT NULL, upto INTEGER NOT NULL, filter BLOB NOT NULL,
                             PRIMARY KEY (day, part)) STRICT;
    DELETE FROM retention WHERE what = 3;
    PRAGMA user_version = 13;";

pub(crate) fn key(number: u64) -> KeyClaim {
    let mut digest = [0; 16];
    digest[..8].copy_from_slice(&number.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes());
    KeyClaim { digest, fingerprint: number }
}

pub(crate) fn remote(text: &str) -> RemoteId {
    RemoteId::from_text(text).expect("a carrier's id")
}

pub(crate) fn refused(status: u32) -> SubmitResponse {
    SubmitResponse::Refused { about: RefusedFor::Destination, status }
}

pub(crate) struct World {
    pub(crate) folder: TempDir,
    pub(crate) store: Store,
    pub(crate) now: Timestamp,
}

impl World {
    /// A new store in which Alice has paid in.
    pub(crate) async fn with_credit(micros: i64) -> World {
        let folder = TempDir::new().expect("a temporary folder");
        let store = Store::open(&options(folder.path(), noon())).expect("a new store");
        let world = World { folder, store, now: noon() };
        world.pays_in(ALICE, micros).await;
        world
    }

    pub(crate) async fn new() -> World {
        World::with_credit(1_000_000_000).await
    }

    pub(crate) async fn pays_in(&self, account: AccountId, micros: i64) {
        if micros != 0 {
            // A debt to begin with is an adjustment: nobody pays in less than nothing.
            let kind = if micros > 0 { LedgerKind::TopUp } else { LedgerKind::Adjustment };
            self.posts(self.entry(account, kind, micros)).await;
        }
    }

    pub(crate) fn entry(&self, account: AccountId, kind: LedgerKind, micros: i64) -> LedgerEntry {
        LedgerEntry {
            account,
            kind,
            amount: Money::from_micros(micros),
            note: "by a test".to_owned(),
            reference: None,
            now: self.now,
        }
    }

    pub(crate) async fn posts(&self, entry: LedgerEntry) -> Balance {
        match self.store.post(entry).await.expect("the store answers") {
            PostOutcome::Posted { balance, .. } => balance,
            other => panic!("not posted: {other:?}"),
        }
    }

    pub(crate) fn sms(&self) -> Acceptance {
        sms(self.now)
    }

    pub(crate) async fn sends(&self, acceptance: Acceptance) -> MessageId {
        match self.store.accept(acceptance).await.expect("the store answers") {
            AcceptOutcome::Accepted { message, .. } => message,
            other => panic!("not accepted: {other:?}"),
        }
    }

    pub(crate) async fn balance(&self, account: AccountId) -> i64 {
        self.store.balance(account).await.expect("a balance").balance.as_micros()
    }

    pub(crate) async fn sees(&self, message: MessageId) -> MessageRecord {
        let found = self.store.message(ALICE, message).await.expect("the store answers");
        found.expect("the message is there")
    }

    pub(crate) async fn state(&self, message: MessageId) -> MessageState {
        self.sees(message).await.state
    }

    pub(crate) async fn link(&self) -> Link {
        self.link_of(ACME, LinkKind::Sends).await
    }

    pub(crate) async fn link_of(&self, carrier: CarrierId, kind: LinkKind) -> Link {
        self.link_with_ids(carrier, kind, IdConversion::None).await
    }

    /// A link to a carrier that writes its ids so.
    pub(crate) async fn link_with_ids(&self, carrier: CarrierId, kind: LinkKind, ids: IdConversion) -> Link {
        let port = self.store.open_link(carrier, kind, ids).await.expect("a link");
        Link { port, carrier, now: self.now }
    }

    /// A link that has room for so many parts.
    pub(crate) async fn link_with_room(&self, slots: u32) -> Link {
        self.link_to(ACME, slots).await
    }

    pub(crate) async fn link_to(&self, carrier: CarrierId, slots: u32) -> Link {
        let link = self.link_of(carrier, LinkKind::Sends).await;
        link.has_room(slots).await;
        link
    }

    pub(crate) async fn sweeps(&self, now: Timestamp) -> usize {
        self.store.sweep(now).await.expect("a sweep")
    }

    /// Everything that was reported before is written: the writer answers in order.
    pub(crate) async fn settles(&self) {
        self.store.find_key(key(u64::MAX)).await.expect("the store answers");
    }

    pub(crate) async fn passes(&mut self, wait: Duration) {
        // What was said before comes first.
        self.settles().await;
        self.now = self.now.plus(wait);
        self.store.tick(self.now).await.expect("a tick");
        self.settles().await;
    }

    /// The gateway ends and starts again.
    pub(crate) async fn restarts(&mut self) {
        self.store.close().await.expect("the store closes");
        self.opens();
    }

    pub(crate) fn opens(&mut self) {
        self.store = Store::open(&options(self.folder.path(), self.now)).expect("the store opens again");
    }

    /// The process is killed: what is on the disk at this moment is all there is. It starts again elsewhere, because the
    /// one that was killed still lives in this test.
    pub(crate) fn is_killed(&mut self) {
        let folder = TempDir::new().expect("a temporary folder");
        for file in std::fs::read_dir(self.path()).expect("the folder").flatten() {
            let name = file.file_name();
            // The index of the log is shared memory: a killed process leaves none that counts.
            if !name.to_string_lossy().ends_with("-shm") {
                std::fs::copy(file.path(), folder.path().join(name)).expect("a copy");
            }
        }
        self.folder = folder;
        self.opens();
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A connection of the test's own, to look at rows or to damage them.
    pub(crate) fn raw(&self) -> Connection {
        raw(self.path())
    }

    pub(crate) fn timeline(&self, message: MessageId) -> Vec<String> {
        let raw = self.raw();
        let mut rows =
            raw.prepare("SELECT what FROM timeline WHERE message = ?1 ORDER BY rowid").expect("a query");
        let rows = rows.query_map([message.as_i64()], |row| row.get(0)).expect("rows");
        rows.collect::<Result<_, _>>().expect("texts")
    }

    #[track_caller]
    pub(crate) fn books_are_sound(&self) {
        books_are_sound(self.path());
    }
}

pub(crate) fn raw(folder: &Path) -> Connection {
    let connection = Connection::open(folder.join("hermod.db")).expect("the file opens");
    connection.busy_timeout(secs(5)).expect("a time-out");
    connection
}

#[track_caller]
pub(crate) fn books_are_sound(folder: &Path) {
    let report = Store::audit(folder).expect("an audit");
    assert!(report.is_clean(), "{:#?}", report.violations);
}

/// A bound link, driven by the test.
pub(crate) struct Link {
    pub(crate) port: LinkPort,
    pub(crate) carrier: CarrierId,
    pub(crate) now: Timestamp,
}

impl Link {
    pub(crate) async fn has_room(&self, slots: u32) {
        self.port.record(Vec::new(), Vec::new(), Vec::new(), slots, self.now).await.expect("a report");
    }

    /// What is handed out next; fails if nothing comes.
    pub(crate) async fn takes(&self) -> Handout {
        let handed = within(PATIENCE, self.port.handout()).await;
        handed.expect("something is handed out")
    }

    /// The sequence numbers of receipts that are recorded; fails if nothing comes.
    pub(crate) async fn takes_recorded(&self) -> Vec<u32> {
        sequences(&self.takes().await)
    }

    /// What became of the receipts.
    pub(crate) async fn takes_fates(&self) -> Vec<ReceiptOutcome> {
        self.takes().await.recorded.iter().map(|recorded| recorded.outcome).collect()
    }

    /// So many parts, however they are bundled.
    pub(crate) async fn takes_jobs(&self, count: usize) -> Vec<Job> {
        let mut jobs = Vec::new();
        while jobs.len() < count {
            jobs.extend(self.takes().await.jobs);
        }
        assert_eq!(jobs.len(), count);
        jobs
    }

    pub(crate) async fn takes_job(&self) -> Job {
        self.takes_jobs(1).await.remove(0)
    }

    /// Nothing is waiting to be taken. To be asked after `settles`.
    pub(crate) async fn has_nothing(&self) {
        let handed = within(Duration::ZERO, self.port.handout()).await;
        assert!(handed.is_err(), "handed out: {handed:?}");
    }

    pub(crate) async fn answers(&self, job: &Job, said: SubmitResponse) {
        self.says(vec![answer(job, said)], Vec::new()).await;
    }

    pub(crate) async fn accepts(&self, job: &Job, id: &str) {
        self.answers(job, SubmitResponse::Accepted(remote(id))).await;
    }

    pub(crate) async fn receipt(&self, id: &str, verdict: Verdict) {
        self.says(Vec::new(), vec![receipt(1, id, verdict)]).await;
    }

    pub(crate) async fn says(&self, answers: Vec<ResponseRecord>, receipts: Vec<ReceiptRecord>) {
        self.port.record(answers, receipts, Vec::new(), 0, self.now).await.expect("a report");
    }

    pub(crate) async fn closes(&self) -> Result<Handout, StoreError> {
        self.port.close().await
    }
}

/// A carrier that is given long messages in parts.
pub(crate) fn split(carrier: CarrierId) -> TargetCarrier {
    TargetCarrier { carrier, whole: false }
}

pub(crate) fn sequences(handout: &Handout) -> Vec<u32> {
    handout.recorded.iter().map(|recorded| recorded.sequence).collect()
}

pub(crate) fn receipt(sequence: u32, id: &str, verdict: Verdict) -> ReceiptRecord {
    ReceiptRecord {
        sequence,
        remote: Some(remote(id)),
        verdict,
        err: 0,
        word: None,
        source: None,
        sender: None,
    }
}

pub(crate) fn answer(job: &Job, answer: SubmitResponse) -> ResponseRecord {
    let Job { message, part, account, to, .. } = *job;
    ResponseRecord { message, part, account, to, response: answer, failover_to: None }
}
