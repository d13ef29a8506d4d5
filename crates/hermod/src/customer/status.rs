//! `hermod status`: the status of a message, now or when it is final.

use super::{AccessArgs, CREDENTIALS_HELP, CustomerClient};
use crate::client::{ApiResponse, escape};
use crate::failure::{CommandResult, Failure};
use crate::{output, runtime};
use clap::Args;
use hermod_gateway::clock::Clock;
use hyper::Method;
use serde::Deserialize;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  hermod status 15506713804701696
  hermod status 15506713804701696 --wait && echo delivered
  hermod status 15506713804701696 --wait --at-most 60

Exit codes: 0 success (with --wait: delivered); 1 failure (with --wait: also not delivered, or not in
time); 2 the command line is invalid.";

/// Polling becomes slower, because each poll counts against the rate of the connection.
const POLL_FIRST: Duration = Duration::from_millis(250);
const POLL_LAST: Duration = Duration::from_secs(5);
/// The gateway may be restarted while the command waits: this many failed polls in a row are ignored.
const FAILED_POLLS_MAX: u32 = 5;
const FINAL: [&str; 4] = ["delivered", "expired", "undeliverable", "rejected"];

/// Show the status of a message
#[derive(Args)]
#[command(after_help = format!("{EXAMPLES}\n\n{CREDENTIALS_HELP}"))]
pub(crate) struct StatusArgs {
    /// The message id, as `hermod send` printed it
    #[arg(value_name = "MESSAGE_ID")]
    message: String,
    /// Wait until the status is final: delivered, expired, undeliverable or rejected
    #[arg(long)]
    wait: bool,
    /// Wait at most this many seconds
    #[arg(long, value_name = "SECONDS", requires = "wait")]
    at_most: Option<u64>,
    #[command(flatten)]
    access: AccessArgs,
}

#[derive(Deserialize)]
struct Record {
    message_id: String,
    source: String,
    dest: String,
    status: String,
    dlr: String,
    country: String,
    operator: String,
}

impl StatusArgs {
    pub(crate) fn run(self) -> CommandResult {
        let StatusArgs { message, wait, at_most, access } = self;
        let customer = access.customer()?;
        runtime::block_on(async move {
            if !wait {
                let response = customer.get(&path_of(&message)).await?;
                let record = response.read_as().map_err(Failure::failed)?;
                return print(&customer, &response, &record);
            }
            let at_most = at_most.map_or(Duration::MAX, Duration::from_secs);
            wait_and_print(&customer, &message, at_most).await
        })
    }
}

fn path_of(message: &str) -> String {
    format!("/sms/{}", escape(message))
}

/// Waits until the status of a message is final and prints it. Fails unless the message was delivered in time.
pub(super) async fn wait_and_print(
    customer: &CustomerClient,
    message: &str,
    at_most: Duration,
) -> CommandResult {
    let (response, record) = wait_for_final_status(customer, &path_of(message), at_most).await?;
    print(customer, &response, &record)?;
    match record.status.as_str() {
        "delivered" => Ok(()),
        status if FINAL.contains(&status) => Err(Failure::printed()),
        status => {
            Err(Failure::failed(format!("the message is still {status} after {} s", at_most.as_secs())))
        }
    }
}

/// Returns the response with the final status, or the last one before the timeout.
async fn wait_for_final_status(
    customer: &CustomerClient,
    path: &str,
    at_most: Duration,
) -> Result<(ApiResponse, Record), Failure> {
    let clock = Clock::real();
    let started = clock.moment();
    let deadline = started.plus(at_most);
    let (mut pause, mut lost) = (POLL_FIRST, 0);
    loop {
        let response = customer.call(customer.request(Method::GET, path, None)).await;
        match response.map(ApiResponse::accepted) {
            Err(_) if lost < FAILED_POLLS_MAX && clock.moment() < deadline => lost += 1,
            Err(error) => return Err(Failure::failed(error)),
            Ok(Ok(response)) => {
                lost = 0;
                let record: Record = response.read_as().map_err(Failure::failed)?;
                if FINAL.contains(&record.status.as_str()) || clock.moment() >= deadline {
                    output::progress_done();
                    return Ok((response, record));
                }
                let seconds = clock.moment().0.saturating_sub(started.0) / 1000;
                output::progress(&format!(
                    "message {} is {}, {seconds} s so far ",
                    record.message_id, record.status
                ));
            }
            // A rejected poll is retried later.
            Ok(Err(error)) if error.status == 429 && clock.moment() < deadline => {
                pause = pause.max(Duration::from_secs(error.retry_after().unwrap_or(1))).min(POLL_LAST);
            }
            Ok(Err(error)) => return Err(customer.failure_of(&error)),
        }
        clock.sleep_until(clock.moment().plus(pause).min(deadline)).await;
        pause = (pause * 3 / 2).min(POLL_LAST);
    }
}

fn print(customer: &CustomerClient, response: &ApiResponse, record: &Record) -> CommandResult {
    if customer.json {
        return output::print_json(&response.body);
    }
    let Record { message_id, source, dest, status, dlr, country, operator } = record;
    output::print(&output::fields(&[
        ("message", message_id.clone()),
        ("status", status.clone()),
        ("receipt", dlr.clone()),
        ("from", source.clone()),
        ("to", format!("+{dest}")),
        ("country", country.clone()),
        ("operator", operator.clone()),
    ]))
}
