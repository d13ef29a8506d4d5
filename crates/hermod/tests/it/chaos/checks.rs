//! The invariants after the chaos: no message lost or charged twice, no copy without a recorded resend, every message
//! final or explained, every receipt settled or parked.

use crate::gateways;
use crate::store_access::{account_id, audit_clean, carrier_id, open_store};
use hermod_domain::ids::MessageId;
use hermod_domain::lifecycle::MessageState;
use hermod_simulator::carrier::{RecordedResponse, SimulatedCarrier};
use hermod_store::Store;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

/// The prefix of all texts.
pub(super) const TEXT: &str = "chaos ";
/// The number of messages sent without carriers.
pub(super) const LATE_TEXT: &str = "late ";
pub(super) const LATE: u64 = 100;

/// Counts of unfinished rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unfinished {
    pub(super) waiting: u64,
    pub(super) open_parts: u64,
}

pub(super) fn unfinished(data: &Path) -> Unfinished {
    let audit = hermod_store::Store::audit(data).expect("an audit");
    Unfinished { waiting: audit.waiting_parts, open_parts: audit.open_parts }
}

pub(super) struct Compared {
    pub(super) copies: u64,
    pub(super) resends: u64,
    pub(super) unreported: u64,
    pub(super) parked: u64,
}

pub(super) async fn compare(
    folder: &Path,
    acknowledged: &BTreeMap<u64, String>,
    carriers: &[(&str, SimulatedCarrier)],
) -> Compared {
    let data = gateways::data_folder(folder);
    let audit = audit_clean(&data);
    let ids: HashSet<&String> = acknowledged.values().collect();
    assert_eq!(ids.len(), acknowledged.len(), "two messages share an id");
    assert_eq!(
        audit.messages,
        acknowledged.len() as u64 + LATE,
        "the store has exactly the acknowledged messages"
    );

    let seen = Seen::gather(carriers);
    let copies: u64 = seen.taken.values().map(|taken| taken.len() as u64 - 1).sum();
    assert!(copies <= audit.resends, "{copies} copies but only {} recorded resends", audit.resends);

    let store = open_store(&data);
    let unreported = check_messages(&store, acknowledged, &seen).await;
    let parked = check_parked(&store, carriers, audit.resends + unreported).await;
    store.close().await.expect("the store closes");
    Compared { copies, resends: audit.resends, unreported, parked }
}

/// What the carriers received of each message, by its text.
struct Seen {
    taken: HashMap<String, Vec<Copy>>,
    refused: HashSet<String>,
}

struct Copy {
    /// The carrier sent a final receipt, and its response had the id.
    reported: bool,
}

impl Seen {
    fn gather(carriers: &[(&str, SimulatedCarrier)]) -> Seen {
        let mut seen = Seen { taken: HashMap::new(), refused: HashSet::new() };
        for (_, carrier) in carriers {
            let record = carrier.record();
            let kept = u64::try_from(record.submits().len()).expect("a count");
            assert_eq!(
                kept,
                record.counts().submits,
                "the carrier's record is too small for this number of messages"
            );
            let receipts: HashSet<u64> =
                record.receipts().iter().filter_map(|sent| number(&sent.id, true)).collect();
            let decimal =
                record.receipts().iter().any(|sent| sent.id.bytes().any(|octet| octet.is_ascii_alphabetic()));
            for submit in record.submits() {
                let reported = |id: &str| number(id, !decimal).is_some_and(|id| receipts.contains(&id));
                let copy = match &submit.response {
                    RecordedResponse::Accepted { id } => Copy { reported: reported(id) },
                    // The response with the id was lost: the receipt cannot be matched.
                    RecordedResponse::Withheld { .. } | RecordedResponse::None => Copy { reported: false },
                    RecordedResponse::Rejected(_) | RecordedResponse::Nacked(_) => {
                        seen.refused.insert(submit.text.clone());
                        continue;
                    }
                };
                seen.taken.entry(submit.text.clone()).or_default().push(copy);
            }
        }
        seen
    }
}

/// Parses an id as a number, in hexadecimal if it has letters or if `hex` is set.
fn number(id: &str, hex: bool) -> Option<u64> {
    let radix = if hex { 16 } else { 10 };
    u64::from_str_radix(id, radix).ok().or_else(|| u64::from_str_radix(id, 16).ok())
}

/// Checks that every message is final, or has a copy without a receipt. Returns the number of the latter.
async fn check_messages(store: &Store, acknowledged: &BTreeMap<u64, String>, seen: &Seen) -> u64 {
    let account = account_id(store).await;
    let mut unreported = 0;
    for (index, id) in acknowledged {
        let id = MessageId::parse(id).expect("a message id");
        let message = store
            .messages()
            .find(account, id)
            .await
            .expect("a read")
            .expect("an acknowledged message exists");
        let text = format!("{TEXT}{index:010}");
        let taken = seen.taken.get(&text);
        match message.state {
            MessageState::Delivered | MessageState::Undeliverable => {
                assert!(taken.is_some() || seen.refused.contains(&text), "no carrier knows {text:?}");
            }
            MessageState::Submitted | MessageState::Enroute => {
                let taken =
                    taken.unwrap_or_else(|| panic!("{text:?} is {} and no carrier knows it", message.state));
                assert!(
                    taken.iter().any(|copy| !copy.reported),
                    "{text:?} is {} though every copy of it was reported",
                    message.state
                );
                unreported += 1;
            }
            state @ (MessageState::Queued | MessageState::Expired | MessageState::Rejected) => {
                panic!("{text:?} is {state}")
            }
        }
    }
    let count = i64::try_from(acknowledged.len() as u64 + LATE).expect("some messages");
    let balance = store.money().balance(account).await.expect("a read").balance;
    let expected = gateways::OPENING_MICROS - count * gateways::PRICE_MICROS;
    assert_eq!(balance.as_micros(), expected, "the balance after {count} messages");
    unreported
}

/// Checks the parked receipts. Their ids never reached the gateway: each of their parts was in doubt, so it was resent
/// or has no report.
async fn check_parked(store: &Store, carriers: &[(&str, SimulatedCarrier)], doubts: u64) -> u64 {
    let mut parked = 0;
    for (name, carrier) in carriers {
        let counts = carrier.record().counts();
        assert_eq!(counts.receipts_rejected, 0, "{name}: receipts are taken");
        let kept = store.receipts().parked(carrier_id(store, name).await, u32::MAX).await.expect("a read");
        parked += kept.len() as u64;
    }
    assert!(parked <= doubts, "{parked} receipts match nothing, and only {doubts} parts were in doubt");
    parked
}
