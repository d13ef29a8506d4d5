//! Unit tests of `partitions.rs`.

use super::*;
use hermod_domain::time::Timestamp;

#[test]
fn periods_follow_each_other_and_contain_the_ids_of_their_days() {
    let at = Timestamp::parse("2026-11-14T12:30:00Z").unwrap();
    for table in [MESSAGES, TEXTS] {
        let period = table.period_of(MessageId::first_at(at));
        let next = Period(Day::new(period.0.get() + table.days));
        assert_eq!(table.end_of(period), table.start_of(next));
        let id = MessageId::first_at(at).as_i64();
        assert!((table.start_of(period)..table.end_of(period)).contains(&id));
    }
}

#[test]
fn clock_before_2025_has_a_period_too() {
    let first = MessageId::first_at(Timestamp::EPOCH);
    for table in [MESSAGES, TEXTS] {
        let period = table.period_of(first);
        assert!(table.start_of(period) == 0 && table.end_of(period) > 0);
    }
}
