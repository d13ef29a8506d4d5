//! Compares searches and counts with a model that looks at every message.

use super::{Filled, STATES, messages, noon};
use crate::record::database::SCAN_ROWS_MAX;
use crate::record::database::counting::count;
use crate::record::database::search::search;
use crate::record::{Count, FilledMessage, MessageFilter, RecipientFilter, Scope, SearchLimits, StepNote};
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId, IdMint, MessageId, RemoteId};
use hermod_domain::lifecycle::MessageState;
use hermod_domain::numbers::{Country, Destination, Network, Numbers};
use hermod_domain::phone::Msisdn;
use hermod_domain::sender::Sender;
use hermod_engine::ops::EventId;
use hermod_engine::steps::StepKind;
use std::time::Duration;

const SCOPES: [Scope; 4] = [
    Scope::All,
    Scope::Account(AccountId::new(1)),
    Scope::Account(AccountId::new(2)),
    Scope::Account(AccountId::new(77)),
];

/// Whether a message matches, by the definition of the filter.
fn is_wanted(filled: &FilledMessage, scope: Scope, filter: &MessageFilter) -> bool {
    let message = &filled.message;
    let found = message.to.map_or(Destination::UNKNOWN, |to| Numbers::embedded().find(to));
    let has_step = |wanted: &dyn Fn(&StepKind) -> bool| {
        filled.steps.iter().any(|step| matches!(&step.what, StepNote::Step(kind) if wanted(kind)))
    };
    let at = message.id.accepted_at();
    scope.includes(message.account)
        && filter.id.is_none_or(|id| message.id == id)
        && filter.recipient.as_ref().is_none_or(|wanted| match wanted {
            RecipientFilter::Exact(to) => message.to == Some(*to),
            RecipientFilter::Prefix(prefix) => message.to.is_some_and(|to| to.digits().starts_with(prefix)),
            RecipientFilter::Suffix(digits) => message.to.is_some_and(|to| to.digits().ends_with(digits)),
        })
        && filter.sender.is_none_or(|sender| message.from.address() == sender.address())
        && filter.state.is_none_or(|state| message.state == state)
        && filter.country.is_none_or(|country| found.country == Some(country))
        && filter.network.is_none_or(|network| found.network == Some(network))
        && filter.carrier.is_none_or(|carrier| message.carrier == carrier)
        && filter.connection.is_none_or(|connection| message.connection == connection)
        && filter.carrier_id.as_ref().is_none_or(|id| {
            has_step(&|kind| matches!(kind, StepKind::CarrierAccepted { remote, .. } if remote == id))
        })
        && filter.request.as_ref().is_none_or(|request| filled.request.as_deref() == Some(request))
        && filter.key.is_none_or(|key| filled.key == Some(key))
        && filter.event.is_none_or(|id| {
            has_step(&|kind| matches!(kind, StepKind::WebhookAttempt { event, .. } if *event == id))
        })
        && filter.from.is_none_or(|from| at >= from)
        && filter.until.is_none_or(|until| at < until)
}

/// Returns filters with one property each; those that name one value of a property together.
fn single_filters(all: &[FilledMessage]) -> Vec<Vec<MessageFilter>> {
    let none = MessageFilter::default;
    let sender = |text| MessageFilter { sender: Some(Sender::parse(text).unwrap()), ..none() };
    let country = |text| MessageFilter { country: Some(Country::parse(text).unwrap()), ..none() };
    let to = |recipient| MessageFilter { recipient: Some(recipient), ..none() };
    let prefix = |digits: &str| to(RecipientFilter::Prefix(digits.to_owned()));
    let suffix = |digits: &str| to(RecipientFilter::Suffix(digits.to_owned()));
    let exact = |number| to(RecipientFilter::Exact(Msisdn::from_number(number).unwrap()));
    let days = |days: u32| noon().minus(super::DAY * days);
    let networks = all.iter().filter_map(|filled| Numbers::embedded().find(filled.message.to?).network);
    let mut networks: Vec<Network> = networks.collect();
    networks.sort_unstable();
    networks.dedup();
    let key = all.iter().find_map(|filled| filled.key);
    let remote = |text| RemoteId::from_text(text).ok();
    let same_millisecond = all[all.len() / 2].message.id.accepted_at();
    vec![
        [all[3].message.id, all[400].message.id, MessageId::first_at(noon())]
            .map(|id| MessageFilter { id: Some(id), ..none() })
            .into(),
        vec![
            exact(4_915_112_345_678),
            exact(4_915_112_340_000),
            prefix("4915"),
            prefix("49151123456"),
            prefix("999"),
            prefix("x"),
            suffix("5678"),
            suffix("0000"),
            suffix("0004915112345678"),
            suffix("x"),
        ],
        vec![sender("Shop"), sender("4917012345"), sender("Once"), sender("Nobody")],
        STATES.map(|state| MessageFilter { state: Some(state), ..none() }).into(),
        vec![country("DE"), country("US"), country("FR")],
        networks.into_iter().map(|network| MessageFilter { network: Some(network), ..none() }).collect(),
        [1, 3, 9].map(|id| MessageFilter { carrier: Some(CarrierId::new(id)), ..none() }).into(),
        [10, 11, 21, 99].map(|id| MessageFilter { connection: Some(ConnectionId::new(id)), ..none() }).into(),
        ["cid-3", "cid-99"].map(|id| MessageFilter { carrier_id: remote(id), ..none() }).into(),
        ["req-4", "req-none"].map(|id| MessageFilter { request: Some(id.to_owned()), ..none() }).into(),
        [key, Some([5; 16])].map(|key| MessageFilter { key, ..none() }).into(),
        [3, 9_999].map(|id| MessageFilter { event: Some(EventId(id)), ..none() }).into(),
        vec![
            MessageFilter { from: Some(days(40)), ..none() },
            MessageFilter { until: Some(days(120)), ..none() },
            MessageFilter { from: Some(days(150)), until: Some(days(30)), ..none() },
            MessageFilter { from: Some(days(30)), until: Some(days(150)), ..none() },
            MessageFilter {
                from: Some(same_millisecond),
                until: Some(same_millisecond.plus(Duration::from_millis(1))),
                ..none()
            },
        ],
    ]
}

/// Returns a filter with the properties of both.
fn both(a: &MessageFilter, b: &MessageFilter) -> MessageFilter {
    let (a, b) = (a.clone(), b.clone());
    MessageFilter {
        id: a.id.or(b.id),
        recipient: a.recipient.or(b.recipient),
        sender: a.sender.or(b.sender),
        state: a.state.or(b.state),
        country: a.country.or(b.country),
        network: a.network.or(b.network),
        carrier: a.carrier.or(b.carrier),
        connection: a.connection.or(b.connection),
        carrier_id: a.carrier_id.or(b.carrier_id),
        request: a.request.or(b.request),
        key: a.key.or(b.key),
        event: a.event.or(b.event),
        from: a.from.or(b.from),
        until: a.until.or(b.until),
    }
}

/// Reads all pages of a search.
fn all_pages(filled: &Filled, scope: Scope, filter: &MessageFilter, rows: u32) -> Vec<MessageId> {
    let (connection, collected) = filled.reader();
    let (mut found, mut before) = (Vec::new(), None);
    loop {
        let limits = SearchLimits { before, rows };
        let page = search(&connection, &collected, scope, filter, limits).unwrap();
        assert!(page.rows.len() <= rows as usize);
        found.extend(page.rows.iter().map(|row| row.id));
        let Some(next) = page.next else { return found };
        assert!(before.is_none_or(|before| next < before), "the cursor goes down: {filter:?}");
        before = Some(next);
    }
}

#[track_caller]
fn check(filled: &Filled, all: &[FilledMessage], scope: Scope, filter: &MessageFilter, rows: u32) {
    let wanted = all.iter().rev().filter(|message| is_wanted(message, scope, filter));
    let wanted: Vec<MessageId> = wanted.map(|filled| filled.message.id).collect();
    assert_eq!(all_pages(filled, scope, filter, rows), wanted, "{scope:?} {filter:?}");
    let (connection, collected) = filled.reader();
    let counted = count(&connection, &collected, scope, filter).unwrap();
    assert_eq!(counted, Count::Exactly(wanted.len() as u64), "{scope:?} {filter:?}");
}

/// A record with folded figures, and with figures in memory.
fn filled() -> (Filled, Vec<FilledMessage>) {
    let all = messages(600);
    let mut filled = Filled::new();
    filled.add(&all[..350], &[]);
    filled.fold();
    filled.add(&all[350..], &[]);
    (filled, all)
}

#[test]
fn every_filter_and_every_pair_finds_what_it_should() {
    let (filled, all) = filled();
    let filters = single_filters(&all);
    for scope in SCOPES {
        check(&filled, &all, scope, &MessageFilter::default(), 7);
        for (place, group) in filters.iter().enumerate() {
            for filter in group {
                check(&filled, &all, scope, filter, 3);
                for other in filters[place + 1..].iter().flatten() {
                    check(&filled, &all, scope, &both(filter, other), 1_000);
                }
            }
        }
    }
}

#[test]
fn keys_in_chunks_that_overlap_are_found_in_order() {
    let (filled, all) = filled();
    let connection = filled.writing.connection();
    let scatter = "UPDATE key SET chunk = message / 262144 % 7;
         DELETE FROM chunk;
         INSERT INTO chunk (no, first, last) SELECT chunk, min(message), max(message) FROM key GROUP BY chunk;";
    connection.execute_batch(scatter).unwrap();
    for scope in SCOPES {
        for filter in single_filters(&all).iter().flatten() {
            check(&filled, &all, scope, filter, 2);
        }
    }
}

#[test]
fn dense_prefix_is_found_by_reading_in_order() {
    let mut mint = IdMint::new(0, None);
    let all: Vec<FilledMessage> =
        (0..4_000).map(|number| super::message(number, mint.mint(noon()).as_i64())).collect();
    let mut filled = Filled::new();
    filled.add(&all, &[]);
    let recipient = Some(RecipientFilter::Prefix("49".to_owned()));
    let filter = MessageFilter { recipient, ..MessageFilter::default() };
    for scope in SCOPES {
        check(&filled, &all, scope, &filter, 500);
    }
}

#[test]
fn search_that_looks_at_too_many_rows_says_how_far_it_came() {
    let mut mint = IdMint::new(0, None);
    let mut all: Vec<FilledMessage> = (0..u64::from(SCAN_ROWS_MAX) + 2_000)
        .map(|number| super::message(1, mint.mint(noon().plus(Duration::from_millis(number / 10))).as_i64()))
        .collect();
    let oldest = &mut all[0].message;
    (oldest.state, oldest.settled_at) = (MessageState::Rejected, Some(noon().plus(Duration::from_secs(1))));
    let mut filled = Filled::new();
    filled.add(&all, &[]);
    let filter = MessageFilter { state: Some(MessageState::Rejected), ..MessageFilter::default() };
    let (connection, collected) = filled.reader();
    let limits = |before| SearchLimits { before, rows: 10 };
    let page = search(&connection, &collected, Scope::All, &filter, limits(None)).unwrap();
    assert_eq!(page.rows, []);
    let reached = page.searched_to.expect("it stopped early");
    assert_eq!(page.next.map(MessageId::accepted_at), Some(reached));
    let page = search(&connection, &collected, Scope::All, &filter, limits(page.next)).unwrap();
    assert_eq!(page.rows.iter().map(|row| row.id).collect::<Vec<_>>(), [all[0].message.id]);
    assert_eq!((page.next, page.searched_to), (None, None));
    let country = MessageFilter { country: Country::parse("FR").ok(), ..MessageFilter::default() };
    let page = search(&connection, &collected, Scope::All, &country, limits(None)).unwrap();
    assert_eq!((page.rows.len(), page.next), (0, None), "the statistics say that there is none");
    let prefix = Some(RecipientFilter::Prefix(all[1].message.to.unwrap().digits()[..2].to_owned()));
    let dense = MessageFilter { recipient: prefix, ..MessageFilter::default() };
    assert!(matches!(count(&connection, &collected, Scope::All, &dense).unwrap(), Count::AtLeast(1..)));
    let every = count(&connection, &collected, Scope::All, &MessageFilter::default()).unwrap();
    assert_eq!(
        every,
        Count::AtLeast(u64::from(SCAN_ROWS_MAX)),
        "the figures are by day only until they are folded"
    );
    filled.fold();
    let (connection, collected) = filled.reader();
    let page = search(&connection, &collected, Scope::All, &filter, limits(None)).unwrap();
    assert_eq!(page.rows, [], "they are in one hour");
}
