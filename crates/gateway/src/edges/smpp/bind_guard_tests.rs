//! Unit tests of `bind_guard.rs`.

use super::*;

const THREE: Allowance = Allowance { most: 3, per: Duration::from_secs(60) };
const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);

fn attempt(system_id: &'static str, last: u8) -> GuardedBind<'static> {
    let from = IpAddr::from([192, 0, 2, last]);
    let listing = Listing::NoList;
    GuardedBind { system_id: system_id.as_bytes(), password: b"secret08", hashes: &["hash"], from, listing }
}

#[test]
fn address_and_system_id_have_separate_attempt_limits() {
    let guard = BindGuard::new(THREE, THREE).unwrap();
    let actual =
        |system_id, last| guard.admit(&attempt(system_id, last), NOW).map(|_| ()).map_err(|over| over.why);
    for system_id in ["a", "b", "c"] {
        assert_eq!(actual(system_id, 1), Ok(()));
    }
    assert_eq!(actual("d", 1), Err("too many attempts from this address"));
    assert_eq!(actual("a", 2), Ok(()));
    assert_eq!(actual("a", 3), Ok(()));
    assert_eq!(actual("a", 4), Err("too many attempts for this system_id"));
    guard.give_back(&attempt("a", 3), TakenAttempt { from_name: true });
    assert_eq!(actual("a", 4), Ok(()));
}

#[test]
fn attempts_at_other_nodes_count() {
    let [here, there] = [(); 2].map(|()| BindGuard::new(THREE, THREE).unwrap());
    for last in 1..=3 {
        let attempt = attempt("a", last);
        let taken = there.admit(&attempt, NOW).expect("it is admitted there");
        here.charge(there.wrong_bind(&attempt, taken), NOW);
    }
    let refused = here.admit(&attempt("a", 4), NOW).map_err(|over| over.why);
    assert_eq!(refused, Err("too many attempts for this system_id"));
    assert!(here.admit(&attempt("b", 4), NOW).is_ok());
    let malformed = WrongBind { source: IpAddr::from([192, 0, 2, 4]), name: None };
    (0..2).for_each(|_| here.charge(malformed, NOW));
    assert_eq!(here.admit(&attempt("c", 4), NOW).map_err(|over| over.why), Err(ADDRESS_SPENT));
}

#[test]
fn cached_credentials_are_not_locked_out_by_failed_attempts_elsewhere() {
    let guard = BindGuard::new(Allowance { most: 100, ..THREE }, THREE).unwrap();
    guard.remember(&attempt("a", 1), 0);
    for _ in 0..3 {
        guard.admit(&attempt("a", 9), NOW).unwrap();
    }
    assert_eq!(guard.admit(&attempt("a", 1), NOW), Ok(TakenAttempt { from_name: false }));
    let over = OverLimit { why: "too many attempts for this system_id", wait: Duration::from_secs(20) };
    assert_eq!(guard.admit(&attempt("a", 2), NOW), Err(over), "not cached for another address");
    let guessed = GuardedBind { password: b"secret09", ..attempt("a", 1) };
    assert_eq!(guard.admit(&guessed, NOW), Err(over), "nor for another password");
    let rotated = GuardedBind { hashes: &["another"], ..attempt("a", 1) };
    assert_eq!(guard.admit(&rotated, NOW), Err(over), "nor for a changed password");
    let rotating = GuardedBind { hashes: &["another", "hash"], ..attempt("a", 1) };
    assert_eq!(guard.remembered(&rotating), Some(1), "but while the old password is valid");
}

#[test]
fn attempts_from_unlisted_addresses_leave_the_owners_budget_alone() {
    let guard = BindGuard::new(Allowance { most: 100, ..THREE }, THREE).unwrap();
    let listed = |listing, last| GuardedBind { listing, ..attempt("a", last) };
    let actual =
        |listing, last| guard.admit(&listed(listing, last), NOW).map(|_| ()).map_err(|over| over.why);
    let spent = Err("too many attempts for this system_id");
    for stranger in 10..13 {
        assert_eq!(actual(Listing::NotListed, stranger), Ok(()));
    }
    assert_eq!(actual(Listing::NotListed, 13), spent, "they share one limit");
    for _ in 0..3 {
        assert_eq!(actual(Listing::Listed, 1), Ok(()), "the owner has a separate limit");
    }
    assert_eq!(actual(Listing::Listed, 1), spent);
    guard.give_back(&listed(Listing::NotListed, 10), TakenAttempt { from_name: true });
    assert_eq!((actual(Listing::Listed, 1), actual(Listing::NotListed, 14)), (spent, Ok(())));
}

#[test]
fn listed_and_verified_addresses_are_known() {
    let guard = BindGuard::new(THREE, THREE).unwrap();
    guard.remember(&attempt("a", 1), 0);
    for (system_id, last, listing, expect) in [
        ("a", 1, Listing::NoList, CallerKind::Known),
        ("b", 1, Listing::NotListed, CallerKind::Known),
        ("b", 2, Listing::Listed, CallerKind::Known),
        ("a", 2, Listing::NoList, CallerKind::Stranger),
        ("a", 2, Listing::NotListed, CallerKind::Stranger),
    ] {
        let found = guard.caller_kind(&GuardedBind { listing, ..attempt(system_id, last) });
        assert_eq!(found, expect, "{system_id} from {last}, {listing:?}");
    }
}

#[test]
fn cache_of_verified_credentials_is_bounded() {
    let guard = BindGuard::new(THREE, THREE).unwrap();
    // The address takes one entry too.
    let names: Vec<String> = (0..VERIFIED_MAX + 9).map(|number| number.to_string()).collect();
    let of = |name: &'static str| GuardedBind { system_id: name.as_bytes(), ..attempt("", 1) };
    for name in names {
        guard.remember(&of(Box::leak(name.into_boxed_str())), 0);
    }
    assert_eq!(guard.verified.lock().digests.len(), VERIFIED_MAX);
    assert_eq!((guard.remembered(&of("9")), guard.remembered(&of("10"))), (None, Some(0)));
}
