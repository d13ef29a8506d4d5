//! Values in the samples: ids and times, and every variant of the small enums that changes contain.

use hermod_domain::believed_cost::BelievedCost;
use hermod_domain::cost::{CostBasis, CostTerms};
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId, CostId, MessageId, PartNo, RemoteId};
use hermod_domain::inbound::{Alphabet, MoEncoding};
use hermod_domain::lifecycle::{DeliveryOutcome, DoubtPolicy, MessageState, PartState};
use hermod_domain::money::{Currency, Money};
use hermod_domain::origin::{Alias, Origin, RegisteredDelivery, SmppAddress};
use hermod_domain::phone::Msisdn;
use hermod_domain::receipt::{DlrCode, ReportStatus};
use hermod_domain::sender::Sender;
use hermod_domain::text::Encoding;
use hermod_domain::time::{Day, Timestamp};
use hermod_domain::webhook::{DlrForm, WebhookKind};
use hermod_engine::ops::{CustomerTlvs, Endpoint, EventId, GiveUpReason, LedgerKind, ReportGiveUpReason};
use hermod_engine::steps::LateResponse;
use hermod_engine::tables::{
    EventEnd, EventKey, EventRange, KeyBucketState, MessageKey, MessageRange, PartKey, PurgeMark,
    ReviewState, StoredMessageKey, StoredOutcome, Wire,
};

/// A list of all variants of an enum. It does not compile if one is missing.
macro_rules! all {
    ($($name:ident: $of:ident [$($variant:ident),* $(,)?])*) => {$(
        pub(super) const $name: &[$of] = {
            const fn _is_listed(value: &$of) {
                match value {
                    $($of::$variant => (),)*
                }
            }
            &[$($of::$variant),*]
        };
    )*};
}

all! {
    ALPHABETS: Alphabet [Gsm, Ascii, Latin1, Cyrillic, Hebrew, Ucs2, Octets]
    BUCKET_STATES: KeyBucketState [Building, Live, Dropped]
    DLR_CODES: DlrCode [Delivrd, Acceptd, Undeliv, Rejectd, Expired, Unknown]
    DLR_FORMS: DlrForm [Full, Short]
    DOUBT_POLICIES: DoubtPolicy [Resend, ResendOnce, NeverResend]
    ENCODINGS: Encoding [Gsm7, Ucs2, Octets]
    GIVE_UP_REASONS: GiveUpReason [AttemptsUsedUp, NoAddress, NothingToTell]
    LATE_RESPONSES: LateResponse [
        Accepted, AcceptedWithoutId, NotAccepted, Throttled, TemporaryError, Refused, NoResponse,
    ]
    LEDGER_KINDS: LedgerKind [TopUp, Refund, Adjustment, Invoice, Payment, RolledUpCosts, RolledUpRefunds]
    MARKS: PurgeMark [Texts, Records, Keys]
    MESSAGE_STATES: MessageState [Queued, Submitted, Enroute, Delivered, Expired, Undeliverable, Rejected]
    OUTCOMES: DeliveryOutcome [Enroute, Accepted, Delivered, Undeliverable, Rejected, Expired, NoChange]
    PART_STATES: PartState [
        Queued, Sending, InDoubt, Presumed, Sent, Enroute, Overdue, Delivered, Undeliverable, Expired, Rejected,
    ]
    REVIEW_STATES: ReviewState [Open, Approved, Rejected]
    WEBHOOK_KINDS: WebhookKind [Dlr, Inbound]
}

pub(super) const ACCOUNT: AccountId = AccountId::new(300);
pub(super) const CONNECTION: ConnectionId = ConnectionId::new(4);
pub(super) const CARRIER: CarrierId = CarrierId::new(5);
pub(super) const OTHER_CARRIER: CarrierId = CarrierId::new(6);
pub(super) const AT: Timestamp = Timestamp::from_millis(1_794_834_000_123);
pub(super) const LATER: Timestamp = Timestamp::from_millis(1_794_837_600_000);
pub(super) const DAY: Day = Day::new(20_773);
pub(super) const COST: Money = Money::from_micros(37_500);
pub(super) const DEBT: Money = Money::from_micros(-1_250_000);
pub(super) const DIGEST: [u8; 16] = *b"\x00digest of 16 \xff\x80";
pub(super) const ENDPOINT: Endpoint = Endpoint { account: ACCOUNT, kind: WebhookKind::Dlr };
pub(super) const EVENT: EventKey = EventKey { endpoint: ENDPOINT, event: EventId(77) };
pub(super) const EVENTS: EventRange =
    EventRange { endpoint: ENDPOINT, first: EventId(70), last: EventId(79) };
/// A key that is not valid.
pub(super) const STORED_KEY: StoredMessageKey =
    StoredMessageKey { carrier: -1, account: i64::MAX, message: i64::MIN };

pub(super) fn message(no: i64) -> MessageId {
    MessageId::from_i64(15_503_000_000_000_000 + no).expect("an id")
}

pub(super) fn message_key() -> MessageKey {
    MessageKey { carrier: CARRIER, account: ACCOUNT, message: message(1) }
}

pub(super) fn messages() -> MessageRange {
    MessageRange { first: message(1), last: message(900) }
}

pub(super) fn part(no: u8) -> PartNo {
    PartNo::new(no).expect("not zero")
}

pub(super) fn part_key() -> PartKey {
    PartKey { account: ACCOUNT, message: message(1), part: part(2) }
}

pub(super) fn handset() -> Msisdn {
    Msisdn::from_number(4_915_112_345_678).expect("a number")
}

pub(super) fn sender() -> Sender {
    Sender::parse("+4915799999999").expect("a sender")
}

/// Returns an id that is not valid UTF-8.
pub(super) fn remote() -> RemoteId {
    RemoteId::from_octets(b"0A1b\xff").expect("an id")
}

pub(super) fn alias() -> Alias {
    Alias::new(0x1000_0102).expect("an alias")
}

pub(super) fn source() -> SmppAddress {
    SmppAddress::new(5, 0, b"Hermod")
}

pub(super) fn destination() -> SmppAddress {
    SmppAddress::new(1, 8, b"491511\x000\xff")
}

pub(super) fn origin() -> Origin {
    Origin {
        registered_delivery: RegisteredDelivery { success: true, failure: false, intermediate: true },
        short_id: true,
        on_transmitter: false,
        reference: Some(513),
        source: source(),
        destination: destination(),
        quote: [1, 0, 127].as_slice().into(),
    }
}

pub(super) fn tlvs() -> CustomerTlvs {
    CustomerTlvs([0x14, 0, 0, 1, 255].into())
}

pub(super) fn wire(form: MoEncoding) -> Wire {
    Wire { source: source(), destination: destination(), form, header: [5, 4, 200].into() }
}

/// The same for an enum whose variants have values.
macro_rules! all_of {
    ($($name:ident: $of:ident { $($pattern:pat => [$($value:expr),* $(,)?]),* $(,)? })*) => {$(
        pub(super) fn $name() -> Vec<$of> {
            let is_listed = |value: &$of| match value {
                $($pattern => (),)*
            };
            vec![$($($value),*),*].into_iter().inspect(is_listed).collect()
        }
    )*};
}

all_of! {
    event_ends: EventEnd {
        EventEnd::Delivered => [EventEnd::Delivered],
        EventEnd::GivenUp(_) => [EventEnd::GivenUp(GiveUpReason::NoAddress)],
    }
    mo_encodings: MoEncoding {
        MoEncoding::SingleByte => [MoEncoding::SingleByte],
        MoEncoding::Ucs2 => [MoEncoding::Ucs2],
        MoEncoding::Octets { .. } => [MoEncoding::Octets { data_coding: 245 }],
    }
    outcomes_of_attempts: StoredOutcome {
        StoredOutcome::Status(_) => [StoredOutcome::Status(503)],
        StoredOutcome::Failed(_) => [StoredOutcome::Failed("no route to host".to_owned())],
    }
    report_give_up_reasons: ReportGiveUpReason {
        ReportGiveUpReason::TooOld => [ReportGiveUpReason::TooOld],
        ReportGiveUpReason::Refused(_) => [ReportGiveUpReason::Refused(0x45)],
    }
    report_statuses: ReportStatus {
        ReportStatus::Enroute => [ReportStatus::Enroute],
        ReportStatus::Accepted => [ReportStatus::Accepted],
        ReportStatus::Final(_) => [ReportStatus::Final(DlrCode::Expired)],
    }
}

pub(super) fn carrier_cost() -> BelievedCost {
    let currency = Currency::parse("EUR").expect("a currency");
    let (per_part, basis) = (Money::from_micros(58_000), CostBasis::Delivered);
    BelievedCost { terms: CostTerms { per_part, currency, basis, entry: CostId::new(130) }, whole: true }
}
