//! `hermod status`: what became of a message, now or once it has ended.

use super::{Access, CREDENTIALS_HELP, Customer};
use crate::client::{Answer, escape};
use crate::ending::{Ended, Failure};
use crate::{runtime, show};
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

Exit codes: 0 here is its status (with --wait: it was delivered); 1 refused, or with --wait it
ended otherwise or not in time; 2 something in the command needs mending.";

/// Status is asked for this soon again, then less and less often: each time takes one request of the connection's rate.
const LOOK_FIRST: Duration = Duration::from_millis(250);
const LOOK_LAST: Duration = Duration::from_secs(5);
/// While waiting, a gateway may be restarted: only when it does not answer this often in a row is it given up.
const LOST_IN_A_ROW_MAX: u32 = 5;
const FINAL: [&str; 4] = ["delivered", "expired", "undeliverable", "rejected"];

/// Ask what became of a message
#[derive(Args)]
#[command(after_help = format!("{EXAMPLES}\n\n{CREDENTIALS_HELP}"))]
pub(crate) struct Status {
    /// The message's id, as `hermod send` printed it
    #[arg(value_name = "MESSAGE_ID")]
    message: String,
    /// Wait until it has ended: delivered, expired, undeliverable or rejected
    #[arg(long)]
    wait: bool,
    /// Wait no longer than this many seconds
    #[arg(long, value_name = "SECONDS", requires = "wait")]
    at_most: Option<u64>,
    #[command(flatten)]
    access: Access,
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

impl Status {
    pub(crate) fn run(self) -> Ended {
        let Status { message, wait, at_most, access } = self;
        let customer = access.customer()?;
        runtime::block_on(async move {
            if !wait {
                let answer = customer.get(&path_of(&message)).await?;
                let record = answer.read_as().map_err(Failure::failed)?;
                return tell(&customer, &answer, &record);
            }
            let at_most = at_most.map_or(Duration::MAX, Duration::from_secs);
            wait_and_tell(&customer, &message, at_most).await
        })
    }
}

fn path_of(message: &str) -> String {
    format!("/sms/{}", escape(message))
}

/// Waits until a message has ended and prints what became of it. Fails unless it was delivered in time.
pub(super) async fn wait_and_tell(customer: &Customer, message: &str, at_most: Duration) -> Ended {
    let (answer, record) = wait_for_the_end(customer, &path_of(message), at_most).await?;
    tell(customer, &answer, &record)?;
    match record.status.as_str() {
        "delivered" => Ok(()),
        status if FINAL.contains(&status) => Err(Failure::told()),
        status => Err(Failure::failed(format!("it is still {status} after {} s", at_most.as_secs()))),
    }
}

/// The last answer: of a message that has ended, or of the moment when the time was up.
async fn wait_for_the_end(
    customer: &Customer,
    path: &str,
    at_most: Duration,
) -> Result<(Answer, Record), Failure> {
    let clock = Clock::real();
    let started = clock.moment();
    let give_up = started.plus(at_most);
    let (mut pause, mut lost) = (LOOK_FIRST, 0);
    loop {
        let answer = customer.call(customer.ask(Method::GET, path, None)).await;
        match answer.map(Answer::accepted) {
            Err(_) if lost < LOST_IN_A_ROW_MAX && clock.moment() < give_up => lost += 1,
            Err(error) => return Err(Failure::failed(error)),
            Ok(Ok(answer)) => {
                lost = 0;
                let record: Record = answer.read_as().map_err(Failure::failed)?;
                if FINAL.contains(&record.status.as_str()) || clock.moment() >= give_up {
                    show::progress_done();
                    return Ok((answer, record));
                }
                let seconds = clock.moment().0.saturating_sub(started.0) / 1000;
                show::progress(&format!(
                    "message {} is {}, {seconds} s so far ",
                    record.message_id, record.status
                ));
            }
            // Waiting is no reason to fail at the connection's rate.
            Ok(Err(refused)) if refused.status == 429 && clock.moment() < give_up => {
                pause = pause.max(Duration::from_secs(refused.retry_after().unwrap_or(1))).min(LOOK_LAST);
            }
            Ok(Err(refused)) => return Err(customer.refused(&refused)),
        }
        clock.sleep_until(clock.moment().plus(pause).min(give_up)).await;
        pause = (pause * 3 / 2).min(LOOK_LAST);
    }
}

fn tell(customer: &Customer, answer: &Answer, record: &Record) -> Ended {
    if customer.json {
        return show::say_raw(&answer.body);
    }
    let Record { message_id, source, dest, status, dlr, country, operator } = record;
    show::say(&show::fields(&[
        ("message", message_id.clone()),
        ("status", status.clone()),
        ("receipt", dlr.clone()),
        ("from", source.clone()),
        ("to", format!("+{dest}")),
        ("country", country.clone()),
        ("operator", operator.clone()),
    ]))
}
