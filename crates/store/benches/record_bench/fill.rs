//! The messages of the benchmark. Every property of a message follows from its number, so that queries can name what exists.

use crate::setup::instant;
use crate::traffic::{pay_in, submission};
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId, MessageId, PartNo, RemoteId};
use hermod_domain::lifecycle::{Billable, DeliveryOutcome, MessageState};
use hermod_domain::money::Money;
use hermod_domain::phone::Msisdn;
use hermod_domain::receipt::{DlrCode, ReceiptWords};
use hermod_domain::sender::Sender;
use hermod_domain::text::{Encoding, MessageText};
use hermod_domain::time::Timestamp;
use hermod_engine::steps::StepKind;
use hermod_store::record::{
    FilledMessage, HistoryStep, MessageCosts, RecordedMessage, Replay, RequestEntry, RequestKind, StepNote,
};
use hermod_store::{Acceptance, EventId, LinkNumber, RecordFiller, Store};
use std::path::Path;
use std::time::Duration;

pub(crate) const ACCOUNTS: u64 = 500;
pub(crate) const CARRIERS: u64 = 12;
/// The account whose messages have texts.
pub(crate) const TEXT_ACCOUNT: AccountId = AccountId::new(501);
pub(crate) const TEXTS: u64 = 50_000;
pub(crate) const DAYS: u32 = 30;
const DAY: Duration = Duration::from_secs(86_400);
/// Messages of one transaction.
const PER_FLUSH: u64 = 8_192;
/// Transactions between two folds of the figures: about an hour of traffic at ten million messages.
const FLUSHES_PER_FOLD: u64 = 2;
/// Submissions at a time.
const AT_A_TIME: u64 = 512;
const REQUESTS: u64 = 60_000;
/// Lines that fit in the feed.
const REQUESTS_PER_FLUSH: u64 = 10_000;

/// Calling codes with the digits that follow, and their shares in a hundred.
const DESTINATIONS: [(u64, u32, u64); 9] = [
    (49_151, 8, 30),
    (49_172, 7, 12),
    (44_7911, 6, 14),
    (336, 8, 12),
    (1_202, 7, 12),
    (346, 8, 8),
    (39_33, 8, 6),
    (48_50, 7, 4),
    (35_840, 7, 2),
];

/// Returns a number that looks random.
pub(crate) fn mix(number: u64) -> u64 {
    let mixed = (number ^ number >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ mixed >> 31
}

/// All messages of the benchmark.
pub(crate) struct BenchTraffic {
    pub(crate) messages: u64,
    pub(crate) end_ms: i64,
}

impl BenchTraffic {
    pub(crate) fn ending_at(messages: u64, end_ms: i64) -> BenchTraffic {
        BenchTraffic { messages, end_ms }
    }

    pub(crate) fn end(&self) -> Timestamp {
        Timestamp::from_millis(self.end_ms)
    }

    pub(crate) fn begin(&self) -> Timestamp {
        self.end().minus(DAY * DAYS)
    }

    pub(crate) fn id(&self, number: u64) -> MessageId {
        let span = (DAY * DAYS).as_millis();
        let after = span * u128::from(number) / u128::from(self.messages.max(1));
        let at = self.begin().plus(Duration::from_millis(u64::try_from(after).expect("30 days")));
        // Another node than that of the store, which has messages of its own.
        MessageId::from_i64(MessageId::first_at(at).as_i64() | 1 << 10).expect("an id")
    }

    pub(crate) fn account(number: u64) -> AccountId {
        // A few accounts have most of the traffic.
        let share = mix(number) % 1_000;
        let place = share * share / 1_000 * ACCOUNTS / 1_000;
        AccountId::new(u32::try_from(1 + place).expect("a small number"))
    }

    pub(crate) fn connection(number: u64) -> ConnectionId {
        let second = u32::try_from(mix(number ^ 1) % 2).expect("a bit");
        ConnectionId::new(BenchTraffic::account(number).get() * 2 + second)
    }

    pub(crate) fn carrier(number: u64) -> CarrierId {
        let draw = mix(number ^ 2) % 1_000;
        // The last one has one message in a thousand.
        let carrier = if draw == 0 { CARRIERS } else { 1 + draw % (CARRIERS - 1) };
        CarrierId::new(u32::try_from(carrier).expect("a small number"))
    }

    pub(crate) fn sender(number: u64) -> Sender {
        let account = BenchTraffic::account(number);
        // A sender in a hundred thousand messages, on some days only.
        let text = match mix(number ^ 3) % 100_000 {
            0 => format!("Rare{}", number % 7),
            draw => format!("S{account}{}", ["a", "b", "c"][usize::try_from(draw % 3).expect("small")]),
        };
        Sender::parse(&text).expect("a sender")
    }

    pub(crate) fn recipient(number: u64) -> Msisdn {
        let mut draw = mix(number ^ 4) % 100;
        let (prefix, digits, _) = DESTINATIONS
            .into_iter()
            .find(|(_, _, share)| {
                let is_here = draw < *share;
                draw = draw.saturating_sub(*share);
                is_here
            })
            .expect("the shares make a hundred");
        let width = 10_u64.pow(digits);
        Msisdn::from_number(prefix * width + mix(number ^ 5) % width).expect("a number")
    }

    pub(crate) fn request(number: u64) -> String {
        format!("req-{:016x}", mix(number ^ 6))
    }

    pub(crate) fn key(number: u64) -> [u8; 16] {
        let mut key = [0; 16];
        key[..8].copy_from_slice(&mix(number ^ 7).to_be_bytes());
        key
    }

    pub(crate) fn remote(number: u64) -> RemoteId {
        RemoteId::from_text(&format!("{:016x}", mix(number ^ 8))).expect("an id")
    }

    fn state(&self, number: u64) -> MessageState {
        // Of the last messages many are open, of the others few.
        let is_recent = number + self.messages / 2_000 > self.messages;
        match mix(number ^ 9) % 1_000 {
            0..=4 => MessageState::Rejected,
            5..=14 => MessageState::Expired,
            15..=64 => MessageState::Undeliverable,
            65..=66 => MessageState::Submitted,
            _ if is_recent => MessageState::Enroute,
            _ => MessageState::Delivered,
        }
    }

    fn message(&self, number: u64) -> FilledMessage {
        let (id, carrier, state) = (self.id(number), BenchTraffic::carrier(number), self.state(number));
        let took = 400 + mix(number ^ 10) % 20_000;
        let step = |at_ms, kind| HistoryStep { at_ms, part: PartNo::FIRST, what: StepNote::Step(kind) };
        let mut steps = vec![
            step(2, StepKind::Sent { carrier, link: LinkNumber(u16::try_from(number % 8 + 1).unwrap_or(1)) }),
            step(31, StepKind::CarrierAccepted { carrier, remote: BenchTraffic::remote(number) }),
        ];
        let refund = (state == MessageState::Rejected).then_some(Money::from_micros(65_000));
        if state.is_final() {
            let billable = Billable { submitted: 1, delivered: 1 };
            let (verdict, words) = (DeliveryOutcome::Delivered, ReceiptWords::default());
            steps.push(step(took, StepKind::Receipt { carrier, verdict, err: 0, words }));
            steps.push(step(
                took,
                StepKind::Ended { state, code: DlrCode::Delivrd, err: 0, refund, billable },
            ));
            if number.is_multiple_of(2) {
                let event = EventId(number);
                steps.push(step(
                    took + 40,
                    StepKind::WebhookAttempt { event, attempt: 1, status: Some(200), took_ms: 35 },
                ));
            }
        }
        FilledMessage {
            message: RecordedMessage {
                id,
                account: BenchTraffic::account(number),
                connection: BenchTraffic::connection(number),
                carrier,
                from: BenchTraffic::sender(number),
                to: Some(BenchTraffic::recipient(number)),
                encoding: Encoding::Gsm7,
                parts: 1,
                cost: Money::from_micros(65_000),
                costs: MessageCosts::default(),
                state,
                code: state.is_final().then_some(DlrCode::Delivrd),
                err: 0,
                settled_at: state.is_final().then(|| id.accepted_at().plus(Duration::from_millis(took))),
                refund,
            },
            first_carrier: None,
            request: (!number.is_multiple_of(5)).then(|| BenchTraffic::request(number).into()),
            key: number.is_multiple_of(3).then(|| BenchTraffic::key(number)),
            steps,
        }
    }
}

/// Fills the record of a closed store.
pub(crate) fn fill(folder: &Path, traffic: &BenchTraffic) {
    let mut filler = RecordFiller::open(folder).expect("the record");
    let (began, mut next, mut flushes) = (instant(), 0, 0);
    while next < traffic.messages {
        let end = (next + PER_FLUSH).min(traffic.messages);
        filler.add((next..end).map(|number| traffic.message(number)).collect()).expect("a flush");
        (next, flushes) = (end, flushes + 1);
        if flushes % FLUSHES_PER_FOLD == 0 || next == traffic.messages {
            filler.fold(traffic.end()).expect("a fold");
        }
        if flushes % 64 == 0 {
            println!("  {next} of {} after {:.0} s", traffic.messages, began.elapsed().as_secs_f64());
        }
    }
    filler.finish().expect("the record closes");
}

/// Sends messages with texts through the store, as if over six days. One in a thousand has the word that is searched.
pub(crate) async fn send_texts(store: &Store, traffic: &BenchTraffic) {
    pay_in(store, TEXT_ACCOUNT).await;
    let step = DAY * 6 / u32::try_from(TEXTS).expect("a small number");
    let first = traffic.end().minus(DAY * 6);
    for from in (0..TEXTS).step_by(usize::try_from(AT_A_TIME).expect("a small number")) {
        let sent = (from..(from + AT_A_TIME).min(TEXTS)).map(|number| {
            let now = first.plus(step * u32::try_from(number).expect("a small number"));
            let word = if number % 1_000 == 0 { "Parcel" } else { "Code" };
            let text =
                format!("{word} {number}: valid for ten minutes, do not share it with anyone you know.");
            let text = MessageText::parse(&text).expect("a text");
            let acceptance = Acceptance { text, now, key: None, ..submission(TEXT_ACCOUNT, number) };
            let store = store.clone();
            #[expect(clippy::disallowed_methods, reason = "a benchmark submits from many tasks")]
            tokio::spawn(async move { store.accept(acceptance).await.expect("an outcome") })
        });
        for sent in sent.collect::<Vec<_>>() {
            sent.await.expect("a task");
        }
    }
    store.record().flush().await.expect("the record is complete");
}

/// Adds lines to the request log, half of them rejected.
pub(crate) async fn note_requests(store: &Store, traffic: &BenchTraffic) {
    for number in 0..REQUESTS {
        let account = BenchTraffic::account(number);
        let back = Duration::from_secs(6 * 86_400) / u32::try_from(REQUESTS).expect("small");
        let code = (number % 2 == 0).then(|| format!("code_{}", mix(number) % 20).into());
        store.record().note_request(RequestEntry {
            at: traffic.end().minus(back * u32::try_from(REQUESTS - number).expect("small")),
            account: Some(account),
            connection: Some(BenchTraffic::connection(number)),
            kind: RequestKind::Http,
            operation: "POST /api/v1/sms".into(),
            who: "live-1".into(),
            address: "192.0.2.1".parse().ok(),
            status: 400,
            code,
            reason: "The request was not valid.".into(),
            took_ms: 2,
            request: Some(BenchTraffic::request(number).into()),
            replay: Replay::No,
            message: None,
            recipient: None,
        });
        if number % REQUESTS_PER_FLUSH == REQUESTS_PER_FLUSH - 1 {
            store.record().flush().await.expect("the record is complete");
        }
    }
}
