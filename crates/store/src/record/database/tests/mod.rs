//! Tests of the reads of the record, on records that are filled without a store.

mod requests;
mod search;
mod statistics;

use crate::record::database::schema;
use crate::record::database::writing::{Flush, RecordConnection};
use crate::record::pending::{PendingMessage, RecordPosition};
use crate::record::tally::{Collected, SharedCollected};
use crate::record::{FilledMessage, HistoryStep, MessageCosts, RecordedMessage, RequestEntry, StepNote};
use crate::sql::Connection;
use crate::sql::read_results::StorePosition;
use hermod_domain::believed_cost::BelievedCost;
use hermod_domain::cost::{CostBasis, CostTerms};
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId, CostId, IdMint, PartNo, RemoteId};
use hermod_domain::lifecycle::{Billable, MessageState};
use hermod_domain::money::Money;
use hermod_domain::phone::Msisdn;
use hermod_domain::receipt::DlrCode;
use hermod_domain::sender::Sender;
use hermod_domain::text::Encoding;
use hermod_domain::time::Timestamp;
use hermod_engine::ops::EventId;
use hermod_engine::steps::StepKind;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

const DAY: Duration = Duration::from_secs(86_400);

/// 2026-11-14 12:30 UTC.
fn noon() -> Timestamp {
    Timestamp::from_millis(1_794_659_400_000)
}

fn account(number: u32) -> AccountId {
    AccountId::new(number)
}

/// A record in a temporary folder.
struct Filled {
    folder: TempDir,
    writing: RecordConnection,
    collected: SharedCollected,
}

impl Filled {
    fn new() -> Filled {
        let folder = TempDir::new().unwrap();
        let writing =
            RecordConnection::open(folder.path(), StorePosition { id: [7; 16], sequence: 0 }).unwrap();
        Filled { folder, writing, collected: SharedCollected::default() }
    }

    fn add(&mut self, messages: &[FilledMessage], requests: &[RequestEntry]) {
        let mut messages: Vec<PendingMessage> =
            messages.iter().cloned().map(FilledMessage::pending).collect();
        messages.sort_unstable_by_key(|message| message.id);
        let position: RecordPosition = self.writing.position().unwrap();
        let flush = Flush { messages: &messages, requests, position, is_watched: false };
        let flushed = self.writing.flush(&flush).unwrap();
        self.collected.add(&flushed.counts);
    }

    fn fold(&self) {
        self.writing.fold(&self.collected, noon()).unwrap();
    }

    fn reader(&self) -> (Connection, Arc<Collected>) {
        (schema::open_for_reading(self.folder.path()).unwrap(), self.collected.lock().clone())
    }
}

const STATES: [MessageState; 7] = [
    MessageState::Queued,
    MessageState::Submitted,
    MessageState::Enroute,
    MessageState::Delivered,
    MessageState::Expired,
    MessageState::Undeliverable,
    MessageState::Rejected,
];
const SENDERS: [&str; 5] = ["Shop", "Bank", "+4917012345", "4917012345", "Alerts"];
/// Of two German networks, the United States, the United Kingdom, and none.
const RECIPIENTS: [Option<u64>; 6] = [
    Some(4_915_112_345_678),
    Some(4_917_212_345_678),
    Some(4_915_112_345_679),
    Some(12_025_550_123),
    Some(447_911_123_456),
    None,
];

/// Returns messages from 200 days ago to now, some of them in the same millisecond.
fn messages(count: u64) -> Vec<FilledMessage> {
    let mut mint = IdMint::new(0, None);
    let step = DAY * 200 / u32::try_from(count).unwrap();
    (0..count)
        .map(|number| {
            // Every third message has the time of the one before it.
            let at = noon()
                .minus(DAY * 200)
                .plus(step * u32::try_from(number - u64::from(number % 3 == 2)).unwrap());
            message(number, mint.mint(at).as_i64())
        })
        .collect()
}

/// Returns what the carrier of a message asks, which most messages know, and can bill.
fn costs(number: u64, state: MessageState) -> MessageCosts {
    let (per_part, entry) = (Money::from_micros(20_000), CostId::new(3));
    let currency = if number.is_multiple_of(3) { "EUR" } else { "USD" }.parse().unwrap();
    let terms = CostTerms { per_part, currency, basis: CostBasis::Submit, entry };
    MessageCosts {
        believed: (!number.is_multiple_of(7)).then_some(BelievedCost { terms, whole: false }),
        billable: state.is_final().then_some(Billable { submitted: 1, delivered: 0 }),
        earlier: Vec::new(),
    }
}

/// Returns the message with a number, whose properties follow from it.
fn message(number: u64, id: i64) -> FilledMessage {
    let id = hermod_domain::ids::MessageId::from_i64(id).unwrap();
    let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
    let pick = |shift: u32, count: u64| mixed.wrapping_shr(shift) % count;
    let of = u32::try_from(1 + pick(0, 3)).unwrap();
    let state = STATES[usize::try_from(pick(3, 7)).unwrap()];
    let carrier = CarrierId::new(u32::try_from(1 + pick(7, 3)).unwrap());
    let remote = RemoteId::from_text(&format!("cid-{}", number % 40)).unwrap();
    let step = |at_ms, kind| HistoryStep { at_ms, part: PartNo::FIRST, what: StepNote::Step(kind) };
    let sender = if number == 17 { "Once" } else { SENDERS[usize::try_from(pick(11, 5)).unwrap()] };
    let settled_at =
        state.is_final().then(|| id.accepted_at().plus(Duration::from_millis(100 + pick(5, 9_000))));
    let refunded = matches!(state, MessageState::Rejected | MessageState::Undeliverable);
    let mut digest = [0; 16];
    digest[..8].copy_from_slice(&(number / 2).to_be_bytes());
    FilledMessage {
        message: RecordedMessage {
            id,
            account: account(of),
            connection: ConnectionId::new(of * 10 + u32::from(number.is_multiple_of(2))),
            carrier,
            from: Sender::parse(sender).unwrap(),
            to: RECIPIENTS[usize::try_from(pick(15, 6)).unwrap()].and_then(Msisdn::from_number),
            encoding: Encoding::Gsm7,
            parts: u8::try_from(1 + pick(18, 3)).unwrap(),
            cost: Money::from_micros(65_000),
            costs: costs(number, state),
            state,
            code: state.is_final().then_some(DlrCode::Delivrd),
            err: 0,
            settled_at,
            refund: refunded.then(|| Money::from_micros(65_000)),
        },
        // Every fifth message moved.
        first_carrier: number.is_multiple_of(5).then(|| CarrierId::new(9)),
        request: number.is_multiple_of(4).then(|| format!("req-{}", number % 24).into()),
        key: number.is_multiple_of(3).then_some(digest),
        steps: vec![
            step(5, StepKind::CarrierAccepted { carrier, remote }),
            step(
                80,
                StepKind::WebhookAttempt {
                    event: EventId(number / 7),
                    attempt: 1,
                    status: Some(200),
                    took_ms: 3,
                },
            ),
        ],
    }
}
