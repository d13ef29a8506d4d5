//! Values as people type them, and the two ways out: stdout for results, stderr for everything else.

use std::io::{self, Write};
use std::time::Duration;

use hermod_simulator::carrier::{Outcome, SubmitAction};
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

/// `1s..30s`: the shorter first.
pub(crate) fn durations(text: &str) -> Result<(Duration, Duration), String> {
    let both = text.split_once("..").map(|(least, most)| (duration(least), duration(most)));
    match both {
        Some((Ok(least), Ok(most))) if least <= most => Ok((least, most)),
        _ => Err(format!("{text:?} is not two durations such as 1s..30s")),
    }
}

/// `2/10`: so many of so many.
pub(crate) fn ratio(text: &str) -> Result<(u64, u64), String> {
    let both = text.split_once('/').map(|(count, of)| (count.parse(), of.parse()));
    match both {
        Some((Ok(count), Ok(of))) if 0 < count && count <= of => Ok((count, of)),
        _ => Err(format!("{text:?} is not so many of so many, as in 2/10")),
    }
}

/// `8/5`: a number of binds, and of submits on each.
pub(crate) fn binds_and_submits(text: &str) -> Result<(u64, u32), String> {
    let both = text.split_once('/').map(|(binds, submits)| (binds.parse(), submits.parse()));
    match both {
        Some((Ok(binds), Ok(submits))) if 0 < submits => Ok((binds, submits)),
        _ => Err(format!("{text:?} is not a number of binds and of submits on each, as in 8/5")),
    }
}

/// `silence:5`: an act, and for how many in a thousand.
pub(crate) fn chaos(text: &str) -> Result<(SubmitAction, u16), String> {
    let both = text.rsplit_once(':').map(|(name, chance)| (act(name), chance.parse()));
    match both {
        Some((Some(act), Ok(chance))) if (1..=1000).contains(&chance) => Ok((act, chance)),
        _ => Err(format!("{text:?} is not an act and so many in a thousand: {ACTS}")),
    }
}

const ACTS: &str = "silence, lose-answer, refuse-STATUS, nack-STATUS, cut, cut-before-answer, unbind, \
                    unbind-before-answer, garbage, stall-TIME, mute or mute-before-answer, as in silence:5 or \
                    refuse-0x58:20";

fn act(name: &str) -> Option<SubmitAction> {
    Some(match name {
        "silence" => SubmitAction::Silence,
        "lose-answer" => SubmitAction::LoseResponse,
        "cut" => SubmitAction::CutAfterResponse,
        "cut-before-answer" => SubmitAction::CutBeforeResponse,
        "unbind" => SubmitAction::Unbind,
        "unbind-before-answer" => SubmitAction::UnbindBeforeResponse,
        "garbage" => SubmitAction::Garbage,
        "mute" => SubmitAction::Mute,
        "mute-before-answer" => SubmitAction::MuteBeforeResponse,
        other => {
            let (kind, value) = other.split_once('-')?;
            match kind {
                "refuse" => SubmitAction::Reject(status(value).ok()?),
                "nack" => SubmitAction::Nack(status(value).ok()?),
                "stall" => SubmitAction::Stall(duration(value).ok()?),
                _ => return None,
            }
        }
    })
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
    fn pairs_are_two_values_in_order() {
        assert_eq!(durations("1s..30s"), Ok((Duration::from_secs(1), Duration::from_secs(30))));
        assert_eq!(ratio("2/10"), Ok((2, 10)));
        for text in ["", "1s", "30s..1s", "1..2"] {
            assert!(durations(text).is_err(), "{text}");
        }
        for text in ["", "2", "0/5", "6/5", "a/b"] {
            assert!(ratio(text).is_err(), "{text}");
        }
    }

    #[test]
    fn chaos_is_an_act_and_its_chance() {
        assert_eq!(chaos("silence:5"), Ok((SubmitAction::Silence, 5)));
        assert_eq!(chaos("refuse-0x58:20"), Ok((SubmitAction::Reject(CommandStatus::THROTTLED), 20)));
        assert_eq!(chaos("stall-2s:1"), Ok((SubmitAction::Stall(Duration::from_secs(2)), 1)));
        for text in ["", "silence", "silence:0", "silence:1001", "refuse:5", "refuse-0:5", "sleep:1"] {
            assert!(chaos(text).is_err(), "{text}");
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
