//! `cargo xtask test`: the gate. Runs every step in order, fast checks first, and stops at the first failure. Clippy runs
//! before the tests, because both use the same build.

use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;

use crate::client::{Client, Library};
use crate::shell::{self, Failure, Outcome, command, stopwatch};
use crate::tally::Tally;
use crate::{cluster, packages, postgres, tidy, tools};

struct Step {
    name: &'static str,
    work: fn(&mut Tally) -> Outcome,
}

const STEPS: [Step; 9] = [
    Step { name: "tools", work: |_| ensure_tools() },
    Step { name: "formatting", work: |_| tidy::check_format() },
    Step { name: "tidy", work: |_| tidy::run() },
    Step { name: "clippy", work: |_| clippy() },
    Step { name: "tests", work: tests },
    Step { name: "tests on PostgreSQL", work: tests_on_postgres },
    Step { name: "documentation", work: |_| documentation() },
    Step { name: "cargo-deny", work: |_| tidy::check_graph() },
    Step { name: "unused dependencies", work: |_| tidy::check_unused() },
];

pub(crate) fn run() -> Outcome {
    let mut tally = Tally::default();
    let started = stopwatch();
    let outcome = run_steps(&STEPS, &mut tally);
    let verdict = if outcome.is_ok() { "gate passed" } else { "gate FAILED" };
    println!("{verdict} after {}", seconds(started.elapsed()));
    println!("{} passed, {} failed", tally.passed, tally.failed);
    outcome
}

fn run_steps(steps: &[Step], tally: &mut Tally) -> Outcome {
    for (index, step) in steps.iter().enumerate() {
        println!("[{}/{}] {} ...", index + 1, steps.len(), step.name);
        let started = stopwatch();
        (step.work)(tally).map_err(|Failure(why)| Failure(format!("{}: {why}", step.name)))?;
        println!("[{}/{}] {} ok in {}", index + 1, steps.len(), step.name, seconds(started.elapsed()));
    }
    Ok(())
}

fn clippy() -> Outcome {
    shell::run(command(
        "cargo",
        &[
            "clippy",
            "--workspace",
            "--all-targets",
            "--features",
            "hermod-store/fill",
            "--locked",
            "--",
            "-D",
            "warnings",
        ],
    ))
}

/// Tests at the same time: many of them start processes, browsers among them.
const TEST_THREADS_MAX: usize = 8;

fn tests(tally: &mut Tally) -> Outcome {
    // --no-fail-fast: one broken test must not hide how the others fare.
    let mut cargo_test = command("cargo", &["test", "--workspace", "--locked", "--no-fail-fast"]);
    cargo_test.env(packages::SCHEMATHESIS_VARIABLE, packages::schemathesis()?);
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(TEST_THREADS_MAX);
    cargo_test.env("RUST_TEST_THREADS", threads.to_string());
    for library in Library::value_variants() {
        cargo_test.env(library.variable(), library.ensure()?);
    }
    for client in Client::value_variants() {
        cargo_test.env(client.variable(), client.ensure()?);
    }
    shell::run_watching(cargo_test, |line| tally.add(line))?;
    match (tally.passed, tally.ignored) {
        (0, _) => Err(Failure("no test ran".to_owned())),
        (_, 0) => Ok(()),
        (_, ignored) => Err(Failure(format!("{ignored} ignored tests: mend them or remove them"))),
    }
}

/// How often each crash test kills the gateway.
const CRASH_CYCLES: (&str, &str) = ("HERMOD_CRASH_CYCLES", "8");

/// A program of tests to run on PostgreSQL.
struct OnPostgres {
    package: &'static str,
    /// `it`, or the library's name.
    program: &'static str,
    args: &'static [&'static str],
}

/// Those with more threads wait for the server, clocks and connections most of the time.
const ON_POSTGRES: [OnPostgres; 6] = [
    OnPostgres { package: "store", program: "hermod_store", args: &["postgres::"] },
    OnPostgres { package: "store", program: "it", args: &["--test-threads", "4"] },
    OnPostgres { package: "hermod", program: "it", args: &["crash::", "--skip", "crash::record"] },
    OnPostgres { package: "hermod", program: "it", args: &["cluster::"] },
    OnPostgres { package: "hermod", program: "it", args: &["on_postgresql::"] },
    OnPostgres { package: "hermod", program: "it", args: &["end_to_end::", "--test-threads", "8"] },
];

/// Runs the tests of the store, the stories and the crash tests on a real server: what holds for the embedded store holds there
/// too. Also runs the tests that need a server, and a cluster as deploy/ describes it.
fn tests_on_postgres(tally: &mut Tally) -> Outcome {
    let server = postgres::Server::start()?;
    let programs = test_programs()?;
    let mut outcome = Ok(());
    for OnPostgres { package, program, args } in ON_POSTGRES {
        let folder = shell::root().join("crates").join(package);
        let found =
            programs.iter().find(|(name, manifest, _)| name == program && manifest.starts_with(&folder));
        let (.., path) = found.ok_or_else(|| Failure(format!("{package} has no tests {program}")))?;
        let mut tests = command(path, args);
        tests.current_dir(&folder).env(postgres::VARIABLE, &server.url).env(CRASH_CYCLES.0, CRASH_CYCLES.1);
        let passed = tally.passed;
        // All of them, as with --no-fail-fast.
        outcome = outcome.and(shell::run_watching(tests, |line| tally.add(line)));
        if tally.passed == passed {
            return Err(Failure(format!("no test {args:?} of {package} ran")));
        }
    }
    drop(server);
    outcome?;
    check_cluster(tally)
}

/// Returns the programs of tests that the step before has built: name, manifest, path. They are run directly, because cargo would
/// build the dependencies again for one package alone, with fewer features.
fn test_programs() -> Result<Vec<(String, PathBuf, String)>, Failure> {
    let args = ["test", "--workspace", "--locked", "--no-run", "--message-format", "json"];
    let built =
        shell::output_of("cargo", &args).ok_or_else(|| Failure("the tests do not build".to_owned()))?;
    let lines = built.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let programs = lines.filter_map(|line| {
        let path = line["executable"].as_str()?.to_owned();
        let manifest = PathBuf::from(line["manifest_path"].as_str()?);
        Some((line["target"]["name"].as_str()?.to_owned(), manifest, path))
    });
    Ok(programs.collect())
}

/// Runs three nodes behind HAProxy with the settings in deploy/, which is one more test.
fn check_cluster(tally: &mut Tally) -> Outcome {
    let outcome = cluster::run_check();
    match outcome {
        Ok(()) => tally.passed += 1,
        Err(_) => tally.failed += 1,
    }
    outcome
}

fn documentation() -> Outcome {
    // Whoever reads our documentation reads our code, so private items and links to them belong to it.
    let flags = "-D warnings -A rustdoc::private_intra_doc_links";
    let args = ["doc", "--workspace", "--no-deps", "--document-private-items", "--locked"];
    let mut cargo_doc = command("cargo", &args);
    cargo_doc.env("RUSTDOCFLAGS", flags);
    shell::run(cargo_doc)
}

fn seconds(elapsed: Duration) -> String {
    format!("{}.{} s", elapsed.as_secs(), elapsed.subsec_millis() / 100)
}

/// Installs what the gate needs beside Rust.
fn ensure_tools() -> Outcome {
    for tool in [tools::C_COMPILER, tools::STRACE, tools::HAPROXY] {
        tool.ensure()?;
    }
    postgres::ensure().map(drop)?;
    tools::ensure_component("rustfmt", "cargo-fmt")?;
    tools::ensure_component("clippy", "cargo-clippy")?;
    packages::schemathesis().map(drop)?;
    for library in Library::value_variants() {
        library.ensure().map(drop)?;
    }
    for client in Client::value_variants() {
        client.ensure().map(drop)?;
    }
    tools::ensure_cargo_deny().map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASS: Step = Step {
        name: "pass",
        work: |tally| {
            tally.passed += 1;
            Ok(())
        },
    };
    const FAIL: Step = Step { name: "fail", work: |_| Err(Failure("on purpose".to_owned())) };

    #[test]
    fn the_first_failure_stops_the_gate_and_names_its_step() {
        let mut tally = Tally::default();
        let outcome = run_steps(&[PASS, FAIL, PASS], &mut tally);
        assert_eq!(outcome.expect_err("the second step fails").to_string(), "fail: on purpose");
        assert_eq!(tally.passed, 1, "the third step must not run");
    }

    #[test]
    fn all_steps_run_when_none_fails() {
        let mut tally = Tally::default();
        assert!(run_steps(&[PASS, PASS], &mut tally).is_ok());
        assert_eq!(tally.passed, 2);
    }

    #[test]
    fn elapsed_time_is_shown_to_a_tenth_of_a_second() {
        assert_eq!(seconds(Duration::from_millis(61_250)), "61.2 s");
    }
}
