//! Unit tests of `results.rs`.

use super::super::figures::{CPU, OFFERED};
use super::super::options::arg;
use super::*;

static TABLE: Table = Table {
    columns: &[REACHED, CPU, "fsyncs each"],
    ratio: ["new", "old"],
    limits: &["500 | new | reached /s >= floor"],
    may_fall_short: false,
};

fn options(words: &[&str]) -> Options {
    let command = clap::Command::new("bench").args(["floor=11 A floor", "short No limits"].map(arg));
    Options(command.get_matches_from(words))
}

/// Two rounds of two builds.
fn results() -> Results {
    let mut results = Results::new(&TABLE);
    for (variant, reached, cpu) in
        [("old", 500.0, 400.0), ("new", 450.0, 100.0), ("old", 500.0, 500.0), ("new", 500.0, 150.0)]
    {
        results.add("500", variant, Figures::from([(REACHED, reached), (CPU, cpu), (OFFERED, 500.0)]));
    }
    results
}

#[test]
fn lines_have_medians_and_their_ratio_is_that_of_the_rounds() {
    let mut results = results();
    results.say("memory", 12.0, "MiB");
    results.text.clear();
    results.print_summary();
    let cells = |line: &str| line.split('|').skip(1).take(4).map(str::trim).collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = results.text.lines().filter(|line| line.starts_with("| ")).map(cells).collect();
    let expect = ["500 old 500 450", "500 new 475\\* 125", "rounds 0.90, 1.00 new/old 0.95 0.28"];
    assert_eq!(lines[1..], expect);
    assert!(results.text.contains("\\* The offered load"), "{}", results.text);
}

#[test]
fn limits_are_of_lines_ratios_and_single_figures() {
    let mut results = results();
    results.say("memory", 12.0, "MiB");
    let options = options(&["bench"]);
    for (limit, missed) in [
        ("500 | new | reached /s >= 475", None),
        (
            "500 | new/old | CPU us <= 0.2",
            Some("0.28 CPU us instead of 500 | new/old | CPU us <= 0.2 (0.20)"),
        ),
        ("memory | | MiB <= floor", Some("12.0 MiB instead of memory | | MiB <= floor (11.0)")),
        ("disk | | MiB <= 1", Some("disk | | MiB <= 1: it was not measured")),
    ] {
        assert_eq!(results.missed(limit, &options).as_deref(), missed);
    }
}

#[test]
fn failed_rounds_and_unsent_messages_fail() {
    let options = options(&["bench", "--short"]);
    let mut results = results();
    results.fail("500", "old", "the audit failed");
    results.add("500", "new", Figures::from([(UNSENT, 3.0)]));
    let missed = ["500 old: the audit failed", "500 new: messages were due and not sent"];
    assert_eq!(results.judge(&options), missed);
    assert!(results.ratios("500").is_empty() && results.lines[0].figures().is_none());
}
