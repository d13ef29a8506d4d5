//! `--watch`: prints a screen every second until the command is stopped.

use super::operator_client::OperatorClient;
use crate::failure::{CommandResult, Failure};
use crate::output;
use hermod_gateway::clock::Clock;
use serde::de::DeserializeOwned;
use std::time::Duration;

const INTERVAL: Duration = Duration::from_secs(1);
/// Clears the terminal.
const CLEAR: &str = "\x1b[2J\x1b[H";

/// Prints a view once, or every second with `watch`.
pub(super) async fn print_or_watch<T: DeserializeOwned>(
    client: &OperatorClient,
    path: &str,
    watch: bool,
    text: impl Fn(T) -> String,
) -> CommandResult {
    let clock = Clock::real();
    let before = if watch { CLEAR } else { "" };
    loop {
        let response = client.get(path).await?;
        if client.json {
            output::print_json(&response.body)?;
        } else {
            output::print(&format!("{before}{}", text(response.read_as().map_err(Failure::failed)?)))?;
        }
        if !watch {
            return Ok(());
        }
        clock.sleep(INTERVAL).await;
    }
}
