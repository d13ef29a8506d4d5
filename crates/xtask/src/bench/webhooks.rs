//! Webhooks to healthy endpoints, and to dead ones that have long queues.

use std::time::Duration;

use serde_json::Value;

use super::bed::{GONE, HEALTHY, rest};
use super::failure;
use super::figures::ACCEPTED;
use super::load::{Load, Over};
use super::phases::Stage;
use crate::gateway_files::Customer;
use crate::shell::Outcome;

/// How long the last posts may take.
pub(super) const LAST_POSTS: Duration = Duration::from_secs(3);
/// How the dead endpoints behave: the first accepts posts and never responds.
const DEAD: [&str; 3] = ["hang", "503", GONE];

/// Customers whose endpoints are healthy. They share the rate.
const NUMBER_HEALTHY: u64 = 4;

/// Returns the customers, those with dead endpoints first.
pub(super) fn customers(dead: u64) -> Vec<Customer> {
    let dead = (0..dead).map(|number| (format!("dead-{number}"), DEAD[(number % 3) as usize]));
    let healthy = (0..NUMBER_HEALTHY).map(|number| (format!("healthy-{number}"), HEALTHY));
    let customer = |(name, webhook): (String, &str)| Customer {
        webhook: Some(webhook.to_owned()),
        ..Customer::new(name)
    };
    dead.chain(healthy).map(customer).collect()
}

/// Gives each dead endpoint its reports.
pub(super) fn fill(stage: &mut Stage<'_>) -> Outcome {
    let (number_dead, messages) = (stage.options.count("dead"), stage.options.count("waiting"));
    let load = Load::messages(Over::http(64), messages);
    for (number, customer) in (1..=number_dead).zip(&stage.run.setup.customers) {
        let accepted = stage.bed.queue(&load.of(std::slice::from_ref(customer)))?;
        stage.bed.settle()?;
        if accepted != messages {
            let what = format!("{accepted} of {messages} messages of {} were accepted", customer.name);
            return Err(failure(what));
        }
        eprint!("\r{number} of {number_dead} dead endpoints have {messages} reports waiting ");
    }
    stage.results.say("dead endpoints", number_dead as f64, "");
    stage.results.say("reports waiting for each", messages as f64, "");
    Ok(())
}

/// Sends to the healthy ones, and says how long it took from sending a message to its post, as the receiver measures it.
pub(super) fn measure(stage: &mut Stage<'_>) -> Outcome {
    let (rate, seconds) = (stage.options.count("rate"), stage.options.count("seconds"));
    let over = Over::Http { connections: 64, flags: "--to clock" };
    let healthy = &stage.run.setup.customers[stage.options.count("dead") as usize..];
    let loads = Load::seconds(over, seconds).at(rate / NUMBER_HEALTHY).of(healthy);
    let loaded = stage.bed.load(&loads, rest)?;
    let accepted = loaded.all.value(ACCEPTED);
    // The CPU is that of everything: accepted, sent, receipted, posted, and the dead.
    stage.add("", loaded);
    stage.results.say("accepted in time", accepted / (rate * seconds).max(1) as f64, "of what was due");
    let caught = stage.say_posts(accepted)?;
    let number = |pointer: &str| caught.pointer(pointer).and_then(Value::as_f64).unwrap_or(f64::INFINITY);
    stage.results.say("connections", number("/connections"), "");
    for (name, pointer) in [
        ("sent to posted, p50", "/delay_ms/p50"),
        ("sent to posted, p99", "/delay_ms/p99"),
        ("sent to posted, p99.9", "/delay_ms/p99.9"),
        ("sent to posted, at most", "/delay_ms/max"),
    ] {
        stage.results.say(name, number(pointer), "ms");
    }
    Ok(())
}
