//! The invariants after the chaos: nothing lost, nothing charged twice, no copy without a resend on record, every message
//! final or explained, every receipt settled or visibly waiting.

use crate::assembly;
use hermod_domain::ids::MessageId;
use hermod_domain::lifecycle::MessageState;
use hermod_simulator::carrier::{Carrier, SubmitResponse};
use hermod_store::{OpenOptions, Store};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::time::Duration;

/// What the texts of the messages begin with.
pub(super) const TEXT: &str = "chaos ";
/// And of those that were sent when no carrier was there.
pub(super) const LATE_TEXT: &str = "late ";
pub(super) const LATE: u64 = 100;
/// The shortest wait of the back-off.
const SHORTEST_WAIT: Duration = Duration::from_millis(400);

/// What is not finished.
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
    told: &BTreeMap<u64, String>,
    carriers: &[(&str, Carrier)],
) -> Compared {
    let data = assembly::data_folder(folder);
    let audit = hermod_store::Store::audit(&data).expect("an audit");
    assert!(audit.is_clean(), "the audit found {:#?}", audit.violations);
    let ids: HashSet<&String> = told.values().collect();
    assert_eq!(ids.len(), told.len(), "two messages share an id");
    assert_eq!(audit.messages, told.len() as u64 + LATE, "every message was told, and every one told exists");

    let seen = Seen::gather(carriers);
    let copies: u64 = seen.taken.values().map(|taken| taken.len() as u64 - 1).sum();
    assert!(copies <= audit.resends, "{copies} copies and only {} resends on record", audit.resends);

    let options = OpenOptions {
        folder: data,
        low_water_bytes: 0,
        in_doubt_wait: Duration::ZERO,
        now: assembly::wall_time(),
    };
    let store = Store::open(&options).expect("the store opens");
    let unreported = check_messages(&store, told, &seen).await;
    let parked = check_parked(&store, carriers, audit.resends + unreported).await;
    store.close().await.expect("the store closes");
    Compared { copies, resends: audit.resends, unreported, parked }
}

/// What the carriers have of each message, by its text.
struct Seen {
    taken: HashMap<String, Vec<Copy>>,
    refused: HashSet<String>,
}

struct Copy {
    /// A receipt with the last word was sent for it, and its answer had told its id.
    reported: bool,
}

impl Seen {
    fn gather(carriers: &[(&str, Carrier)]) -> Seen {
        let mut seen = Seen { taken: HashMap::new(), refused: HashSet::new() };
        for (_, carrier) in carriers {
            let record = carrier.record();
            let kept = u64::try_from(record.submits().len()).expect("a count");
            assert_eq!(
                kept,
                record.counts().submits,
                "the carrier's record has no room for so many messages"
            );
            let receipts: HashSet<u64> =
                record.receipts().iter().filter_map(|sent| number(&sent.id, true)).collect();
            let decimal =
                record.receipts().iter().any(|sent| sent.id.bytes().any(|octet| octet.is_ascii_alphabetic()));
            for submit in record.submits() {
                let reported = |id: &str| number(id, !decimal).is_some_and(|id| receipts.contains(&id));
                let copy = match &submit.response {
                    SubmitResponse::Accepted { id } => Copy { reported: reported(id) },
                    // Nobody was told the id, or the carrier forgot it: nobody can know.
                    SubmitResponse::Withheld { .. } | SubmitResponse::None => Copy { reported: false },
                    SubmitResponse::Rejected(_) | SubmitResponse::Nacked(_) => {
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

/// The number an id stands for. Hexadecimal if it has letters, or if it is known to be.
fn number(id: &str, hex: bool) -> Option<u64> {
    let radix = if hex { 16 } else { 10 };
    u64::from_str_radix(id, radix).ok().or_else(|| u64::from_str_radix(id, 16).ok())
}

/// Every message is final, or nobody ever told what became of it. Gives how many of those there are.
async fn check_messages(store: &Store, told: &BTreeMap<u64, String>, seen: &Seen) -> u64 {
    let account = assembly::account_id(store).await;
    let mut unreported = 0;
    for (index, id) in told {
        let id = MessageId::parse(id).expect("a message id");
        let message =
            store.message(account, id).await.expect("a read").expect("an acknowledged message exists");
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
    let count = i64::try_from(told.len() as u64 + LATE).expect("some messages");
    let balance = store.balance(account).await.expect("a read").balance;
    let expected = assembly::OPENING_MICROS - count * assembly::PRICE_MICROS;
    assert_eq!(balance.as_micros(), expected, "the balance after {count} messages");
    unreported
}

/// Receipts that match nothing are about ids that never reached us: each part they are about was in doubt, so it was sent
/// again or is not reported. They are kept where somebody can see them.
async fn check_parked(store: &Store, carriers: &[(&str, Carrier)], doubts: u64) -> u64 {
    let mut parked = 0;
    for (name, carrier) in carriers {
        let counts = carrier.record().counts();
        assert_eq!(counts.receipts_rejected, 0, "{name}: receipts are taken");
        let kept = store.parked(assembly::carrier_id(store, name).await, u32::MAX).await.expect("a read");
        parked += kept.len() as u64;
    }
    assert!(parked <= doubts, "{parked} receipts match nothing, and only {doubts} parts were in doubt");
    parked
}

/// Of so many binds, none comes back sooner than the shortest wait after it was hung up on.
pub(super) fn attempts_keep_their_distance(name: &str, carrier: &Carrier, binds: u64) {
    let links = carrier.record().links();
    let opened: Vec<Duration> = links.iter().map(|link| link.opened).collect();
    let binds = usize::try_from(binds).expect("a few");
    // Among any so many attempts plus one, two are of the same bind.
    for some in opened.windows(binds + 1) {
        let (first, last) = (some[0], some[binds]);
        assert!(last - first >= SHORTEST_WAIT, "{name}: {} attempts within {:?}", binds + 1, last - first);
    }
}
