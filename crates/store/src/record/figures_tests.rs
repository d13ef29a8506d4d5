//! Unit tests of `figures.rs`.

use super::*;

#[test]
fn quantiles_are_right_within_a_fifth() {
    let mut times = TimeHistogram::default();
    (1..=1_000).for_each(|ms| times.add(Duration::from_millis(ms)));
    for (share, exact) in [(0.5, 500), (0.95, 950), (1.0, 1_000)] {
        let found = times.quantile(share).unwrap().as_millis();
        assert!((exact..=exact * 6 / 5).contains(&found), "{share}: {found}");
    }
    assert_eq!(TimeHistogram::default().quantile(0.5), None);
}

#[test]
fn longest_time_has_a_class() {
    let mut times = TimeHistogram::default();
    times.add(Duration::MAX);
    times.add(Duration::from_secs(400 * 86_400));
    assert!(times.quantile(0.5).unwrap() >= Duration::from_secs(400 * 86_400));
}

#[test]
fn intervals_begin_at_whole_minutes_hours_and_days() {
    let at = Timestamp::from_millis(1_800_001_234_567);
    for resolution in Resolution::ALL {
        let start = resolution.start_of(at);
        assert!(start <= at && at < start.plus(resolution.length()));
        assert_eq!(resolution.start_of(start), start);
    }
}

#[test]
fn margin_adds_up_what_remains_in_one_currency_if_every_amount_can_be_converted() {
    let [euro, dollar, yen] = ["EUR", "USD", "JPY"].map(|code| Currency::parse(code).unwrap());
    let sum = |messages, due, revenue| CostSum {
        messages,
        due: Money::from_micros(due),
        revenue: Money::from_micros(revenue),
    };
    // Two dollars are a euro, and nothing is known of yens.
    let convert = |amount: Money, from| match from {
        from if from == euro => Some(amount),
        from if from == dollar => Some(Money::from_micros(amount.as_micros() / 2)),
        _ => None,
    };
    let mut costs = CostSums::default();
    assert_eq!(costs.margin(convert), None, "without costs");
    costs.add(euro, sum(2, 116_000, 130_000));
    costs.add(dollar, sum(1, 40_000, 65_000));
    assert_eq!(costs.margin(convert), Some(Money::from_micros(130_000 - 116_000 + 65_000 - 20_000)));
    let mut more = CostSums::default();
    more.add(dollar, sum(1, 200_000, 0));
    costs.merge(&more);
    assert_eq!(
        costs.iter().collect::<Vec<_>>(),
        [(euro, sum(2, 116_000, 130_000)), (dollar, sum(2, 240_000, 65_000))]
    );
    assert_eq!(
        costs.margin(convert),
        Some(Money::from_micros(130_000 - 116_000 + 65_000 - 120_000)),
        "a loss"
    );
    costs.add(yen, sum(1, 1, 0));
    assert_eq!(costs.margin(convert), None, "without an exchange rate");
}
