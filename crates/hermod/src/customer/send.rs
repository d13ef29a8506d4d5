//! `hermod send`: sends one message, with an idempotency key, so that a retry is safe.

use super::status::wait_and_print;
use super::{AccessArgs, CREDENTIALS_HELP, CustomerClient};
use crate::client::{ApiResponse, CallError, ExactAmount};
use crate::failure::{CommandResult, Failure};
use crate::{output, runtime};
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

Each message has an idempotency key, generated if none is given, and printed: the same key neither
sends nor charges again. If the connection is lost before the response, the request is retried once.

Exit codes: 0 accepted, now or before (with --wait: delivered); 1 rejected (with --wait: or not
delivered); 2 the command line is invalid.";

/// The longest text has 1600 characters of at most 4 bytes; the gateway rejects longer ones.
const TEXT_BYTES_MAX: u64 = 16 * 1024;
const KEY_CHARACTERS: usize = 24;
const KEY_BYTES_MAX: usize = 255;

/// Send a message
#[derive(Args)]
#[command(after_help = format!("{EXAMPLES}\n\n{CREDENTIALS_HELP}"))]
pub(crate) struct SendArgs {
    /// The recipient: a plus, then the number with its country code
    #[arg(long, value_name = "NUMBER")]
    to: String,
    /// The text; - reads standard input
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    text: String,
    /// The sender [default: the default sender of your connection]
    #[arg(long, value_name = "SENDER")]
    from: Option<String>,
    /// Idempotency key: a message with the same key is not sent again
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// Wait until the message is delivered or has failed
    #[arg(long)]
    wait: bool,
    #[command(flatten)]
    access: AccessArgs,
}

#[derive(Deserialize)]
struct Sent {
    message_id: String,
    status: String,
    to: String,
    from: String,
    cost: ExactAmount,
    balance: ExactAmount,
}

#[derive(Deserialize)]
struct SentBefore {
    message_id: String,
}

impl SendArgs {
    pub(crate) fn run(self) -> CommandResult {
        let SendArgs { to, text, from, key, wait, access } = self;
        let text = if text == "-" { read_text()? } else { text };
        let key = match key {
            Some(key) => key,
            None => random_token(KEY_CHARACTERS).map_err(Failure::failed)?,
        };
        let header = key_header(&key)?;
        let customer = access.customer()?;
        let body = serde_json::json!({ "to": to, "text": text, "from": from }).to_string();
        runtime::block_on(async move {
            let response = post(&customer, &body, &header).await.map_err(|error| {
                Failure::failed(format!("{error}. Retry with --key {key}: it is never sent or charged twice"))
            })?;
            let response = response.accepted().map_err(|error| customer.failure_of(&error))?;
            if customer.json {
                eprintln!("hermod: idempotency key {}", output::safe(&key));
                output::print_json(&response.body)?;
            } else {
                output::print(&sent_text(&response, &key)?)?;
            }
            if !wait {
                return Ok(());
            }
            let SentBefore { message_id } = response.read_as().map_err(Failure::failed)?;
            wait_and_print(&customer, &message_id, Duration::MAX).await
        })
    }
}

/// Sends the message, and retries once if the response is lost: the key makes that safe.
async fn post(customer: &CustomerClient, body: &str, key: &HeaderValue) -> Result<ApiResponse, CallError> {
    let request = || {
        let mut request = customer.request(Method::POST, "/sms", Some(body.to_owned()));
        request.headers_mut().insert("idempotency-key", key.clone());
        request
    };
    match customer.call(request()).await {
        Err(CallError::Lost(sentence)) => {
            eprintln!("hermod: {sentence}; retrying with the same key");
            customer.call(request()).await
        }
        outcome => outcome,
    }
}

fn sent_text(response: &ApiResponse, key: &str) -> Result<String, Failure> {
    if response.status == 200 {
        let SentBefore { message_id } = response.read_as().map_err(Failure::failed)?;
        let mut text =
            format!("Message {message_id} was sent with this key before: nothing was sent or charged now.\n");
        if response.header("idempotency-mismatch").is_some() {
            text.push_str("That message differs from this one: a new message needs a new key.\n");
        }
        return Ok(text);
    }
    let Sent { message_id, status, to, from, cost, balance } = response.read_as().map_err(Failure::failed)?;
    let parts = match (response.header("x-sms-parts"), response.header("x-sms-encoding")) {
        (Some(parts), Some(encoding)) => format!("{parts} ({encoding})"),
        _ => String::new(),
    };
    Ok(output::fields(&[
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
        _ => Err(Failure::usage(format!(
            "--key: a key has 1 to {KEY_BYTES_MAX} printable ASCII characters, without spaces around them"
        ))),
    }
}

/// Returns the text on standard input, without the final line break, which would be charged.
fn read_text() -> Result<String, Failure> {
    let mut text = String::new();
    let read = std::io::stdin().take(TEXT_BYTES_MAX).read_to_string(&mut text);
    read.map_err(|error| Failure::usage(format!("standard input: {error}")))?;
    let text = text.strip_suffix('\n').unwrap_or(&text);
    Ok(text.strip_suffix('\r').unwrap_or(text).to_owned())
}
