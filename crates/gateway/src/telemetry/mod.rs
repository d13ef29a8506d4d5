//! Logging and metrics: sets up the log formats and the Prometheus recorder.

mod descriptions;
mod escaping;
mod families;

pub use families::push_family;

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
mod tests;
