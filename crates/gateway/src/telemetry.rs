//! What the gateway says about itself: log lines for people and machines, figures for Prometheus. Facts are logged where
//! they are handled; this file only decides how they are written.

use crate::config::{Log, LogFormat};
use metrics::{describe_gauge, gauge};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use std::io::IsTerminal as _;
use std::sync::OnceLock;
use std::time::Duration;
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// Upper bounds of latency buckets. Around a fsync and around a carrier's round trip they are close together.
const SECONDS_BUCKETS: [f64; 14] =
    [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];
const COUNT_BUCKETS: [f64; 10] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0];

/// Writes log lines to standard error from here on. Only the first call in a process has an effect.
pub fn start_logging(log: &Log) -> Result<(), String> {
    let Log { format, level } = log;
    let filter = level_filter(level)?;
    // Colours are for eyes: in a file they are noise.
    let colours = std::io::stderr().is_terminal();
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(colours);
    let started = match format {
        LogFormat::Human => {
            tracing_subscriber::registry().with(lines.with_target(false).with_filter(filter)).try_init()
        }
        LogFormat::Json => {
            let lines = lines.json().flatten_event(true).with_current_span(false).with_span_list(false);
            tracing_subscriber::registry().with(lines.with_filter(filter)).try_init()
        }
    };
    if started.is_err() {
        tracing::debug!("Logging was set up before");
    }
    Ok(())
}

/// Reads `info` or `info,hermod_gateway=debug`. A word that is no level is refused: taken for the name of a part, as is
/// usual, a misspelt level would silence everything.
pub fn level_filter(text: &str) -> Result<Targets, String> {
    let mut targets = Targets::new();
    for directive in text.split(',') {
        let (part, level) = match directive.split_once('=') {
            Some((part, level)) => (Some(part.trim()), level.trim()),
            None => (None, directive.trim()),
        };
        // The empty text would be read as "error".
        let known = level.parse::<LevelFilter>().ok().filter(|_| !level.is_empty()).ok_or_else(|| {
            format!(
                "\"{level}\" is no level: use error, warn, info, debug or trace, or name a part as in \
                 \"info,hermod_gateway=debug\""
            )
        })?;
        targets = match part {
            Some(part) => targets.with_target(part, known),
            None => targets.with_default(known),
        };
    }
    Ok(targets)
}

/// The figures of this process. Every gateway in it counts into the same ones, as tests do.
pub fn figures() -> &'static Figures {
    static FIGURES: OnceLock<Figures> = OnceLock::new();
    FIGURES.get_or_init(|| {
        let recorder = PrometheusBuilder::new()
            .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &SECONDS_BUCKETS)
            .and_then(|builder| builder.set_buckets(&COUNT_BUCKETS))
            .expect("there are buckets")
            .build_recorder();
        let handle = recorder.handle();
        if metrics::set_global_recorder(recorder).is_err() {
            tracing::warn!("Another recorder collects this process's figures; /metrics stays empty");
        }
        describe_gauge!("process_resident_memory_bytes", "Memory of this process that is in RAM.");
        describe_gauge!("hermod_uptime_seconds", "How long this gateway has been running.");
        Figures { handle }
    })
}

pub struct Figures {
    handle: PrometheusHandle,
}

impl Figures {
    /// Everything counted so far, with the process measured now, in the text form of Prometheus.
    pub fn render(&self, uptime: Duration) -> String {
        gauge!("hermod_uptime_seconds").set(uptime.as_secs_f64());
        if let Some(bytes) = resident_bytes() {
            #[expect(clippy::cast_precision_loss, reason = "a figure for a chart")]
            gauge!("process_resident_memory_bytes").set(bytes as f64);
        }
        self.handle.render()
    }

    /// Folds histogram samples together. To be called every few seconds: until then they pile up.
    pub fn fold(&self) {
        self.handle.run_upkeep();
    }
}

/// Read from the kernel; not on every system.
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
    fn figures_can_be_asked_for_twice_and_show_the_process() {
        let figures = figures();
        assert!(std::ptr::eq(figures, super::figures()));
        metrics::counter!("hermod_test_total").increment(1);
        figures.fold();
        let text = figures.render(Duration::from_secs(90));
        assert!(text.contains("hermod_test_total 1"), "{text}");
        assert!(text.contains("hermod_uptime_seconds 90"), "{text}");
        assert!(text.contains("process_resident_memory_bytes "), "{text}");
    }

    #[test]
    fn a_level_may_name_parts_but_not_be_misspelt() {
        for text in ["info", "WARN", "info,hermod_gateway=debug", "hermod_store = trace , warn", "off"] {
            assert!(level_filter(text).is_ok(), "{text}");
        }
        for text in ["", "inof", "info,", "hermod_gateway", "hermod_gateway=loud"] {
            assert!(level_filter(text).is_err(), "{text}");
        }
    }
}
