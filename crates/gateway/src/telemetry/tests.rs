//! Unit tests of `telemetry/mod.rs`.

use super::*;

#[test]
fn metrics_are_shared_and_include_process_values() {
    let figures = figures();
    assert!(std::ptr::eq(figures, super::figures()));
    metrics::counter!("hermod_test_total").increment(1);
    figures.fold();
    let text = figures.render(Duration::from_secs(90));
    assert!(text.contains("hermod_test_total 1"), "{text}");
    assert!(text.contains("hermod_uptime_seconds 90"), "{text}");
    assert!(text.contains("# HELP hermod_uptime_seconds "), "{text}");
    assert!(text.contains("# HELP process_resident_memory_bytes "), "{text}");
    assert!(text.contains("process_resident_memory_bytes "), "{text}");
}

/// A hostile value for any field.
const HOSTILE: &str =
    "a\r\n2026-11-15 INFO forged\0\u{1b}[2J\u{7}\u{7f}\u{9b}31m\u{202e}\u{200b}\u{2028}z\"\\";

#[derive(Clone, Default)]
struct Written(std::sync::Arc<std::sync::Mutex<Vec<u8>>>);

impl std::io::Write for Written {
    fn write(&mut self, octets: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(octets)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn warnings_of_the_http2_library_are_counted_and_not_written() {
    let before = http2_warnings();
    let written = Written::default();
    let writer = written.clone();
    let lines = lines(LogFormat::Human, false, move || writer.clone());
    let layers = super::logged(lines, level_filter("trace").unwrap());
    tracing::subscriber::with_default(tracing_subscriber::registry().with(layers), || {
        for _ in 0..3 {
            tracing::warn!(target: "h2::proto::streams::recv", "recv_headers: too many");
        }
        tracing::debug!(target: "h2::codec", "a frame");
        tracing::warn!("another warning");
    });
    let text = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
    assert!(!text.contains("recv_headers"), "{text}");
    assert!(text.contains("a frame") && text.contains("another warning"), "{text}");
    assert_eq!(http2_warnings() - before, 3);
}

fn http2_warnings() -> u64 {
    let text = figures().render(Duration::ZERO);
    let value = text.lines().find_map(|line| line.strip_prefix("hermod_http2_warnings_total "));
    value.map_or(0, |value| value.parse().unwrap())
}

/// Logs hostile values in every way a value can be given.
fn logged(format: LogFormat) -> String {
    let written = Written::default();
    let writer = written.clone();
    let logged = tracing_subscriber::registry().with(lines(format, false, move || writer.clone()));
    tracing::subscriber::with_default(logged, || {
        tracing::info!(system_id = %HOSTILE, id = ?HOSTILE, word = HOSTILE, "Refused {HOSTILE}");
    });
    let octets = written.0.lock().unwrap().clone();
    String::from_utf8(octets).unwrap()
}

#[test]
fn hostile_values_are_escaped_in_both_formats() {
    for format in [LogFormat::Human, LogFormat::Json] {
        let text = logged(format);
        let line = text.strip_suffix('\n').unwrap();
        let hidden =
            |character: char| character.is_control() || "\u{202e}\u{200b}\u{2028}".contains(character);
        assert!(!line.contains(hidden), "{line:?}");
    }
    let line = logged(LogFormat::Human);
    let escaped = "a\\r\\n2026-11-15 INFO forged\\u{0}\\u{1b}[2J";
    assert!(line.contains(&format!("system_id={escaped}")), "{line}");
    let read: serde_json::Value = serde_json::from_str(&logged(LogFormat::Json)).unwrap();
    assert_eq!((&read["system_id"], &read["word"]), (&HOSTILE.into(), &HOSTILE.into()));
}
