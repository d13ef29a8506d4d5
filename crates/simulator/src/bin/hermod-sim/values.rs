//! Values as people type them, and the two ways out: stdout for results, stderr for everything else.

use std::io::{self, Write};
use std::time::Duration;

use hermod_simulator::carrier::Outcome;
use hermod_smpp::CommandStatus;
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

/// A command status: hex as the specification writes it (`0x58`), or decimal.
pub(crate) fn status(text: &str) -> Result<CommandStatus, String> {
    let status = match text.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16),
        None => text.parse(),
    };
    match status {
        Ok(status) if status > 0 => Ok(CommandStatus(status)),
        _ => Err(format!("{text:?} is not an SMPP error status such as 0x58")),
    }
}

/// A receipt's word, in any case.
pub(crate) fn outcome(text: &str) -> Result<Outcome, String> {
    let outcome = Outcome::ALL.into_iter().find(|outcome| outcome.word().eq_ignore_ascii_case(text));
    outcome.ok_or_else(|| {
        let words: Vec<&str> = Outcome::ALL.into_iter().map(Outcome::word).collect();
        format!("{text:?} is none of {}", words.join(", "))
    })
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
    fn statuses_are_hex_or_decimal_and_never_ok() {
        assert_eq!(status("0x58"), Ok(CommandStatus::THROTTLED));
        assert_eq!(status("88"), Ok(CommandStatus::THROTTLED));
        for text in ["", "0", "0x0", "0xg", "throttled"] {
            assert!(status(text).is_err(), "{text}");
        }
    }

    #[test]
    fn outcomes_are_the_words_of_receipts() {
        assert_eq!(outcome("DELIVRD"), Ok(Outcome::Delivered));
        assert_eq!(outcome("rejectd"), Ok(Outcome::Rejected));
        let words = "ENROUTE, DELIVRD, EXPIRED, DELETED, UNDELIV, ACCEPTD, UNKNOWN, REJECTD";
        assert_eq!(outcome("delivered"), Err(format!(r#""delivered" is none of {words}"#)));
    }

    #[test]
    fn rates_are_positive_numbers() {
        assert_eq!(rate("0.5"), Ok(0.5));
        for text in ["0", "-1", "inf", "NaN", "fast"] {
            assert!(rate(text).is_err(), "{text}");
        }
    }
}
