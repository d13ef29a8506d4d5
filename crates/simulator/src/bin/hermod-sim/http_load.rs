//! `hermod-sim http-load`: load on the HTTP API, and a table or JSON of how it went.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use clap::Args;
use hermod_simulator::load::http::{
    self, Attempt, Bound, Keys, LoadOptions, Messages, Outcome, Pace, Target, Which,
};
use hermod_simulator::load::live::{Live, Progress};
use hermod_simulator::load::report::Report;
use serde_json::json;

use crate::{Ended, values};

/// Send messages to POST /api/v1/sms and measure the answers
///
/// Closed loop (the default): every connection sends its next message when the last one is answered; measures what
/// the server can do. Open loop (--rate): messages are due at a fixed rate whatever the server does, and latency
/// counts from the moment a message was due, so a stall is charged for everything it kept waiting.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct HttpLoad {
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
    /// Messages to send; the run ends after them or after --duration, whichever comes first
    #[arg(long)]
    requests: Option<u64>,
    /// How long to send, as in 10s or 5m
    #[arg(long, value_parser = values::duration)]
    duration: Option<Duration>,
    /// Open loop at this many messages per second
    #[arg(long, value_parser = values::rate)]
    rate: Option<f64>,
    /// First recipient; `clock` makes each the time of its request, for hermod-sim webhooks to read
    #[arg(long, default_value = "+4915100000000")]
    to: String,
    /// Recipients in all; the run starts over with the first after them
    #[arg(long, default_value_t = 100_000_000)]
    recipients: u64,
    /// Sender; left to the connection's default if not given
    #[arg(long)]
    from: Option<String>,
    /// What each text starts with; its number follows
    #[arg(long, default_value = "Load test message ")]
    text: String,
    /// Give each message an Idempotency-Key of this prefix and its number
    #[arg(long)]
    idempotency: Option<String>,
    /// Number of the first message: continue where another run ended
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// Wait this long for an answer
    #[arg(long, default_value = "30s", value_parser = values::duration)]
    timeout: Duration,
    /// Write one JSON line for each request to this file: index, key, status, message_id, error
    #[arg(long)]
    log: Option<PathBuf>,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
    /// Threads to send from; one is the lightest and enough for about 50,000 requests a second
    #[arg(long, default_value_t = 1)]
    pub(crate) threads: usize,
}

const EXAMPLES: &str = "\
Examples:
  As fast as 32 connections go, for ten seconds:
    hermod-sim http-load --key KEY --secret SECRET --duration 10s

  Exactly 10000 messages, each safe to send again, every answer logged:
    hermod-sim http-load --key KEY --secret SECRET --requests 10000 --idempotency run1 --log answers.jsonl

  Latency at a steady 2000 messages a second, as JSON:
    hermod-sim http-load --key KEY --secret SECRET --rate 2000 --connections 100 --duration 60s --json";

impl HttpLoad {
    pub(crate) async fn run(self) -> Ended {
        let log = self.log.as_deref().map(open_log).transpose()?;
        let mut options = self.options()?;
        if let Some(log) = &log {
            let log = Arc::clone(log);
            options.observer = Some(Arc::new(move |attempt| write_attempt(&log, attempt)));
        }
        let run = http::start(options).await.map_err(|error| format!("{}: {error}", self.url))?;
        let live = run.live();
        let report = if io::stderr().is_terminal() {
            finish_with_progress(run, &live).await
        } else {
            finish(run).await
        };
        if let Some(log) = log {
            let mut log = log.lock().expect("no holder of the log panics");
            log.flush().map_err(|error| format!("the log is incomplete: {error}"))?;
        }
        let printed = if self.json {
            serde_json::to_string(&report).expect("a report is JSON")
        } else {
            report.to_string().trim_end().to_owned()
        };
        values::say(&printed);
        Ok(())
    }

    fn options(&self) -> Result<LoadOptions, String> {
        let target =
            Target::new(&self.url, &self.key, &self.secret).map_err(|refusal| refusal.to_string())?;
        let keys = self.idempotency.clone().map_or(Keys::None, Keys::Prefixed);
        let messages = Messages::new((&self.to, self.recipients), self.from.as_deref(), &self.text, keys)
            .map_err(|refusal| refusal.to_string())?;
        let bound = Bound::new(self.requests, self.duration).map_err(|refusal| refusal.to_string())?;
        let mut options = LoadOptions::new(target, messages, bound);
        options.connections = self.connections;
        options.which = Which::From(self.first);
        options.answer_wait_max = self.timeout;
        if let Some(per_second) = self.rate {
            options.pace = Pace::OpenLoop { per_second };
        }
        Ok(options)
    }
}

/// Waits for the end; ctrl-c brings it about early, and what was measured until then is still reported.
async fn finish(run: http::Run) -> Report {
    let stop = run.stopper();
    let finish = run.finish();
    tokio::pin!(finish);
    tokio::select! {
        report = &mut finish => report,
        () = values::told_to_end() => {
            stop.stop();
            finish.await
        }
    }
}

async fn finish_with_progress(run: http::Run, live: &Live) -> Report {
    let mut progress = Progress::default();
    let mut tick = tokio::time::interval(Duration::from_millis(500));
    let finish = finish(run);
    tokio::pin!(finish);
    let report = loop {
        tokio::select! {
            report = &mut finish => break report,
            _ = tick.tick() => values::rewrite_line(&progress.line(live).to_string()),
        }
    };
    values::rewrite_line("");
    report
}

type Log = Arc<Mutex<BufWriter<File>>>;

fn open_log(path: &Path) -> Result<Log, String> {
    let file = File::create(path).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    Ok(Arc::new(Mutex::new(BufWriter::new(file))))
}

fn write_attempt(log: &Log, attempt: &Attempt<'_>) {
    let Attempt { index, key, outcome } = attempt;
    let line = match outcome {
        Outcome::Answered { status, message_id } => {
            json!({ "index": index, "key": key, "status": status, "message_id": message_id })
        }
        Outcome::Failed(failure) => json!({ "index": index, "key": key, "error": failure }),
    };
    // A write that fails is reported by the flush at the end.
    let _ = writeln!(log.lock().expect("no holder of the log panics"), "{line}");
}
