//! `hermod tail`: shows messages as they are recorded.

use super::message::step_text;
use super::operator_client::{OperatorClient, StreamError, with_query};
use super::target::ClientCommand;
use crate::client::CallError;
use crate::failure::{CommandResult, Failure};
use crate::output;
use clap::Args;
use hermod_gateway::clock::Clock;
use hermod_operator::message::live::{LiveMessageView, LiveQuery, LiveView};
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  hermod tail
  hermod tail --account shop
  hermod tail --json | jq -c '.shown[] | [.message.to, .message.state]'

One line for each message with its latest step, about twice a second, until the command is stopped. Of
many messages only a sample is shown, and a line says how many there were.";

/// How long to wait before the connection is made again.
const RECONNECT_AFTER: Duration = Duration::from_secs(2);

/// Watch messages live
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TailArgs {
    /// Only messages of this account
    #[arg(long, value_name = "NAME")]
    account: Option<String>,
}

impl ClientCommand for TailArgs {
    async fn run(self, client: &OperatorClient) -> CommandResult {
        let TailArgs { account } = self;
        let path = with_query("/live", &LiveQuery { account });
        follow(client, &path).await
    }
}

/// Prints frames. Comes back where it was after the connection was lost; ends when the gateway has stopped.
async fn follow(client: &OperatorClient, path: &str) -> CommandResult {
    let clock = Clock::real();
    let mut last = None;
    loop {
        let mut events = Events::default();
        let mut seen = last;
        let mut print = |piece: &[u8]| {
            events.add(piece, |id, data| {
                seen = id.or(seen);
                print_frame(data, client.json)
            })
        };
        let ended = client.stream(path, last, &mut print).await;
        last = seen;
        match ended {
            Err(StreamError::Call(CallError::Lost(sentence))) if sentence == STDOUT_CLOSED => return Ok(()),
            // The gateway restarts, or the network was interrupted.
            Ok(()) | Err(StreamError::Call(CallError::Lost(_))) => clock.sleep(RECONNECT_AFTER).await,
            Err(StreamError::Call(CallError::Unreachable(sentence))) if last.is_some() => {
                return Err(Failure::failed(format!("the live feed ended: {sentence}")));
            }
            Err(error) => return Err(error.failure()),
        }
    }
}

const STDOUT_CLOSED: &str = "standard output is closed";

fn print_frame(data: &str, json: bool) -> Result<(), String> {
    let text = if json {
        format!("{data}\n")
    } else {
        let frame: LiveView =
            serde_json::from_str(data).map_err(|error| format!("not a frame of Hermod: {error}"))?;
        frame_text(&frame)
    };
    // A closed pipe ends the command.
    output::print_once(&text).map_err(|_| STDOUT_CLOSED.to_owned())
}

fn frame_text(frame: &LiveView) -> String {
    let line = |LiveMessageView { message, step }: &LiveMessageView| {
        let what = match step {
            None => "accepted".to_owned(),
            Some(step) => format!("{}: {}", step.step.replace('_', " "), step_text(step)),
        };
        let to = message.to.as_deref().unwrap_or("(erased)");
        let line = format!(
            "{}  {}  {}  {} > {}  {}  {}",
            frame.at,
            message.id,
            message.account,
            message.from,
            to,
            message.state,
            what.trim_end_matches(": ")
        );
        format!("{}\n", output::safe(&line))
    };
    let mut text: String = frame.shown.iter().map(line).collect();
    if let Some(note) = &frame.note {
        text.push_str(&format!("{}  ({note})\n", frame.at));
    }
    text
}

/// Parses server-sent events from pieces of a response.
#[derive(Default)]
struct Events {
    rest: Vec<u8>,
}

impl Events {
    /// Adds a piece, and passes complete events on: the id and the data of each. Comments are left out.
    fn add(
        &mut self,
        piece: &[u8],
        mut event: impl FnMut(Option<u64>, &str) -> Result<(), String>,
    ) -> Result<(), String> {
        self.rest.extend_from_slice(piece);
        while let Some(end) = self.rest.windows(2).position(|pair| pair == b"\n\n") {
            let block: Vec<u8> = self.rest.drain(..end + 2).collect();
            let block = String::from_utf8_lossy(&block);
            let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name));
            if let Some(data) = field("data: ") {
                event(field("id: ").and_then(|id| id.parse().ok()), data)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "tail_tests.rs"]
mod tests;
