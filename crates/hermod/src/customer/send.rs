//! `hermod send`: one message. Every send carries an idempotency key, so that trying again is harmless.

use super::status::wait_and_tell;
use super::{Access, CREDENTIALS_HELP, Customer};
use crate::client::{Amount, Answer, CallError};
use crate::ending::{Ended, Failure};
use crate::{runtime, show};
use clap::Args;
use hermod_gateway::secrets::random_token;
use hyper::Method;
use hyper::header::HeaderValue;
use serde::Deserialize;
use std::io::Read as _;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  hermod send --to +4915112345678 --text 'Hello from Hermod'
  hermod send --to +4915112345678 --text 'Hello from Hermod' --wait
  hermod send --to +4915112345678 --from Shop --text - < letter.txt
  hermod send --to +4915112345678 --text 'Your order 17 left' --key order-17-left

Each send has an idempotency key, made up if you give none, and printed: the same key again
neither sends nor charges again. When the connection is lost before the answer, the same request
goes out once more by itself.

Exit codes: 0 accepted, now or before (with --wait: it was delivered); 1 refused, and the sentence
says why (with --wait: or it was not delivered); 2 something in the command needs mending.";

/// The longest text has 1600 characters of at most 4 bytes; what is longer is refused by the gateway with a sentence.
const TEXT_BYTES_MAX: u64 = 16 * 1024;
const KEY_CHARACTERS: usize = 24;
const KEY_BYTES_MAX: usize = 255;

/// Send a message
#[derive(Args)]
#[command(after_help = format!("{EXAMPLES}\n\n{CREDENTIALS_HELP}"))]
pub(crate) struct Send {
    /// Who gets it: + and the number with its country code
    #[arg(long, value_name = "NUMBER")]
    to: String,
    /// What it says; - reads it from standard input
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    text: String,
    /// Who it comes from; otherwise the default sender of your connection
    #[arg(long, value_name = "SENDER")]
    from: Option<String>,
    /// The idempotency key: what was sent with it before is not sent again
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// Then wait until it is delivered, or has failed
    #[arg(long)]
    wait: bool,
    #[command(flatten)]
    access: Access,
}

#[derive(Deserialize)]
struct Sent {
    message_id: String,
    status: String,
    to: String,
    from: String,
    cost: Amount,
    balance: Amount,
}

#[derive(Deserialize)]
struct SentBefore {
    message_id: String,
}

impl Send {
    pub(crate) fn run(self) -> Ended {
        let Send { to, text, from, key, wait, access } = self;
        let text = if text == "-" { read_text()? } else { text };
        let key = match key {
            Some(key) => key,
            None => random_token(KEY_CHARACTERS).map_err(Failure::failed)?,
        };
        let header = key_header(&key)?;
        let customer = access.customer()?;
        let body = serde_json::json!({ "to": to, "text": text, "from": from }).to_string();
        runtime::block_on(async move {
            let answer = post(&customer, &body, &header).await.map_err(|error| {
                Failure::failed(format!(
                    "{error}. Try again with --key {key}: it is never sent or charged twice"
                ))
            })?;
            let answer = answer.accepted().map_err(|refused| customer.refused(&refused))?;
            if customer.json {
                eprintln!("hermod: idempotency key {}", show::safe(&key));
                show::say_raw(&answer.body)?;
            } else {
                show::say(&told(&answer, &key)?)?;
            }
            if !wait {
                return Ok(());
            }
            let SentBefore { message_id } = answer.read_as().map_err(Failure::failed)?;
            wait_and_tell(&customer, &message_id, Duration::MAX).await
        })
    }
}

/// Sends it, and once more if the answer is lost: with its key that is the same as asking what became of it.
async fn post(customer: &Customer, body: &str, key: &HeaderValue) -> Result<Answer, CallError> {
    let ask = || {
        let mut ask = customer.ask(Method::POST, "/sms", Some(body.to_owned()));
        ask.headers_mut().insert("idempotency-key", key.clone());
        ask
    };
    match customer.call(ask()).await {
        Err(CallError::Lost(sentence)) => {
            eprintln!("hermod: {sentence}; trying once more with the same key");
            customer.call(ask()).await
        }
        outcome => outcome,
    }
}

fn told(answer: &Answer, key: &str) -> Result<String, Failure> {
    if answer.status == 200 {
        let SentBefore { message_id } = answer.read_as().map_err(Failure::failed)?;
        let mut text =
            format!("Message {message_id} was sent with this key before: nothing was sent or charged now.\n");
        if answer.header("idempotency-mismatch").is_some() {
            text.push_str(
                "What was sent then is not what you asked for now: a new message needs a new key.\n",
            );
        }
        return Ok(text);
    }
    let Sent { message_id, status, to, from, cost, balance } = answer.read_as().map_err(Failure::failed)?;
    let parts = match (answer.header("x-sms-parts"), answer.header("x-sms-encoding")) {
        (Some(parts), Some(encoding)) => format!("{parts} ({encoding})"),
        _ => String::new(),
    };
    Ok(show::fields(&[
        ("message", message_id),
        ("status", status),
        ("to", to),
        ("from", from),
        ("parts", parts),
        ("cost", cost.to_string()),
        ("balance", balance.to_string()),
        ("key", key.to_owned()),
    ]))
}

fn key_header(key: &str) -> Result<HeaderValue, Failure> {
    let fits =
        (1..=KEY_BYTES_MAX).contains(&key.len()) && key.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    match HeaderValue::try_from(key) {
        Ok(header) if fits && key.trim() == key => Ok(header),
        _ => Err(Failure::mend(format!(
            "--key: a key has 1 to {KEY_BYTES_MAX} letters, digits and signs of ASCII, and no space around them"
        ))),
    }
}

/// Everything on standard input, without the line break that ends it: nobody wants to pay for that one.
fn read_text() -> Result<String, Failure> {
    let mut text = String::new();
    let read = std::io::stdin().take(TEXT_BYTES_MAX).read_to_string(&mut text);
    read.map_err(|error| Failure::mend(format!("standard input: {error}")))?;
    let text = text.strip_suffix('\n').unwrap_or(&text);
    Ok(text.strip_suffix('\r').unwrap_or(text).to_owned())
}
