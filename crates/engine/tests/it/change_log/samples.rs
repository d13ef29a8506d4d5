//! One sample of every change, with every value of the small enums in them.

use super::message_samples;
use super::values::*;
use hermod_domain::audit::{AuditEnd, AuditEntry, AuditKey, AuditPosting, SealPlace};
use hermod_domain::customer_request::{CustomerRequestKind, CustomerRequestState};
use hermod_domain::erasure::{ErasureScope, KeptErasure, NumberDigest};
use hermod_domain::ids::{PartNo, RemoteId};
use hermod_domain::money::Money;
use hermod_domain::numbers::{Country, Network};
use hermod_domain::time::Day;
use hermod_engine::block_filter::FilterBlock;
use hermod_engine::ops::{
    Balance, CatalogueRow, CustomerRequest, DayTotals, DeliveryFigures, Endpoint, EventId, LedgerKind,
    NewCustomerRequest, OptOut, ProvisionedRow, ReviewState, Screened, TokenDigest, TokenPurpose, UserToken,
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

fn accounts() -> Vec<Change> {
    let balance = Balance { balance: DEBT, credit_used: COST };
    let totals = DayTotals { day: DAY, messages: 70_000, spend: COST };
    let opt_out = OptOut { account: ACCOUNT, number: handset(), how: "STOP".to_owned(), now: AT };
    vec![
        AliasChange::Last { account: ACCOUNT, alias: alias() }.into(),
        AliasChange::Name { account: ACCOUNT, alias: alias(), message: message(1) }.into(),
        BalanceChange::Put { account: ACCOUNT, balance }.into(),
        DayTotalsChange::Put { account: ACCOUNT, totals }.into(),
        OptOutChange::Add(opt_out).into(),
        OptOutChange::Delete { account: ACCOUNT, number: handset() }.into(),
    ]
}

fn ledger() -> Vec<LedgerChange> {
    let posting = |kind: &LedgerKind| {
        LedgerChange::Add(Posting {
            id: 9,
            account: ACCOUNT,
            at: AT,
            kind: *kind,
            change: Balance { balance: COST, credit_used: DEBT },
            message: Some(message(3)),
            reference: Some("invoice 7".to_owned()),
            note: "Paid: 12 €".to_owned(),
        })
    };
    let mut all: Vec<LedgerChange> = LEDGER_KINDS.iter().map(posting).collect();
    let key = RolledUpKey { account: ACCOUNT, day: DAY, kind: LedgerKind::RolledUpCosts };
    all.push(LedgerChange::DeleteRefunds(messages()));
    all.push(LedgerChange::RolledUp { key, amount: Money::from_micros(i64::MIN) });
    all
}

fn setup() -> Vec<CatalogueRowChange> {
    let (kind, name, body) = ("carrier".to_owned(), "acme".to_owned(), r#"{"window":10}"#.to_owned());
    vec![
        CatalogueRowChange::Put(CatalogueRow {
            kind: kind.clone(),
            id: 5,
            name: name.clone(),
            body: body.clone(),
        }),
        CatalogueRowChange::Delete { kind: kind.clone(), id: 6 },
        CatalogueRowChange::PutProvisioned(ProvisionedRow { kind, name, body }),
    ]
}

fn statistics() -> Vec<DeliveryFigureChange> {
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
    vec![
        DeliveryFigureChange::Put { cell, figures },
        DeliveryFigureChange::Put { cell: DeliveryCell { country: None, network: None, ..cell }, figures },
        DeliveryFigureChange::DeleteBefore(Day::new(-1)),
    ]
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
    let mut all = vec![
        AuditLogChange::Add {
            seal: AuditEnd::from(&row).seal(AuditKey::default(), SealPlace::Database),
            row,
        }
        .into(),
        UserTokenChange::Delete(digest).into(),
        UserTokenChange::DeleteExpired(LATER).into(),
    ];
    add(&mut all, TokenPurpose::ALL.map(|purpose| UserTokenChange::Put(token(purpose))));
    all
}

fn customer_requests() -> Vec<CustomerRequestChange> {
    let put = |kind: CustomerRequestKind, state: CustomerRequestState| {
        CustomerRequestChange::Put(CustomerRequest {
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
        })
    };
    let kinds = CustomerRequestKind::ALL.into_iter().map(|kind| put(kind, CustomerRequestState::Open));
    let states = CustomerRequestState::ALL.into_iter().map(|state| put(CustomerRequestKind::Sender, state));
    kinds.chain(states).chain([CustomerRequestChange::Delete(12)]).collect()
}

fn reviews() -> Vec<ReviewChange> {
    let screened = Screened {
        account: ACCOUNT,
        from: sender(),
        to: handset(),
        text: "visit bit.ly/1".to_owned(),
        digest: DIGEST,
        rules: vec!["short-links".to_owned(), "second".to_owned()],
        now: AT,
    };
    let reopened = ReopenedReview { to: handset(), rules: vec!["one".to_owned()], at: AT, seen: 300 };
    let (by, reason) = ("anna".to_owned(), "no links".to_owned());
    let decision = |state: &ReviewState| ReviewChange::Decision {
        id: 8,
        state: *state,
        at: AT,
        by: by.clone(),
        reason: reason.clone(),
    };
    let mut all: Vec<ReviewChange> = REVIEW_STATES.iter().map(decision).collect();
    all.extend([
        ReviewChange::Add { id: 8, screened: Box::new(screened) },
        ReviewChange::Met { id: 8, last_at: LATER, seen: 301 },
        ReviewChange::Reopen { id: 8, reopened },
        ReviewChange::Delete(8),
    ]);
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
    ]);
    all
}

fn webhook_attempts() -> Vec<WebhookAttemptChange> {
    let put = |outcome: StoredOutcome| {
        let took = Duration::new(1, 250_000_000);
        let attempt = StoredAttempt { no: 2, at: AT, took, outcome, response: b"busy \xff".to_vec() };
        WebhookAttemptChange::Put { key: EVENT, attempt }
    };
    let mut all: Vec<WebhookAttemptChange> = outcomes_of_attempts().into_iter().map(put).collect();
    all.push(WebhookAttemptChange::DeleteUpTo { key: EVENT, last: 1 });
    all.push(WebhookAttemptChange::DeleteWithoutEvent(EVENTS));
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
        PurgeChange::DeleteAlias { account: ACCOUNT, alias: alias() },
        PurgeChange::DeleteInboundUpTo { account: ACCOUNT, last: 130 },
    ]);
    all
}
