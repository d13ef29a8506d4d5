//! `hermod-sim http-load`: load on the HTTP API, with a report as a table or JSON.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use clap::Args;
use hermod_simulator::load::http::{
    self, Bound, HttpAttempt, HttpLoadOptions, HttpMessages, HttpOutcome, HttpTarget, KeyMode, Which,
};
use serde_json::json;

use crate::common_flags::LoadFlags;
use crate::{Ended, terminal};

/// Send messages to POST /api/v1/sms and measure the responses
///
/// Closed loop (the default): every connection sends its next message after the response to the last one; measures capacity.
/// Open loop (--rate): messages are due at a fixed rate, and latency counts from the due time, so that a stall of the server
/// counts for every message it delays.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct HttpLoadArgs {
    /// Base URL, ending in /api/v1
    #[arg(long, default_value = "http://127.0.0.1:8080/api/v1")]
    url: String,
    /// API key
    #[arg(long, default_value = "key")]
    key: String,
    /// API secret
    #[arg(long, default_value = "secret")]
    secret: String,
    /// Connections, each with one request in flight
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=i64::from(http::CONNECTIONS_MAX)))]
    connections: u32,
    /// Messages to send; the run ends after them or after --duration
    #[arg(long)]
    requests: Option<u64>,
    /// First recipient; with `clock` each recipient is the time of its request, for hermod-sim webhooks to read
    #[arg(long, default_value = "+4915100000000")]
    to: String,
    /// Sender; by default the connection's own
    #[arg(long)]
    from: Option<String>,
    /// Start of each text; the message's number follows
    #[arg(long, default_value = "Load test message ")]
    text: String,
    /// Send an Idempotency-Key of this prefix and the message's number
    #[arg(long)]
    idempotency: Option<String>,
    /// Write a JSON line for each request to this file: index, key, status, message_id, error
    #[arg(long)]
    log: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) load: LoadFlags,
}

const EXAMPLES: &str = "\
Examples:
  As fast as 32 connections allow, for ten seconds:
    hermod-sim http-load --key KEY --secret SECRET --duration 10s

  Exactly 10000 messages with idempotency keys, and a log of every response:
    hermod-sim http-load --key KEY --secret SECRET --requests 10000 --idempotency run1 --log responses.jsonl

  Latency at 2000 messages per second, as JSON:
    hermod-sim http-load --key KEY --secret SECRET --rate 2000 --connections 100 --duration 60s --json";

impl HttpLoadArgs {
    pub(crate) async fn run(self) -> Ended {
        let log = self.log.as_deref().map(open_log).transpose()?;
        let mut options = self.options()?;
        if let Some(log) = &log {
            let log = Arc::clone(log);
            options.observer = Some(Arc::new(move |attempt| write_attempt(&log, attempt)));
        }
        let run = http::start(options).await.map_err(|error| format!("{}: {error}", self.url))?;
        let live = run.live();
        let stopper = run.stopper();
        let report = terminal::finish(run.finish(), || stopper.stop(), &live).await;
        if let Some(log) = log {
            let mut log = log.lock().expect("no holder of the log panics");
            log.flush().map_err(|error| format!("the log is incomplete: {error}"))?;
        }
        terminal::print_report(&report, self.load.json);
        Ok(())
    }

    fn options(&self) -> Result<HttpLoadOptions, String> {
        let target =
            HttpTarget::new(&self.url, &self.key, &self.secret).map_err(|refusal| refusal.to_string())?;
        let keys = self.idempotency.clone().map_or(KeyMode::None, KeyMode::Prefixed);
        let messages =
            HttpMessages::new((&self.to, self.load.recipients), self.from.as_deref(), &self.text, keys)
                .map_err(|refusal| refusal.to_string())?;
        let bound = Bound::new(self.requests, self.load.duration).map_err(|refusal| refusal.to_string())?;
        let mut options = HttpLoadOptions::new(target, messages, bound);
        options.connections = self.connections;
        options.which = Which::From(self.load.first);
        options.response_wait_max = self.load.timeout;
        options.pace = self.load.pace();
        Ok(options)
    }
}

type Log = Arc<Mutex<BufWriter<File>>>;

fn open_log(path: &Path) -> Result<Log, String> {
    let file = File::create(path).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    Ok(Arc::new(Mutex::new(BufWriter::new(file))))
}

fn write_attempt(log: &Log, attempt: &HttpAttempt<'_>) {
    let HttpAttempt { index, key, outcome } = attempt;
    let line = match outcome {
        HttpOutcome::Answered { status, message_id } => {
            json!({ "index": index, "key": key, "status": status, "message_id": message_id })
        }
        HttpOutcome::Failed(failure) => json!({ "index": index, "key": key, "error": failure }),
    };
    // A write that fails is reported by the flush at the end.
    let _ = writeln!(log.lock().expect("no holder of the log panics"), "{line}");
}
