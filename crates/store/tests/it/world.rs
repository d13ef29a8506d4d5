//! Test fixture: a store in a temporary folder with a manual clock, and links driven by the test.

mod link;
mod postgres;
mod raw;
mod setup;

pub(crate) use link::Link;
pub(crate) use postgres::{on_postgres, server, server_address, server_at};
pub(crate) use raw::{Lock, Raw, blob, raw, sqlite};
pub(crate) use setup::store_setup;

use hermod_domain::believed_cost::BelievedCost;
use hermod_domain::carrier::IdConversion;
use hermod_domain::cost::{CostBasis, CostTerms};
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId, CostId, MessageId, RemoteId};
use hermod_domain::lifecycle::{DeliveryOutcome, DoubtPolicy, MessageState, RejectionCause};
use hermod_domain::money::{Currency, Money};
use hermod_domain::phone::Msisdn;
use hermod_domain::receipt::ReceiptWords;
use hermod_domain::sender::Sender;
use hermod_domain::text::{Encoding, MessageText};
use hermod_domain::time::Timestamp;
use hermod_store::SubmitNote;
use hermod_store::{
    AcceptOutcome, Acceptance, AuditReport, Balance, DailyLimits, Handout, Job, KeyClaim, LedgerEntry,
    LedgerKind, LinkKind, LinkNumber, MessageRecord, OpenOptions, PostOutcome, ReceiptRecord, ResponseRecord,
    Store, SubmitResponse, TargetCarrier,
};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;
use tokio::time::error::Elapsed;

pub(crate) const ALICE: AccountId = AccountId::new(1);
pub(crate) const BOB: AccountId = AccountId::new(2);
pub(crate) const ACME: CarrierId = CarrierId::new(1);
pub(crate) const OTHER: CarrierId = CarrierId::new(2);
/// The price of a message, in millionths.
pub(crate) const PRICE: i64 = 65_000;
pub(crate) const IN_DOUBT_WAIT: Duration = Duration::from_secs(30);
pub(crate) const VALIDITY: Duration = Duration::from_secs(72 * 3600);
/// The receipt wait after the validity if the catalogue has none.
pub(crate) const RECEIPT_WAIT: Duration = Duration::from_secs(24 * 3600);

/// The longest wait for what must happen. It only bounds a hang: how long things take depends on the machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(300);

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

/// Waits until the condition holds.
pub(crate) async fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let holds = async {
        while !is_so() {
            tokio::task::spawn_blocking(|| block(Duration::from_millis(20))).await.expect("a pause");
        }
    };
    within(PATIENCE, holds).await.unwrap_or_else(|_| panic!("waited {PATIENCE:?} in vain: {what}"));
}

pub(crate) const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// 2026-11-14 12:30 UTC, far from midnight.
pub(crate) const fn noon() -> Timestamp {
    Timestamp::from_millis(1_794_659_400_000)
}

pub(crate) fn options(folder: &Path, now: Timestamp) -> OpenOptions {
    OpenOptions {
        folder: folder.to_owned(),
        server: server(folder),
        low_water_bytes: 0,
        in_doubt_wait: IN_DOUBT_WAIT,
        record: false,
        now,
    }
}

/// Gives Alice this much, on any handle of a store.
pub(crate) async fn top_up(store: &Store, micros: i64) {
    let entry = LedgerEntry {
        account: ALICE,
        kind: LedgerKind::TopUp,
        amount: Money::from_micros(micros),
        note: "by a test".to_owned(),
        reference: None,
        now: noon(),
    };
    store.money().post(entry).await.expect("a balance");
}

/// The default recipient.
pub(crate) fn recipient() -> Msisdn {
    Msisdn::from_number(4_915_112_345_678).expect("a number")
}

/// Returns a message of Alice's with default fields.
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
        options: None,
        origin: None,
        reply_to: None,
        cost: Money::from_micros(PRICE),
        carrier_cost: Some(carrier_cost(58_000, "EUR", CostBasis::Submit)),
        credit_limit: Money::ZERO,
        minimum: Money::ZERO,
        daily: DailyLimits::default(),
        velocity: Vec::new(),
        key: None,
        doubt: DoubtPolicy::ResendOnce,
        note: SubmitNote::default(),
        validity: VALIDITY,
        now,
    }
}

/// Returns what a carrier asks for a part.
pub(crate) fn carrier_cost(per_part: i64, currency: &str, basis: CostBasis) -> BelievedCost {
    let (per_part, entry) = (Money::from_micros(per_part), CostId::new(7));
    let currency = Currency::parse(currency).expect("a currency");
    BelievedCost { terms: CostTerms { per_part, currency, basis, entry }, whole: false }
}

pub(crate) fn key(number: u64) -> KeyClaim {
    let mut digest = [0; 16];
    digest[..8].copy_from_slice(&number.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes());
    KeyClaim { digest, fingerprint: number }
}

pub(crate) fn remote(text: &str) -> RemoteId {
    RemoteId::from_text(text).expect("a carrier's id")
}

pub(crate) fn refused(status: u32) -> SubmitResponse {
    SubmitResponse::Refused { about: RejectionCause::Destination, status }
}

pub(crate) struct World {
    pub(crate) folder: TempDir,
    pub(crate) store: Store,
    pub(crate) now: Timestamp,
}

impl World {
    /// Returns a new store in which Alice has this balance.
    pub(crate) async fn with_credit(micros: i64) -> World {
        World::begin(micros, false).await
    }

    /// Returns a new store with the record.
    pub(crate) async fn with_record() -> World {
        World::begin(1_000_000_000, true).await
    }

    async fn begin(micros: i64, record: bool) -> World {
        let folder = TempDir::new().expect("a temporary folder");
        let options = OpenOptions { record, ..options(folder.path(), noon()) };
        let store = Store::open(&options).expect("a new store");
        if record {
            // A new record catches up for a moment, and lacks the steps of that moment.
            store.record().flush().await.expect("the record is complete");
        }
        let world = World { folder, store, now: noon() };
        world.pay_in(ALICE, micros).await;
        world
    }

    pub(crate) async fn new() -> World {
        World::with_credit(1_000_000_000).await
    }

    pub(crate) async fn pay_in(&self, account: AccountId, micros: i64) {
        if micros != 0 {
            // A negative opening balance is an adjustment, because top-ups are positive.
            let kind = if micros > 0 { LedgerKind::TopUp } else { LedgerKind::Adjustment };
            self.post(self.entry(account, kind, micros)).await;
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

    pub(crate) async fn post(&self, entry: LedgerEntry) -> Balance {
        match self.store.money().post(entry).await.expect("the store answers") {
            PostOutcome::Posted { balance, .. } => balance,
            other => panic!("not posted: {other:?}"),
        }
    }

    pub(crate) fn sms(&self) -> Acceptance {
        sms(self.now)
    }

    pub(crate) async fn send(&self, acceptance: Acceptance) -> MessageId {
        match self.store.accept(acceptance).await.expect("the store answers") {
            AcceptOutcome::Accepted { message, .. } => message,
            other => panic!("not accepted: {other:?}"),
        }
    }

    pub(crate) async fn balance(&self, account: AccountId) -> i64 {
        self.store.money().balance(account).await.expect("a balance").balance.as_micros()
    }

    pub(crate) async fn record(&self, message: MessageId) -> MessageRecord {
        let found = self.store.messages().find(ALICE, message).await.expect("the store answers");
        found.expect("the message is there")
    }

    pub(crate) async fn state(&self, message: MessageId) -> MessageState {
        self.record(message).await.state
    }

    pub(crate) async fn link(&self) -> Link {
        self.link_of(ACME, LinkKind::Sends).await
    }

    pub(crate) async fn link_of(&self, carrier: CarrierId, kind: LinkKind) -> Link {
        self.link_with_ids(carrier, kind, IdConversion::None).await
    }

    /// Opens a link to a carrier with this id conversion.
    pub(crate) async fn link_with_ids(&self, carrier: CarrierId, kind: LinkKind, ids: IdConversion) -> Link {
        let port = self.store.open_link(carrier, LinkNumber(1), kind, ids).await.expect("a link");
        Link { port, carrier, now: self.now }
    }

    /// Opens a link to ACME with this many free slots.
    pub(crate) async fn link_with_slots(&self, slots: u32) -> Link {
        self.link_to(ACME, slots).await
    }

    pub(crate) async fn link_to(&self, carrier: CarrierId, slots: u32) -> Link {
        let link = self.link_of(carrier, LinkKind::Sends).await;
        link.add_slots(slots).await;
        link
    }

    pub(crate) async fn sweep(&self, now: Timestamp) -> usize {
        self.store.sweep(now).await.expect("a sweep")
    }

    /// Waits until all earlier requests are written; the writer handles them in order.
    pub(crate) async fn flush(&self) {
        self.store.find_key(key(u64::MAX)).await.expect("the store answers");
    }

    pub(crate) async fn advance(&mut self, wait: Duration) {
        self.flush().await;
        self.now = self.now.plus(wait);
        self.store.tick(self.now).await.expect("a tick");
        self.flush().await;
    }

    /// Closes the store and opens it again.
    pub(crate) async fn restart(&mut self) {
        self.store.close().await.expect("the store closes");
        self.reopen();
    }

    pub(crate) fn reopen(&mut self) {
        let options =
            OpenOptions { record: self.store.record().is_kept(), ..options(self.folder.path(), self.now) };
        self.store = Store::open(&options).expect("the store opens again");
    }

    /// Opens a copy of the files as they are on disk now, as after a kill. A copy, because the first store is still open in
    /// this test.
    pub(crate) fn kill(&mut self) {
        let folder = copy_of(self.path());
        if server(self.path()).is_some() {
            // After the files, which take less time: the record must not complete itself meanwhile.
            postgres::copy(self.path(), folder.path());
        }
        self.folder = folder;
        self.reopen();
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Opens a second access to the tables, to read rows or to damage them.
    pub(crate) fn raw(&self) -> Raw {
        raw(self.path())
    }

    /// Opens a second connection to the embedded store, for what only SQLite has.
    pub(crate) fn sqlite(&self) -> rusqlite::Connection {
        sqlite(self.path())
    }

    pub(crate) fn timeline(&self, message: MessageId) -> Vec<String> {
        let query = format!("SELECT what FROM timeline WHERE message = {} ORDER BY rowid", message.as_i64());
        self.raw().texts(&query)
    }

    #[track_caller]
    pub(crate) fn assert_audit_clean(&self) {
        assert_audit_clean(self.path());
    }
}

/// How often an open store is copied until no file was written meanwhile.
const COPIES_MAX: u32 = 10_000;

/// Copies the files of an open store as they are at one moment, as a kill leaves them.
pub(crate) fn copy_of(folder: &Path) -> TempDir {
    // The shared-memory index of the log is rebuilt after a kill.
    let files = || {
        let all = std::fs::read_dir(folder).expect("the folder").flatten();
        let names = all.map(|file| file.file_name().into_string().expect("a name"));
        names.filter(|name| !name.ends_with("-shm")).collect::<BTreeSet<_>>()
    };
    for _ in 0..COPIES_MAX {
        let (copy, names) = (TempDir::new().expect("a temporary folder"), files());
        let copied =
            names.iter().all(|name| std::fs::copy(folder.join(name), copy.path().join(name)).is_ok());
        let is_same = |name: &String| {
            std::fs::read(folder.join(name)).ok() == std::fs::read(copy.path().join(name)).ok()
        };
        // What has not changed since it was copied is of the moment when the last file was.
        if copied && names.iter().all(is_same) && files() == names {
            return copy;
        }
    }
    panic!("the files of {} change all the time", folder.display());
}

/// Copies the database of a closed store to another folder.
pub(crate) fn copy_database(from: &Path, to: &Path) {
    match server(from) {
        Some(_) => postgres::copy(from, to),
        None => drop(std::fs::copy(from.join("hermod.db"), to.join("hermod.db")).expect("a copy")),
    }
}

/// Audits the store of a folder.
pub(crate) fn audit(folder: &Path) -> AuditReport {
    match server(folder) {
        Some(server) => Store::audit_server(&server, None).expect("an audit"),
        None => Store::audit(folder).expect("an audit"),
    }
}

#[track_caller]
pub(crate) fn assert_audit_clean(folder: &Path) {
    let report = audit(folder);
    assert!(report.is_clean(), "{:#?}", report.violations);
}

/// Returns a carrier that gets long messages in parts.
pub(crate) fn split(carrier: CarrierId) -> TargetCarrier {
    TargetCarrier { carrier, whole: false, cost: None }
}

pub(crate) fn sequences(handout: &Handout) -> Vec<u32> {
    handout.recorded.iter().map(|recorded| recorded.sequence).collect()
}

pub(crate) fn receipt(sequence: u32, id: &str, verdict: DeliveryOutcome) -> ReceiptRecord {
    ReceiptRecord {
        sequence,
        remote: Some(remote(id)),
        verdict,
        err: 0,
        word: None,
        words: ReceiptWords::default(),
        source: None,
        sender: None,
    }
}

/// Returns the receipt with the number of its recipient.
pub(crate) fn about(to: Msisdn, receipt: ReceiptRecord) -> ReceiptRecord {
    ReceiptRecord { source: Some(to), ..receipt }
}

pub(crate) fn answer(job: &Job, answer: SubmitResponse) -> ResponseRecord {
    let Job { message, part, account, to, .. } = *job;
    ResponseRecord { message, part, account, to, response: answer, failover_to: None }
}
