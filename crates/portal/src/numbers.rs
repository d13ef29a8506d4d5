//! Numbers and durations as people read them.

pub use hermod_domain::grouping::grouped;

/// Returns an amount of money such as `999999.3` as people write it: `999,999.30`. Decimals beyond two stay if they are not zero.
pub fn amount(text: &str) -> String {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
    let (whole, decimals) = digits.split_once('.').unwrap_or((digits, ""));
    let whole = whole.parse().map_or_else(|_| whole.to_owned(), grouped);
    format!("{sign}{whole}.{decimals:0<2}")
}

/// Returns a large number in at most four characters: `950`, `1.2k`, `34k`, `1.5M`.
pub fn short(number: u64) -> String {
    let (unit, sign) = match number {
        0..1_000 => return number.to_string(),
        1_000..1_000_000 => (1_000, "k"),
        1_000_000..1_000_000_000 => (1_000_000, "M"),
        1_000_000_000.. => (1_000_000_000, "G"),
    };
    let tenths = number / (unit / 10);
    match (tenths / 10, tenths % 10) {
        (whole @ 0..10, tenth @ 1..) => format!("{whole}.{tenth}{sign}"),
        (whole, _) => format!("{whole}{sign}"),
    }
}

/// Returns a duration: `14 ms`, `2.31 s`, `3 min 12 s`, `5 h 2 min`, `2 d 4 h`.
pub fn duration(ms: u64) -> String {
    let (seconds, minutes, hours, days) = (ms / 1_000, ms / 60_000, ms / 3_600_000, ms / 86_400_000);
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..10_000 => format!("{seconds}.{:02} s", ms % 1_000 / 10),
        10_000..60_000 => format!("{seconds}.{} s", ms % 1_000 / 100),
        60_000..3_600_000 => format!("{minutes} min {} s", seconds % 60),
        3_600_000..86_400_000 => format!("{hours} h {} min", minutes % 60),
        86_400_000.. => format!("{days} d {} h", hours % 24),
    }
}

/// Returns how long after the acceptance of a message a step was: `+14 ms`.
pub fn offset(ms: u64) -> String {
    format!("+{}", duration(ms))
}

/// Returns a share in percent with one decimal, rounded down so that 100 % means all; `None` of nothing.
pub fn percent(part: u64, whole: u64) -> Option<String> {
    if whole == 0 {
        return None;
    }
    let tenths = u128::from(part) * 1_000 / u128::from(whole);
    Some(if tenths == 1_000 { "100 %".to_owned() } else { format!("{}.{} %", tenths / 10, tenths % 10) })
}

#[cfg(test)]
#[path = "numbers_tests.rs"]
mod tests;
