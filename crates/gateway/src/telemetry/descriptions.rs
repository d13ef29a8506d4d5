//! Describes the metrics (`# HELP`) as their documentation does.

use metrics::{describe_counter, describe_gauge, describe_histogram};

/// The documentation has a row for every metric: name, type, meaning.
const DOCUMENTED: &str = include_str!("../../../../docs/metrics.md");

/// Describes all documented metrics to the recorder of this process.
pub(super) fn describe_all() {
    for (name, kind, meaning) in rows() {
        match kind {
            "counter" => describe_counter!(name, meaning),
            "gauge" => describe_gauge!(name, meaning),
            _ => describe_histogram!(name, meaning),
        }
    }
}

/// Returns type and meaning of a metric. It must be documented.
pub(super) fn description_of(name: &str) -> (&'static str, String) {
    let row = rows().find(|(documented, ..)| *documented == name);
    let (_, kind, meaning) = row.expect("every metric has a row in docs/metrics.md");
    (kind, meaning)
}

/// Returns name, type and meaning of each metric.
fn rows() -> impl Iterator<Item = (&'static str, &'static str, String)> {
    DOCUMENTED.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| `")?.strip_suffix(" |")?.splitn(3, " | ");
        let (name, kind, meaning) = (cells.next()?.strip_suffix('`')?, cells.next()?, cells.next()?);
        Some((name, kind, meaning.replace('`', "")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_documentation_is_read() {
        let documented = DOCUMENTED.lines().filter(|line| line.starts_with("| `")).count();
        assert!(documented > 90 && rows().count() == documented);
        for (name, kind, meaning) in rows() {
            assert!(["counter", "gauge", "histogram"].contains(&kind), "{name}: {kind}");
            assert!(!meaning.is_empty() && !meaning.contains('`'), "{name}: {meaning}");
        }
    }
}
