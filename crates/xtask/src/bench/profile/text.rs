//! Figures as text.

/// A whole number with its thousands separated.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A figure with about three digits: 0.04, 1.31, 45.2, 541, 27,123.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "figures are not negative and far below 2^53"
)]
pub(super) fn figure(value: f64) -> String {
    if value < 9.995 {
        format!("{value:.2}")
    } else if value < 99.95 {
        format!("{value:.1}")
    } else {
        grouped(value.round() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_about_three_digits() {
        for (value, expect) in [
            (0.0, "0.00"),
            (0.042, "0.04"),
            (9.994, "9.99"),
            (9.996, "10.0"),
            (45.23, "45.2"),
            (99.96, "100"),
            (541.4, "541"),
            (999.6, "1,000"),
            (27_123.0, "27,123"),
            (1_234_567.0, "1,234,567"),
        ] {
            assert_eq!(figure(value), expect);
        }
        assert_eq!((grouped(0), grouped(100)), ("0".to_owned(), "100".to_owned()));
    }
}
