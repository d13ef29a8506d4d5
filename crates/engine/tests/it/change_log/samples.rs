//! One sample of every change, with every value of the small enums in them.

use super::message_samples;
use super::values::*;
use hermod_domain::audit::{AuditEnd, AuditEntry, AuditKey, AuditPosting, SealPlace};
use hermod_domain::customer_request::{CustomerRequestKind, CustomerRequestState};
use hermod_domain::erasure::{ErasureScope, KeptErasure, NumberDigest};
use hermod_domain::ids::{PartNo, RemoteId};
use hermod_domain::money::Money;
use hermod_domain::numbers::{Country, Network};
use hermod_engine::block_filter::FilterBlock;
use hermod_engine::ops::{
    Balance, CatalogueRow, CustomerRequest, DayTotals, DeliveryFigures, Endpoint, EntryUse, EventId,
    LedgerKind, NewCustomerRequest, ProvisionedRow, TokenDigest, TokenPurpose, Usage, UserToken,
};
use hermod_engine::tables::*;
use std::time::Duration;

pub(super) fn all() -> Vec<Change> {
    let mut all = Vec::new();
    add(&mut all, accounts());
    add(&mut all, ledger());
    add(&mut all, setup());
    add(&mut all, users());
    add(&mut all, customer_requests());
    add(&mut all, statistics());
    add(&mut all, keys());
    add(&mut all, reviews());
    add(&mut all, webhook_events());
    add(&mut all, webhook_attempts());
    add(&mut all, erasures());
    add(&mut all, purges());
    message_samples::add_all(&mut all);
    all
}

pub(super) fn add<C: Into<Change>>(all: &mut Vec<Change>, samples: impl IntoIterator<Item = C>) {
    all.extend(samples.into_iter().map(Into::into));
}

/// Returns the changes of a row. Panics if the row does not read back from its columns, or the first of them are not its key.
pub(super) fn row_changes<R: StoredRow>(row: R) -> [RowChange<R>; 5] {
    let (key, values) = (row.key(), row.values());
    assert_eq!(key.values(), values[..R::table().key], "{}", R::table().name);
    assert_eq!(values.len(), R::table().columns.len(), "{}", R::table().name);
    let read = R::read(&mut ColumnReader::new(&|column| Ok(values[column].clone())));
    assert_eq!(read.expect("a row").values(), values, "{}", R::table().name);
    let range = ColumnRange { column: 1, first: -1, last: 300 };
    [
        RowChange::Add(row.clone()),
        RowChange::Put(row.clone()),
        RowChange::Merge(row, vec![1, 2]),
        RowChange::Delete(key),
        RowChange::DeleteIn(vec![range]),
    ]
}

fn accounts() -> Vec<Change> {
    let balance = Balance { balance: DEBT, credit_used: COST };
    let totals = DayTotals { day: DAY, messages: 70_000, spend: COST };
    let mut all = Vec::new();
    let message = message(1);
    add(&mut all, row_changes(AliasRow { account: ACCOUNT, alias: alias(), message }));
    add(&mut all, row_changes(LastAlias { account: ACCOUNT, last: alias() }));
    add(&mut all, row_changes(BalanceRow { account: ACCOUNT, balance }));
    add(&mut all, row_changes(DayTotalsRow { account: ACCOUNT, totals }));
    for source in OptOutSource::ALL {
        add(&mut all, row_changes(OptOut { source, ..OptOut::by_keyword(ACCOUNT, handset(), AT) }));
    }
    all
}

fn ledger() -> Vec<Change> {
    let posting = |kind: &LedgerKind| Posting {
        id: 9,
        account: ACCOUNT,
        at: AT,
        kind: *kind,
        change: Balance { balance: COST, credit_used: DEBT },
        message: Some(message(3)),
        reference: Some("invoice 7".to_owned()),
        note: "Paid: 12 €".to_owned(),
    };
    let mut all = Vec::new();
    LEDGER_KINDS.iter().for_each(|kind| add(&mut all, row_changes(posting(kind))));
    all
}

fn setup() -> Vec<Change> {
    let (kind, name, body) = ("carrier".to_owned(), "acme".to_owned(), r#"{"window":10}"#.to_owned());
    let (entry, as_provisioned) = (name.clone(), kind.clone());
    let mut all = Vec::new();
    add(&mut all, row_changes(CatalogueRow { kind, id: 5, name: entry, body: body.clone() }));
    add(&mut all, row_changes(ProvisionedRow { kind: as_provisioned, name, body }));
    for usage in Usage::ALL {
        add(&mut all, row_changes(EntryUse { kind: "carrier".to_owned(), id: 300, usage, at: AT }));
    }
    all
}

fn statistics() -> Vec<Change> {
    let cell = DeliveryCell {
        day: DAY,
        carrier: CARRIER,
        country: Some(Country::parse("DE").expect("a country")),
        network: Some(Network::parse("262-01").expect("a network")),
    };
    let figures = DeliveryFigures {
        sent: 1_000_000,
        delivered: 900,
        failed: 80,
        expired: 7,
        rejected: 6,
        times: [1, 2, 3, 4, 5, 600],
        time_ms: u64::MAX,
    };
    let mut all = Vec::new();
    add(&mut all, row_changes(cell.with(figures)));
    add(&mut all, row_changes(DeliveryCell { country: None, network: None, ..cell }.with(figures)));
    all
}

fn keys() -> Vec<KeyChange> {
    let entry = KeyEntry { digest: DIGEST, message: message(4), fingerprint: 0x8000_0000_0000_0102 };
    let (blocks, filter) =
        (vec![vec![entry], Vec::new(), vec![entry, entry]], FilterBlock([1, 2, 3, 4, 5, 6, 7, u64::MAX]));
    let bucket = |state: &KeyBucketState| {
        let (first, last) = (message(1), message(5_000));
        KeyChange::Bucket(KeyBucketRow {
            id: KeyBucketId(11),
            state: *state,
            blocks: 3,
            keys: 90,
            first,
            last,
        })
    };
    let mut all: Vec<KeyChange> = BUCKET_STATES.iter().map(bucket).collect();
    all.extend([
        KeyChange::AddToLog(vec![entry, entry]),
        KeyChange::ClearLog,
        KeyChange::DeleteLogUpTo(message(4)),
        KeyChange::DeleteBucket(KeyBucketId(11)),
        KeyChange::AddSegment {
            bucket: KeyBucketId(11),
            segment: KeySegment { no: 12, blocks, filter: vec![filter] },
        },
        KeyChange::DeleteSegment { bucket: KeyBucketId(11), no: 12 },
    ]);
    all
}

fn users() -> Vec<Change> {
    let entry = AuditEntry {
        at: AT,
        account: Some(ACCOUNT),
        by: "operator anna".to_owned(),
        from: "192.0.2.7".to_owned(),
        action: "key.update".to_owned(),
        subject: "shop-key-1".to_owned(),
        detail: "{\"revoked\":[false,true]}".to_owned(),
    };
    let digest = TokenDigest([9; 32]);
    let token = |purpose: TokenPurpose| UserToken {
        digest,
        user: 4,
        purpose,
        made_at: AT,
        expires_at: LATER,
        body: "{}".to_owned(),
    };
    let posting =
        AuditPosting { entry: 12, balance: Money::from_micros(3), credit_used: Money::from_micros(-4) };
    let row = AuditEnd::EMPTY.append(AuditKey::default(), entry, Some(posting));
    let mut all = Vec::new();
    let end = AuditEnd::from(&row);
    add(&mut all, row_changes(SealedEnd { end, seal: end.seal(AuditKey::default(), SealPlace::Database) }));
    add(&mut all, row_changes(row));
    for purpose in TokenPurpose::ALL {
        add(&mut all, row_changes(token(purpose)));
    }
    all
}

fn customer_requests() -> Vec<Change> {
    let made = |kind: CustomerRequestKind, state: CustomerRequestState| CustomerRequest {
        id: 12,
        request: NewCustomerRequest {
            account: ACCOUNT,
            kind,
            subject: "Shop".to_owned(),
            connection: Some(CONNECTION),
            details: "our brand".to_owned(),
            by: "anna@example.com".to_owned(),
            now: AT,
        },
        state,
        ended_at: Some(LATER),
        ended_by: "operator".to_owned(),
        reason: "approved".to_owned(),
    };
    let kinds = CustomerRequestKind::ALL.into_iter().map(|kind| made(kind, CustomerRequestState::Open));
    let states = CustomerRequestState::ALL.into_iter().map(|state| made(CustomerRequestKind::Sender, state));
    let mut all = Vec::new();
    kinds.chain(states).for_each(|request| add(&mut all, row_changes(request)));
    all
}

fn reviews() -> Vec<Change> {
    let case = |state: &ReviewState| ReviewCase {
        id: 8,
        account: ACCOUNT,
        digest: DIGEST,
        from: sender(),
        to: handset(),
        text: "visit bit.ly/1".to_owned(),
        rules: vec!["short-links".to_owned(), "second".to_owned()],
        opened_at: AT,
        last_at: LATER,
        seen: 300,
        state: *state,
        decided_at: (*state != ReviewState::Open).then_some(AT),
        decided_by: "anna".to_owned(),
        reason: "no links".to_owned(),
    };
    let mut all = Vec::new();
    REVIEW_STATES.iter().for_each(|state| add(&mut all, row_changes(case(state))));
    add(&mut all, row_changes(ReviewCounter { last: 300 }));
    all
}

fn webhook_events() -> Vec<WebhookEventChange> {
    let new = |key: EventKey, content: EventContent| {
        WebhookEventChange::Add(NewEvent { key, due_at: LATER, message: message(1), at: AT, content })
    };
    let end = |end: EventEnd| WebhookEventChange::End { key: EVENT, end, ended_at: LATER, attempts: 5 };
    let mut all = vec![WebhookEventChange::Last(EventId(77)), new(EVENT, EventContent::Inbound(130))];
    for kind in WEBHOOK_KINDS {
        let endpoint = Endpoint { account: ACCOUNT, kind: *kind };
        all.push(WebhookEventChange::Restore { key: EventKey { endpoint, ..EVENT }, due_at: LATER });
    }
    for form in DLR_FORMS {
        for status in report_statuses() {
            all.push(new(EVENT, EventContent::Dlr { connection: CONNECTION, status, err: 259, form: *form }));
        }
    }
    all.extend(event_ends().into_iter().map(end));
    all.extend(GIVE_UP_REASONS.iter().map(|reason| end(EventEnd::GivenUp(*reason))));
    all.extend([
        WebhookEventChange::Attempts { key: EVENT, attempts: 3 },
        WebhookEventChange::DueTime { key: EVENT, due_at: LATER, failures: 2 },
        WebhookEventChange::PutOff {
            key: EVENT,
            due_at: LATER,
            counts: EventAttempts { failures: 2, attempts: 3 },
        },
        WebhookEventChange::EndedAttempts { key: EVENT, attempts: 4 },
        WebhookEventChange::DeleteEndedBy { range: EVENTS, ended_by: AT },
        WebhookEventChange::DeleteAttemptsWithoutEvent(EVENTS),
    ]);
    all
}

fn webhook_attempts() -> Vec<Change> {
    let attempt = |outcome: StoredOutcome| {
        let took = Duration::new(1, 250_000_000);
        StoredAttempt { key: EVENT, no: 2, at: AT, took, outcome, response: b"busy \xff".to_vec() }
    };
    let mut all = Vec::new();
    outcomes_of_attempts().into_iter().for_each(|outcome| add(&mut all, row_changes(attempt(outcome))));
    all
}

fn erasures() -> Vec<ErasureChange> {
    let origin = OriginRow { origin: origin(), alias: Some(alias()) };
    let others = |kind, account| {
        let scope = ErasureScope { number: handset(), account, until: LATER };
        ErasureChange::Others { kind, scope }
    };
    vec![
        ErasureChange::Message { message: message(1), to: 0, origin: Some(origin) },
        ErasureChange::UnnamedParts { carrier: CARRIER, to: handset(), message: message(1) },
        ErasureChange::Inbound { key: InboundKey { account: ACCOUNT, id: 130 }, from: 0 },
        others(ErasableKind::Review, Some(ACCOUNT)),
        others(ErasableKind::Conversation, None),
        others(ErasableKind::ParkedReceipt, None),
        others(ErasableKind::UnassignedInbound, None),
        ErasureChange::CarrierId(DayCarrierId {
            day: AT.day(),
            carrier: CARRIER,
            remote: RemoteId::from_text("0aB").expect("an id"),
            part: PartKey { account: ACCOUNT, message: message(1), part: PartNo::FIRST },
        }),
        ErasureChange::Response(AttemptKey { event: EVENT, no: 2 }),
        ErasureChange::Keep {
            erasure: KeptErasure { digest: NumberDigest([3; 32]), account: Some(ACCOUNT), at: AT },
            delete_before: LATER,
        },
    ]
}

fn purges() -> Vec<PurgeChange> {
    let mark = |mark: &PurgeMark| PurgeChange::Mark { mark: *mark, last: message(900) };
    let mut all: Vec<PurgeChange> = MARKS.iter().map(mark).collect();
    all.extend([
        PurgeChange::DeleteTexts(messages()),
        PurgeChange::Origin { message: message(2), origin: OriginRow { origin: origin(), alias: None } },
        PurgeChange::DeleteMessages(messages()),
        PurgeChange::DeleteTimelines(messages()),
    ]);
    all
}
