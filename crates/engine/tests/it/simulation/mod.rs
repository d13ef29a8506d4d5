//! Random commands over long times, with crashes, failed batches and clock jumps: the engine and its tables must equal
//! a simple model. A failure prints the seed of its run.
//!
//! `HERMOD_SIMULATION_COMMANDS` sets how many commands are run, `HERMOD_SIMULATION_SEED` the first seed.

mod commands;
mod compare;
mod coverage;
mod erasure;
mod links;
mod mo;
mod mo_model;
mod model;
mod move_messages;
mod outcomes;
mod parts_without_id;
mod random;
mod receipts;
mod report_channels;
mod report_model;
mod reports;
mod retention;
mod setup;
mod webhook_model;
mod webhooks;
mod world;

use coverage::Coverage;
use hermod_engine::commands::ReleaseDue;
use random::Random;
use std::sync::Mutex;
use std::time::Duration;
use world::{End, World};

/// The default number of commands.
const COMMANDS: u64 = 1_000_000;
/// Commands of one run, which has a seed of its own and begins with empty tables.
const COMMANDS_PER_RUN: u64 = 10_000;
/// Commands of one batch at most.
const BATCH_MAX: u64 = 8;
const SEED: u64 = 20_261_116;
/// Runs after which the progress is printed.
const RUNS_PER_LINE: u64 = 100;
/// Commands after which every kind of command and outcome must have been seen.
const COVERING_COMMANDS: u64 = 500_000;
/// Rounds in which all queued parts must have been sent.
const DRAIN_ROUNDS_MAX: u32 = 20_000;

#[expect(clippy::disallowed_methods, reason = "a test has no configuration")]
fn setting(name: &str, otherwise: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name} is no number: {text}")),
        Err(_) => otherwise,
    }
}

/// Prints the seed of a failed run.
struct Seed(u64);

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!(
                "The run with seed {0} failed. Repeat it: cargo xtask simulate --steps 1 --seed {0}",
                self.0
            );
        }
    }
}

#[test]
fn tables_equal_the_model_after_random_commands_with_crashes() {
    let (commands, first) =
        (setting("HERMOD_SIMULATION_COMMANDS", COMMANDS), setting("HERMOD_SIMULATION_SEED", SEED));
    let runs = commands.div_ceil(COMMANDS_PER_RUN);
    let threads =
        u64::try_from(std::thread::available_parallelism().map_or(1, |count| count.get())).unwrap_or(1);
    println!("{commands} commands, the first run with seed {first}");
    let coverage = Mutex::new(Coverage::default());
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let coverage = &coverage;
            scope.spawn(move || {
                for run in (thread..runs).step_by(usize::try_from(threads).expect("a few")) {
                    if run > 0 && run.is_multiple_of(RUNS_PER_LINE) {
                        println!("{} of {commands} commands", run * COMMANDS_PER_RUN);
                    }
                    let of_run = go(first + run);
                    coverage.lock().expect("no run has failed").add(&of_run);
                }
            });
        }
    });
    let coverage = coverage.into_inner().expect("no run has failed");
    coverage.print();
    if commands >= COVERING_COMMANDS {
        coverage.check();
    }
}

/// Runs random commands, then sends and answers all queued parts. Returns the counts of the run.
fn go(seed: u64) -> Coverage {
    let told = Seed(seed);
    let mut world = World::new(seed);
    let mut left = COMMANDS_PER_RUN;
    while left > 0 {
        let count = (world.random.below(BATCH_MAX) + 1).min(left);
        left -= count;
        let end = end_of_batch(&mut world.random);
        change_surroundings(&mut world);
        let batch: Vec<_> = (0..count).map(|_| commands::next(&mut world)).collect();
        world.run(&batch, end);
    }
    drain(&mut world);
    world.compare_all();
    world.check_erasure_leaves_no_trace();
    world.compare_all();
    drop(told);
    world.model.coverage
}

/// Changes the time, the bound receivers and the setup.
fn change_surroundings(world: &mut World) {
    commands::pass_time(world);
    if world.random.once_in(40) {
        world.model.receivers.change(&mut world.random);
    }
    if world.random.once_in(400) {
        world.model.change_setup();
    }
}

fn end_of_batch(random: &mut Random) -> End {
    match random.below(200) {
        0 => End::Crash,
        1 | 2 => End::RollBack,
        _ => End::Commit,
    }
}

/// Checks that links with room send or end every queued part.
fn drain(world: &mut World) {
    for _ in 0..DRAIN_ROUNDS_MAX {
        if world.is_drained() {
            return;
        }
        world.now = world.now.plus(Duration::from_secs(30));
        let batch = [links::open_or_report(world), ReleaseDue { now: world.now }.into()];
        world.run(&batch, End::Commit);
    }
    panic!("parts still wait after {DRAIN_ROUNDS_MAX} rounds");
}
