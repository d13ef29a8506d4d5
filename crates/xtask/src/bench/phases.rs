//! What a scenario consists of: runs, each with gateways of its own, and in each run phases, one after the other.

use std::time::Duration;

use serde_json::Value;

use super::bed::{Bed, Loaded, rest};
use super::figures::{ACCEPTED, MEMORY, RESIDENT, UNSENT};
use super::gateway::{Setup, measure_reference};
use super::load::{Load, Loads};
use super::options::Options;
use super::results::Results;
use crate::gateway_files::Customer;
use crate::programs::Binaries;
use crate::shell::{Failure, Outcome};

pub(super) enum Phase {
    Pause(Duration),
    /// Sends and waits until all messages are settled.
    WarmUp(Loads),
    /// The same, and is a line of the table with this variant; without one, with that of the run.
    Load(&'static str, Loads),
    /// Sends again and again until the store has this many messages.
    Fill(u64, Loads),
    /// Sends, but does not wait until the messages are settled.
    Queue(Loads),
    EndCarrier,
    StartCarrier,
    /// Kills the node with the engine, and waits until another accepts a message of this load.
    KillEngine(Loads),
    /// Waits until what was queued is settled. A load beside it is a line with this variant.
    Drain(&'static str, Loads),
    /// Cancels what was queued of a customer. A load beside it is a line with this variant.
    Cancel(&'static str, Customer, Loads),
    /// Says how much memory the gateway has.
    Memory(&'static str),
    /// Measures a server that stores nothing, as a line. Such a run needs no gateways.
    Reference(Load),
    /// Another run, while this one waits.
    Other(Box<Run>),
    /// What only one scenario does.
    Call(fn(&mut Stage<'_>) -> Outcome),
}

pub(super) struct Run {
    /// The name of its line.
    pub(super) label: String,
    pub(super) variant: &'static str,
    pub(super) setup: Setup,
    pub(super) phases: Vec<Phase>,
}

/// A run at work.
pub(super) struct Stage<'a> {
    pub(super) bed: Bed<'a>,
    pub(super) results: &'a mut Results,
    pub(super) options: &'a Options,
    pub(super) run: &'a Run,
}

impl Run {
    pub(super) fn new(
        label: impl Into<String>,
        variant: &'static str,
        setup: Setup,
        phases: Vec<Phase>,
    ) -> Run {
        Run { label: label.into(), variant, setup, phases }
    }

    /// Runs the phases, ends what was started, and keeps the results.
    pub(super) fn execute(&self, binaries: &Binaries, options: &Options, results: &mut Results) -> Outcome {
        let bed = Bed::start(binaries, self.setup.clone())?;
        let mut stage = Stage { bed, results, options, run: self };
        self.phases.iter().try_for_each(|phase| stage.execute(phase))?;
        stage.bed.end()
    }
}

impl Stage<'_> {
    fn execute(&mut self, phase: &Phase) -> Outcome {
        match phase {
            Phase::Pause(time) => super::pause(*time),
            Phase::WarmUp(loads) => drop(self.bed.load(loads, rest)?),
            Phase::Load(variant, loads) => {
                let loaded = self.bed.load(loads, rest)?;
                self.add(variant, loaded);
            }
            Phase::Fill(messages, loads) => self.fill(*messages, loads)?,
            Phase::Queue(loads) => {
                let queued = self.bed.queue(loads)?;
                self.bed.checkpoint()?;
                self.results.say("queued for a carrier that is down", queued as f64, "messages");
            }
            Phase::EndCarrier => self.bed.end_carrier()?,
            Phase::StartCarrier => self.bed.start_carrier()?,
            Phase::KillEngine(loads) => {
                let took = self.bed.kill_engine(loads)?;
                self.results.say("taken over after", took.as_secs_f64(), "s");
            }
            Phase::Drain(variant, loads) => {
                let (singles, beside) = self.bed.drain(loads)?;
                singles.into_iter().for_each(|(name, value, unit)| self.results.say(name, value, unit));
                self.results.add(&self.run.label, variant, beside);
            }
            Phase::Cancel(variant, of, loads) => {
                let (singles, beside) = self.bed.cancel(&of.name, loads)?;
                singles.into_iter().for_each(|(name, value, unit)| self.results.say(name, value, unit));
                self.results.add(&self.run.label, variant, beside);
            }
            Phase::Memory(name) => {
                let usage = self.bed.gateway().usage()?;
                self.results.say(*name, usage.value(RESIDENT), "MiB");
                self.results.say(*name, usage.value(MEMORY), "MiB at most");
            }
            Phase::Reference(load) => {
                let figures = measure_reference(self.bed.binaries, load)?;
                self.results.add(&self.run.label, self.run.variant, figures);
            }
            Phase::Other(run) => run.execute(self.bed.binaries, self.options, self.results)?,
            Phase::Call(call) => call(self)?,
        }
        Ok(())
    }

    /// Keeps what a load did as a line with this variant, by default that of the run.
    pub(super) fn add(&mut self, variant: &'static str, loaded: Loaded) {
        let variant = if variant.is_empty() { self.run.variant } else { variant };
        self.results.add(&self.run.label, variant, loaded.all);
        for (name, figures) in loaded.customers.iter().filter(|_| loaded.customers.len() > 1) {
            self.results.print_figures(&format!("  {name}"), "", figures, figures.value(UNSENT) > 0.0);
        }
    }

    /// Says how many webhooks were posted for these messages. Returns the receiver's report.
    pub(super) fn say_posts(&mut self, messages: f64) -> Result<Value, Failure> {
        let caught = self.bed.caught()?;
        let posts = caught["posts"].as_f64().unwrap_or_default();
        self.results.say("webhook posts", posts, "posts");
        self.results.say("messages without webhook post", (messages - posts).max(0.0), "messages");
        Ok(caught)
    }

    fn fill(&mut self, messages: u64, loads: &Loads) -> Outcome {
        let mut filled = 0.0;
        while filled < messages as f64 {
            filled += self.bed.load(loads, rest)?.all.value(ACCEPTED);
            eprint!("\r{filled} of {messages} messages are stored ");
        }
        self.results.say("stored", filled, "messages");
        Ok(())
    }
}
