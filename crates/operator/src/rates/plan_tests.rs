//! Tests of plans: what changes, what is closed, and what is warned about.

use super::*;
use crate::rates::rows;
use hermod_domain::money::Currency;

const CARRIER: CarrierId = CarrierId::new(1);

fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).expect("a time")
}

fn now() -> Timestamp {
    at("2026-12-15T12:00:00Z")
}

fn profile(mode: SheetMode) -> RateProfile {
    RateProfile {
        mode,
        currency: Currency::parse("EUR").ok(),
        notice_days: Some(7),
        ..RateProfile::of(CARRIER)
    }
}

fn read(rows: &str) -> ReadSheet {
    let text = format!("MCC,MNC,Price,Change,From,Until,Sender\n{rows}");
    rows::read(text.as_bytes(), &profile(SheetMode::Partial)).expect("a sheet")
}

/// Returns each change as one line.
fn told(plan: &RatePlan) -> Vec<String> {
    let amount = |amount: Option<Money>| amount.map_or("-".to_owned(), |amount| amount.to_string());
    let line = |planned: &PlannedRate| {
        let before = amount(planned.before.as_ref().and_then(|before| before.per_part));
        let key = label((planned.area(), planned.cost.sender_kind));
        let (change, then) = (planned.change.as_str(), amount(planned.cost.per_part));
        format!("{change} {key} {before} {then} {}", planned.from().to_iso())
    };
    plan.planned.iter().map(line).collect()
}

/// Returns the costs as a plan leaves them.
fn after(stored: Vec<Cost>, plan: &RatePlan) -> Vec<Cost> {
    let replaced = |cost: &Cost| {
        plan.planned
            .iter()
            .any(|planned| key_of(&planned.cost) == key_of(cost) && planned.from() == started(cost))
    };
    let kept = stored.into_iter().filter(|cost| !replaced(cost));
    kept.chain(plan.planned.iter().map(|planned| planned.cost.clone())).collect()
}

/// Plans rows over an empty store at an earlier time.
fn stored(rows: &str) -> Vec<Cost> {
    let earlier = at("2026-01-01T00:00:00Z");
    after(Vec::new(), &plan(Vec::new(), &read(rows), &profile(SheetMode::Partial), earlier))
}

const BEFORE: &str = "262,01,0.05,,,,\n262,02,0.06,,,,\n262,03,0.07,,,,\n228,01,0.04,Closed,,,\n";

#[test]
fn rows_are_new_raised_lowered_closed_reopened_or_unchanged() {
    let sheet = read(
        "262,01,0.06,,2026-12-31,,\n262,02,0.055,,,,\n262,03,,Closed,,,\n228,01,0.05,,,,\n222,01,0.03,,,,\n262,01,0.05,,,,\n",
    );
    let plan = plan(stored(BEFORE), &sheet, &profile(SheetMode::Partial), now());
    assert_eq!(
        told(&plan),
        [
            "closed 262-03 0.07 - 2026-12-15T12:00:00Z",
            "raised 262-01 0.05 0.06 2026-12-31T00:00:00Z",
            "reopened 228-01 - 0.05 2026-12-15T12:00:00Z",
            "new 222-01 - 0.03 2026-12-15T12:00:00Z",
            "lowered 262-02 0.06 0.055 2026-12-15T12:00:00Z",
        ]
    );
    let counts =
        RateCounts { new: 1, raised: 1, lowered: 1, closed: 1, reopened: 1, changed: 0, unchanged: 1 };
    assert_eq!(plan.counts, counts);
}

#[test]
fn same_sheet_again_changes_nothing() {
    for mode in [SheetMode::Partial, SheetMode::Full] {
        let sheet = read(
            "262,01,0.06,,2026-12-31,,\n262,01,0.055,,2026-12-01,,\n262,02,0.055,,,,\n222,01,,Closed,,,\n",
        );
        let stored = stored(BEFORE);
        let first = plan(stored.clone(), &sheet, &profile(mode), now());
        assert!(first.counts.changes() > 3);
        let then = after(stored, &first);
        for later in [now(), at("2026-12-20T08:00:00Z")] {
            let again = plan(then.clone(), &sheet, &profile(mode), later);
            assert_eq!(told(&again), Vec::<String>::new(), "{mode:?} {later}");
        }
    }
}

#[test]
fn full_sheet_closes_what_is_missing_and_a_partial_one_does_not() {
    let sheet = read("262,01,0.05,,2026-12-31,,\n");
    let partial = plan(stored(BEFORE), &sheet, &profile(SheetMode::Partial), now());
    assert_eq!(told(&partial), Vec::<String>::new());
    let full = plan(stored(BEFORE), &sheet, &profile(SheetMode::Full), now());
    assert_eq!(
        told(&full),
        ["closed 262-02 0.06 - 2026-12-31T00:00:00Z", "closed 262-03 0.07 - 2026-12-31T00:00:00Z"]
    );
    // A cost that was planned to follow is closed too.
    let planned = stored("262,01,0.05,,,,\n262,02,0.06,,,,\n262,02,0.07,,2027-02-01,,\n");
    let full = plan(planned, &sheet, &profile(SheetMode::Full), now());
    assert_eq!(
        told(&full),
        ["closed 262-02 0.06 - 2026-12-31T00:00:00Z", "closed 262-02 0.07 - 2027-02-01T00:00:00Z"]
    );
}

#[test]
fn rows_that_cannot_be_read_protect_what_they_may_be_about() {
    let known = stored("262,01,0.05,,,,\n262,02,0.06,,,,\n262,03,0.07,,,,\n");
    let sheet = read("262,01,0.05,,,,\n262,02,0.0651234,,,,\n262,99,0.05,,,,\n");
    let full = plan(known.clone(), &sheet, &profile(SheetMode::Full), now());
    assert_eq!(told(&full), ["closed 262-03 0.07 - 2026-12-15T12:00:00Z"]);
    assert!(full.warnings[0].starts_with("1 destination is not closed, as a row"), "{:?}", full.warnings);
    let sheet = read("262,01,0.05,,,,\nFootnote,,,,,,\n");
    let full = plan(known, &sheet, &profile(SheetMode::Full), now());
    assert_eq!(told(&full), Vec::<String>::new());
    assert!(full.warnings[0].starts_with("nothing is closed for being missing"), "{:?}", full.warnings);
}

#[test]
fn planned_cost_is_replaced_and_one_in_force_is_followed() {
    let known = stored("262,01,0.05,,,,\n262,01,0.07,,2027-01-01,,\n");
    let plan = plan(known, &read("262,01,0.08,,2027-01-01,,\n"), &profile(SheetMode::Partial), now());
    assert_eq!(told(&plan), ["raised 262-01 0.07 0.08 2027-01-01T00:00:00Z"]);
    assert!(plan.planned[0].is_replacing);
}

#[test]
fn warnings_name_what_to_look_at() {
    let sheet =
        read("262,01,0.08,,,,\n262,02,0,,2026-12-31,,\n262,03,0.071,,2026-12-01,,\n262,06,0.05,,,,\n");
    let warnings = plan(stored(BEFORE), &sheet, &profile(SheetMode::Partial), now()).warnings;
    assert_eq!(
        warnings,
        [
            "2 costs change by more than 50 %, the first: 262-01, 0.05 to 0.08",
            "1 cost is 0: 262-02",
            "2 raises are announced less than 7 days before, the first: 262-01",
            "1 date is in the past, and the cost applies from now: 262-03",
            "1 network has no number ranges in the number data, so that no message is known to be for it: 262-06",
        ]
    );
    let known = stored("262,01,0.05,,,,\n262,01,0.07,,2027-01-01,,\n262,02,0.06,,,,alpha\n262,02,0.06,,,,\n");
    let sheet = read("262,01,0.051,,2026-12-25,,\n262,02,0.06,,,,\n");
    let warnings = plan(known, &sheet, &profile(SheetMode::Full), now()).warnings;
    assert_eq!(
        warnings,
        [
            "1 destination has a cost that was planned before and begins later; it stays: 262-01",
            "1 cost for one kind of sender is not listed beside that for any; it stays: 262-02:alphanumeric",
        ]
    );
}

#[test]
fn of_dates_in_the_past_the_last_applies_and_ended_rows_do_not() {
    let sheet =
        read("262,01,0.04,,2026-10-01,,\n262,01,0.045,,2026-11-01,,\n262,02,0.01,,2026-10-01,2026-11-01,\n");
    let plan = plan(stored(BEFORE), &sheet, &profile(SheetMode::Partial), now());
    assert_eq!(told(&plan), ["lowered 262-01 0.05 0.045 2026-12-15T12:00:00Z"]);
}
