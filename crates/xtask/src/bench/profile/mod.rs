//! `cargo xtask bench profile`: what a message costs, and how long it takes, over the offered load.

mod chart;
mod figures;
mod measure;
mod scale;
mod scenario;
mod table;
mod text;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use clap::Args;

use self::figures::{Figures, Measured, Row};
use self::measure::{Lengths, measure};
pub(super) use self::scenario::Protocol;
use self::scenario::{Offered, Scenario, plan};
use super::Programs;
use super::{Judged, failure, load_average, missed};
use crate::shell::{self, Outcome};

/// Seconds of a run besides its load, about: start, idle times and audit.
const BESIDE_SECONDS: u64 = 5;
/// Above this load average before the start, other processes disturb the figures.
const BUSY_LOAD: f64 = 1.0;
const BUSY_NOTE: &str = "The machine is busy: latencies are too long, and commits and bytes per message too few, because more \
                         messages wait for each commit. Compare only builds measured in turn.";

#[derive(Args)]
pub(crate) struct ProfileOptions {
    /// Seconds of load for each line
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,
    /// Seconds of the same load before the measurement
    #[arg(long, default_value_t = 2)]
    warm_up: u64,
    /// Offered loads in messages per second, and `saturation`
    #[arg(
        long,
        value_name = "LOADS",
        value_delimiter = ',',
        default_value = "500,2000,5000,10000,15000,saturation"
    )]
    rates: Vec<Offered>,
    /// Only this protocol
    #[arg(long)]
    only: Option<Protocol>,
    /// Another hermod to measure in turn with the present one, load by load
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// Measure the present build without its record in turn, as the old one
    #[arg(long, conflicts_with = "against")]
    without_record: bool,
    /// Measure every line this many times, builds in turn, and show medians
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Write the tables to this file, in Markdown
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Write a chart to this file: CPU per message and p99 over the offered load
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

pub(super) fn run(programs: &Programs, options: &ProfileOptions) -> Judged {
    let old = match &options.against {
        Some(file) => Some(programs.with_gateway(file)?),
        None => options.without_record.then(|| programs.without_record()),
    };
    let load_before = load_average();
    if is_busy(&load_before) {
        println!("{BUSY_NOTE}");
    }
    let plan = plan(&options.rates, options.only);
    let mut profiler = Profiler::new(programs, old, options, plan.len());
    let mut rows: Vec<Row> = Vec::new();
    for scenario in plan {
        let row = profiler.row(scenario);
        clear_progress();
        if rows.last().is_none_or(|last| last.scenario.protocol != scenario.protocol) {
            println!("\n{}", table::head(scenario.protocol));
        }
        println!("{}", table::lines(&row));
        rows.push(row);
    }
    if let Some(note) = table::note(&rows) {
        println!("\n{note}");
    }
    let facts = options.facts(programs, (&load_before, &load_average()));
    if let Some(file) = &options.markdown {
        write(file, &table::markdown(&facts, &rows))?;
    }
    if let Some(file) = &options.svg {
        write(file, &chart::svg(&rows))?;
    }
    let failed: usize = rows.iter().map(Row::failed).sum();
    Ok(missed(failed > 0, || format!("{failed} measurements failed")))
}

impl ProfileOptions {
    /// How the figures were measured, as a sentence.
    fn facts(&self, programs: &Programs, (before, after): (&str, &str)) -> String {
        let ProfileOptions { seconds, warm_up, rounds, .. } = self;
        let medians = if *rounds > 1 { format!(", medians of {rounds} rounds") } else { String::new() };
        let version =
            shell::output_of(&programs.hermod.to_string_lossy(), &["--version"]).unwrap_or_default();
        let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
        format!(
            "`cargo xtask bench profile`: {}, {seconds} s for each line after {warm_up} s of warm-up{medians}; \
             {cores} cores, load average {before} before and {after} after, the bench included. CPU, bytes written, commits \
             and fsyncs are per message, of the gateway alone.",
            version.trim()
        )
    }
}

/// Measures line by line and says how far it is.
struct Profiler<'a> {
    new: &'a Programs,
    old: Option<Programs>,
    lengths: Lengths,
    rounds: u32,
    done: u64,
    all: u64,
}

impl Profiler<'_> {
    fn new<'a>(
        new: &'a Programs,
        old: Option<Programs>,
        options: &ProfileOptions,
        lines: usize,
    ) -> Profiler<'a> {
        let lengths = Lengths { seconds: options.seconds, warm_up: options.warm_up };
        let builds = 1 + u64::from(old.is_some());
        let all = lines as u64 * builds * u64::from(options.rounds);
        Profiler { new, old, lengths, rounds: options.rounds, done: 0, all }
    }

    /// Measures one line, the builds in turn.
    fn row(&mut self, scenario: Scenario) -> Row {
        let old_build = self.old.clone();
        let (mut old_runs, mut new_runs) = (Vec::new(), Vec::new());
        for _ in 0..self.rounds {
            if let Some(build) = &old_build {
                old_runs.push(self.run(build, scenario, "old"));
            }
            new_runs.push(self.run(self.new, scenario, "new"));
        }
        Row { scenario, old: old_build.map(|_| median(old_runs)), new: median(new_runs) }
    }

    fn run(&mut self, build: &Programs, scenario: Scenario, name: &str) -> Measured {
        let Lengths { seconds, warm_up } = self.lengths;
        let left = (self.all - self.done) * (seconds + warm_up + BESIDE_SECONDS);
        show_progress(&format!(
            "{} of {}: {} {scenario}, {name} build; about {} min {} s left",
            self.done + 1,
            self.all,
            scenario.protocol.name(),
            left / 60,
            left % 60
        ));
        self.done += 1;
        measure(build, scenario, self.lengths)
    }
}

/// The medians; a failure if one run failed.
fn median(runs: Vec<Measured>) -> Measured {
    let runs: Vec<Figures> = runs.into_iter().collect::<Result<_, _>>()?;
    Ok(Figures::median(&runs))
}

fn show_progress(line: &str) {
    clear_progress();
    if std::io::stderr().is_terminal() {
        eprint!("{line} ");
    } else {
        eprintln!("{line}");
    }
}

fn clear_progress() {
    if std::io::stderr().is_terminal() {
        eprint!("\r\x1b[2K");
    }
}

fn write(file: &Path, text: &str) -> Outcome {
    std::fs::write(file, text).map_err(|cause| failure(format!("{}: {cause}", file.display())))
}

fn is_busy(load_average: &str) -> bool {
    let last_minute = load_average.split_whitespace().next().and_then(|load| load.parse::<f64>().ok());
    last_minute.is_some_and(|load| load > BUSY_LOAD)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::shell::Failure;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        options: ProfileOptions,
    }

    fn loads(args: &[&str]) -> Result<String, clap::Error> {
        let options = Cli::try_parse_from([&["profile"], args].concat())?.options;
        Ok(plan(&options.rates, options.only).iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
    }

    #[test]
    fn loads_and_protocol_are_chosen_by_flags() {
        let http = loads(&["--only", "http"]).expect("good flags");
        assert_eq!(http, "500; 2,000; 5,000; 10,000; 15,000; saturation");
        let smpp = loads(&["--only", "smpp", "--rates", "500,saturation"]).expect("good flags");
        assert_eq!(smpp, "500; saturation; saturation, window 10");
        assert!(loads(&["--rates", "500,fast"]).is_err());
        assert!(loads(&["--seconds", "0"]).is_err());
    }

    #[test]
    fn one_failed_round_fails_the_line() {
        let runs = vec![Ok(Figures::default()), Err(Failure("the audit failed".to_owned()))];
        assert_eq!(median(runs).map_err(|failure| failure.to_string()), Err("the audit failed".to_owned()));
        assert!(median(vec![Ok(Figures::default())]).is_ok());
    }

    #[test]
    fn machine_is_busy_by_the_load_of_the_last_minute() {
        assert!(is_busy("1.50 0.10 0.10"));
        assert!(!is_busy("0.40 9.00 9.00"));
        assert!(!is_busy(""));
    }
}
