//! Unit tests of `figures.rs`.

use super::*;

#[test]
fn figures_have_about_three_digits() {
    for (value, expect) in [
        (0.0, "0.00"),
        (0.0042, "0.0042"),
        (0.42, "0.42"),
        (9.996, "10.0"),
        (99.96, "100"),
        (999.6, "1,000"),
        (-1_234_567.0, "-1,234,567"),
    ] {
        assert_eq!(figure(value), expect);
    }
    assert_eq!((grouped(0), grouped(100)), ("0".to_owned(), "100".to_owned()));
}

#[test]
fn runs_are_counted_summed_and_compared_by_column() {
    let before = Figures::from([(CPU, 1_000.0), (MEMORY, 40.0)]);
    let after = Figures::from([(CPU, 5_000.0), (COMMITS, 200.0), (MEMORY, 45.0)]);
    let each = Figures::from([(CPU, 40.0), (COMMITS, 2.0), (MEMORY, 45.0)]);
    assert_eq!(after.since(&before, 100.0), each);
    let [slow, fast] = [[(REACHED, 6.0), (P50, 3.0)], [(REACHED, 4.0), (P50, 1.0)]].map(Figures::from);
    assert_eq!(Figures::sum([&slow, &fast]), Figures::from([(REACHED, 10.0), (P50, 3.0)]));
    assert_eq!(Figures::median(&[slow.clone(), fast.clone()]), Figures::from([(REACHED, 5.0), (P50, 2.0)]));
    assert_eq!(Figures::median(&[slow.clone(), fast, slow.clone()]), slow);
    assert_eq!(slow.ratio(&Figures::from([(REACHED, 4.0), (P50, 0.0)])), Figures::from([(REACHED, 1.5)]));
}

#[test]
fn load_is_short_below_its_rate_or_with_messages_unsent() {
    let is_short =
        |reached, unsent| Figures::from([(OFFERED, 500.0), (REACHED, reached), (UNSENT, unsent)]).is_short();
    assert_eq!([is_short(480.0, 0.0), is_short(500.0, 1.0), is_short(495.0, 0.0)], [true, true, false]);
    assert!(!Figures::from([(REACHED, 1.0)]).is_short());
}
