//! Values as people type them, and the two ways out: stdout for results, stderr for everything else.

use std::io::{self, Write};
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};

/// `250ms`, `10s`, `2m` or `1h`. A bare number is refused: it would read differently to everyone.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: u64 = digits.parse().map_err(|_| expected(text))?;
    let unit_ms = match &text[digits.len()..] {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return Err(expected(text)),
    };
    number.checked_mul(unit_ms).map(Duration::from_millis).ok_or_else(|| expected(text))
}

fn expected(text: &str) -> String {
    format!("{text:?} is not a duration: expected a number and ms, s, m or h, as in 250ms or 10s")
}

/// A rate of messages per second: positive and finite.
pub(crate) fn rate(text: &str) -> Result<f64, String> {
    let rate: f64 = text.parse().map_err(|_| format!("{text:?} is not a number"))?;
    if rate.is_finite() && rate > 0.0 { Ok(rate) } else { Err("a rate is above 0".to_owned()) }
}

/// Prints a result. A reader that went away is no fault of ours.
pub(crate) fn say(text: &str) {
    let _ = writeln!(io::stdout().lock(), "{text}");
}

pub(crate) fn say_on_stderr(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Rewrites the line the cursor stands on.
pub(crate) fn rewrite_line(text: &str) {
    let mut stderr = io::stderr().lock();
    let _ = write!(stderr, "\r{text}\u{1b}[K");
    let _ = stderr.flush();
}

/// Waits for ctrl-c or SIGTERM.
pub(crate) async fn told_to_end() {
    let mut terminate = signal(SignalKind::terminate()).expect("SIGTERM can be listened for");
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_need_a_unit() {
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(duration("10s"), Ok(Duration::from_secs(10)));
        assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
        assert_eq!(duration("1h"), Ok(Duration::from_secs(3600)));
        for text in ["", "10", "s", "1.5s", "10 s", "10d", "-1s", "18446744073709551615h"] {
            assert_eq!(duration(text), Err(expected(text)));
        }
    }

    #[test]
    fn rates_are_positive_numbers() {
        assert_eq!(rate("0.5"), Ok(0.5));
        for text in ["0", "-1", "inf", "NaN", "fast"] {
            assert!(rate(text).is_err(), "{text}");
        }
    }
}
