//! Which costs a margin allows.

use super::*;

fn money(text: &str) -> Money {
    Money::parse(text).unwrap()
}

#[test]
fn margin_is_a_share_or_an_amount_and_is_written_as_it_was_read() {
    for text in ["5%", "0%", "-2.5%", "100%", "-1000%", "0.000001%", "0.002", "0", "-0.01", "1000"] {
        assert_eq!(Margin::parse(text).unwrap().to_string(), text);
    }
    assert_eq!(Margin::parse("5 %").unwrap().to_string(), "5%");
    for text in
        ["", "%", "5%%", "100.1%", "-1001%", "0.0000001%", "0.0000001", "1000.1", "-1001", "five", "1e2"]
    {
        assert_eq!(Margin::parse(text), Err(MarginRefusal), "{text}");
    }
}

#[test]
fn margin_is_kept_to_the_millionth() {
    for (margin, price, cost, parts, expect) in [
        ("0", "0.05", "0.05", 1, true),
        ("0", "0.05", "0.050001", 1, false),
        ("5%", "0.05", "0.0475", 1, true),
        ("5%", "0.05", "0.047501", 1, false),
        // A share of an amount that is no whole number of millionths.
        ("0.000001%", "0.05", "0.05", 1, false),
        ("0.000001%", "0.05", "0.049999", 1, true),
        ("0.002", "0.1", "0.096", 2, true),
        ("0.002", "0.1", "0.096001", 2, false),
        // The carrier counts three parts where the customer paid for two.
        ("0.002", "0.1", "0.096", 3, false),
        ("-10%", "0.05", "0.055", 1, true),
        ("-10%", "0.05", "0.055001", 1, false),
        ("-0.01", "0.05", "0.06", 1, true),
        ("-0.01", "0.05", "0.060001", 1, false),
        // What is free for the customer has no share.
        ("5%", "0", "0", 1, true),
        ("5%", "0", "0.000001", 1, false),
        ("100%", "0.05", "0", 1, true),
        ("100%", "0.05", "0.000001", 1, false),
        ("100%", "255000", "0", 255, true),
    ] {
        let kept = Margin::parse(margin).unwrap().is_kept(money(price), money(cost), parts);
        assert_eq!(kept, expect, "{margin} of {price} at {cost}");
    }
}
