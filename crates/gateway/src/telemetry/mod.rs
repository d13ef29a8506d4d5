//! Logging and metrics: sets up the log formats and the Prometheus recorder.

mod descriptions;
mod escaping;

use crate::config::{LogFormat, LogSection, level_filter};
use escaping::JsonLines;
use metrics::{counter, gauge};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use std::io::IsTerminal as _;
use std::sync::OnceLock;
use std::time::Duration;
use tracing::{Event, Level, Metadata};
use tracing_subscriber::field::MakeExt as _;
use tracing_subscriber::filter::{FilterExt as _, Targets, filter_fn};
use tracing_subscriber::fmt::format::debug_fn;
use tracing_subscriber::layer::{Context, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer, Registry};

/// Latency buckets, fine around an fsync and around a carrier's round trip.
const SECONDS_BUCKETS: [f64; 14] =
    [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];
const COUNT_BUCKETS: [f64; 10] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0];

/// Starts logging to standard error. Only the first call in a process has an effect.
pub fn start_logging(log: &LogSection) -> Result<(), String> {
    let LogSection { format, level } = log;
    let filter = level_filter(level)?;
    // Colours only on a terminal.
    let lines = lines(*format, std::io::stderr().is_terminal(), std::io::stderr);
    let started = tracing_subscriber::registry().with(logged(lines, filter)).try_init();
    if started.is_err() {
        tracing::debug!("Logging was already set up");
    }
    Ok(())
}

/// Adds the level filter to the lines, and counts the warnings of the HTTP/2 library instead of writing them: clients cause them at
/// will.
fn logged(lines: Box<dyn Layer<Registry> + Send + Sync>, filter: Targets) -> impl Layer<Registry> {
    let written = filter.and(filter_fn(|event| !is_http2_warning(event)));
    lines.with_filter(written).and_then(Http2Warnings.with_filter(filter_fn(is_http2_warning)))
}

fn is_http2_warning(event: &Metadata<'_>) -> bool {
    let is_of_library = event.target() == "h2" || event.target().starts_with("h2::");
    is_of_library && *event.level() <= Level::WARN
}

/// Counts the events that it gets.
struct Http2Warnings;

impl Layer<Registry> for Http2Warnings {
    fn on_event(&self, _: &Event<'_>, _: Context<'_, Registry>) {
        counter!("hermod_http2_warnings_total").increment(1);
    }
}

/// Returns the layer that writes log lines. Escapes everything that could end a line or control a terminal.
fn lines<W: std::io::Write + 'static>(
    format: LogFormat,
    colours: bool,
    writer: impl Fn() -> W + Send + Sync + 'static,
) -> Box<dyn Layer<Registry> + Send + Sync> {
    let lines = tracing_subscriber::fmt::layer().with_ansi(colours);
    match format {
        LogFormat::Human => {
            let fields = debug_fn(escaping::write_field).delimited(" ");
            Box::new(lines.with_target(false).fmt_fields(fields).with_writer(writer))
        }
        LogFormat::Json => {
            let lines = lines.json().flatten_event(true).with_current_span(false).with_span_list(false);
            Box::new(lines.with_writer(move || JsonLines(writer())))
        }
    }
}

static NODE: OnceLock<String> = OnceLock::new();

/// Gives all metrics a label with the name of the node, if it has one. To be called before [`figures`].
pub fn name_node(name: Option<&str>) {
    if let Some(name) = name {
        // A second gateway in the process shares the metrics of the first.
        let _ = NODE.set(name.to_owned());
    }
}

/// Returns the metrics of this process, shared by all gateways in it.
pub fn figures() -> &'static ProcessFigures {
    static FIGURES: OnceLock<ProcessFigures> = OnceLock::new();
    FIGURES.get_or_init(|| {
        let mut builder = PrometheusBuilder::new();
        if let Some(node) = NODE.get() {
            builder = builder.add_global_label("node", node);
        }
        let recorder = builder
            .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &SECONDS_BUCKETS)
            .and_then(|builder| builder.set_buckets(&COUNT_BUCKETS))
            .expect("there are buckets")
            .build_recorder();
        let handle = recorder.handle();
        if metrics::set_global_recorder(recorder).is_err() {
            tracing::warn!("Another metrics recorder is installed; /metrics stays empty");
        }
        descriptions::describe_all();
        ProcessFigures { handle }
    })
}

pub struct ProcessFigures {
    handle: PrometheusHandle,
}

impl ProcessFigures {
    /// Renders all metrics in the Prometheus text format.
    pub fn render(&self, uptime: Duration) -> String {
        gauge!("hermod_uptime_seconds").set(uptime.as_secs_f64());
        if let Some(bytes) = resident_bytes() {
            #[expect(clippy::cast_precision_loss, reason = "a figure for a chart")]
            gauge!("process_resident_memory_bytes").set(bytes as f64);
        }
        self.handle.render()
    }

    /// Folds histogram samples, which accumulate otherwise. To be called every few seconds.
    pub fn fold(&self) {
        self.handle.run_upkeep();
    }
}

/// Returns the resident memory, where the system provides it.
pub fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
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
}
