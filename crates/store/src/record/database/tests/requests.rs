//! Tests of the request log and its groups.

use super::{Filled, account, noon};
use crate::record::database::requests::{groups, search};
use crate::record::{Replay, RequestEntry, RequestFilter, RequestKind, Scope};
use hermod_domain::erasure::{ErasureKey, ShortDigest};
use hermod_domain::ids::ConnectionId;
use hermod_domain::phone::Msisdn;
use hermod_domain::time::Timestamp;
use std::time::Duration;

const KINDS: [RequestKind; 3] = [RequestKind::Http, RequestKind::Submit, RequestKind::Bind];
const CODES: [Option<&str>; 4] =
    [None, Some("insufficient_credit"), Some("invalid_number"), Some("unauthorized")];

/// The digests of some numbers.
fn recipients() -> [ShortDigest; 3] {
    let key = ErasureKey([7; 32]);
    [4_915_112_345_678, 4_915_112_345_679, 4_917_012_345_678]
        .map(|number| key.digest(Msisdn::from_number(number).unwrap()).shortened())
}

pub(super) fn entry(number: u32) -> RequestEntry {
    let place = |count: u32| (number.wrapping_mul(2_654_435_761) >> 7) % count;
    RequestEntry {
        at: noon().plus(Duration::from_secs(20) * number),
        account: [None, Some(account(1)), Some(account(2))][place(3) as usize],
        connection: Some(ConnectionId::new(1)),
        kind: KINDS[place(9) as usize / 3],
        operation: "POST /api/v1/sms".into(),
        who: format!("key-{}", number % 3).into(),
        address: "192.0.2.7".parse().ok(),
        status: 400,
        code: CODES[(number / 2) as usize % 4].map(Into::into),
        reason: "".into(),
        took_ms: number,
        request: Some(format!("req-{}", number % 11).into()),
        replay: Replay::Same,
        message: None,
        recipient: recipients().get(place(4) as usize).copied(),
    }
}

fn filled() -> (Filled, Vec<RequestEntry>) {
    let all: Vec<RequestEntry> = (0..400).map(entry).collect();
    let mut filled = Filled::new();
    filled.add(&[], &all[..250]);
    filled.fold();
    filled.add(&[], &all[250..]);
    (filled, all)
}

fn is_in(entry: &RequestEntry, scope: Scope) -> bool {
    scope == Scope::All || entry.account.is_some_and(|account| scope.includes(account))
}

fn is_wanted(entry: &RequestEntry, scope: Scope, filter: &RequestFilter) -> bool {
    let RequestFilter { who, code, kind, request, recipient, rejected, from, until } = filter;
    is_in(entry, scope)
        && who.as_ref().is_none_or(|who| *entry.who == **who)
        && code.as_ref().is_none_or(|code| entry.code.as_deref() == Some(code))
        && kind.is_none_or(|kind| entry.kind == kind)
        && request.as_ref().is_none_or(|request| entry.request.as_deref() == Some(request))
        && recipient.is_none_or(|recipient| entry.recipient == Some(recipient))
        && (!rejected || entry.code.is_some())
        && from.is_none_or(|from| entry.at >= from)
        && until.is_none_or(|until| entry.at < until)
}

#[test]
fn every_combination_of_request_filters_finds_what_it_should() {
    let (filled, all) = filled();
    let (connection, _) = filled.reader();
    let at = |seconds: u64| noon().plus(Duration::from_secs(seconds));
    for number in 0..256_u32 {
        let has = |bit: u32| number >> bit & 1 == 1;
        let filter = RequestFilter {
            who: has(6).then(|| all[4].who.to_string()),
            code: has(0).then(|| "invalid_number".to_owned()),
            kind: has(1).then_some(RequestKind::Submit),
            request: has(2).then(|| "req-4".to_owned()),
            recipient: has(7).then(|| recipients()[1]),
            rejected: has(3),
            from: has(4).then(|| at(1_000)),
            until: has(5).then(|| at(6_000)),
        };
        for scope in [Scope::All, Scope::Account(account(1)), Scope::Account(account(9))] {
            let wanted = all.iter().rev().filter(|entry| is_wanted(entry, scope, &filter)).cloned();
            let wanted: Vec<RequestEntry> = wanted.collect();
            let (mut found, mut before) = (Vec::new(), None);
            loop {
                let page = search(&connection, scope, &filter, before, 7).unwrap();
                found.extend(page.rows.into_iter().map(|(_, entry)| entry));
                before = page.next;
                if before.is_none() {
                    break;
                }
            }
            assert_eq!(found, wanted, "{scope:?} {filter:?}");
        }
    }
}

#[test]
fn groups_have_exact_counts_of_the_range_and_the_last_example() {
    let (filled, all) = filled();
    let (connection, collected) = filled.reader();
    let minute = Duration::from_secs(60);
    for (from, until) in [
        (Timestamp::EPOCH, noon().plus(minute * 60 * 24 * 9)),
        (noon().plus(minute * 7), noon().plus(minute * 101)),
        (noon().plus(minute * 3), noon().plus(minute * 9)),
        (noon().plus(minute * 30), noon().plus(minute * 90)),
    ] {
        for scope in [Scope::All, Scope::Account(account(2)), Scope::Account(account(9))] {
            let found = groups(&connection, &collected, scope, from, until).unwrap();
            let in_range = |entry: &&RequestEntry| is_in(entry, scope) && (from..until).contains(&entry.at);
            for group in &found {
                let of_code = |entry: &&RequestEntry| entry.code.as_ref() == Some(&group.code);
                let count = all.iter().filter(in_range).filter(of_code).count();
                assert_eq!(group.count, count as u64, "{scope:?} {from:?}..{until:?} {}", group.code);
                assert_eq!(group.last.as_ref(), all.iter().filter(in_range).rfind(of_code));
            }
            let codes: std::collections::BTreeSet<_> =
                all.iter().filter(in_range).filter_map(|entry| entry.code.clone()).collect();
            assert_eq!(found.len(), codes.len());
            assert!(found.is_sorted_by(|a, b| a.count >= b.count));
        }
    }
}
