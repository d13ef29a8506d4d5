//! `hermod carrier trace`: a carrier's PDUs as they come and go.

use super::desk::{Body, Desk};
use super::entries;
use crate::ending::{Ended, Failure};
use crate::show;
use clap::Args;
use hermod_gateway::clock::Clock;
use hermod_gateway::provision::Kind;
use hyper::Method;
use serde::Deserialize;
use serde_json::json;
use std::time::Duration;

/// How often it is asked for more.
const LOOK_EVERY: Duration = Duration::from_millis(300);

pub(super) const EXAMPLES: &str = "\
Examples:
  hermod carrier trace acme
  hermod carrier trace acme --for 10m

Every PDU to and from the carrier is a line until the time is over or Ctrl-C is pressed. Lines have
neither passwords nor texts. -> is to the carrier, <- is from it.";

#[derive(Args)]
pub(super) struct Trace {
    name: String,
    /// How long, from 1s to 1h
    #[arg(long = "for", value_name = "TIME", default_value = "60s")]
    lasting: String,
}

#[derive(Deserialize)]
struct Lines {
    items: Vec<Line>,
    next: u64,
    until: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Line {
    at: String,
    link: u8,
    way: String,
    line: String,
}

impl Line {
    pub(super) fn text(&self) -> String {
        let Line { at, link, way, line } = self;
        let arrow = if way == "out" { "->" } else { "<-" };
        format!("{at}  {link} {arrow} {}\n", show::safe(line))
    }
}

impl Trace {
    pub(super) async fn run(self, desk: &Desk) -> Ended {
        let path = format!("{}/trace", entries::path(Kind::Carrier, &self.name));
        // What was traced before is not what was asked for now.
        let before: Lines = desk.get(&path).await?.read_as().map_err(Failure::failed)?;
        desk.asked(Method::PUT, &path, Body::Json(&json!({ "for": self.lasting }))).await?;
        let clock = Clock::real();
        let mut after = before.next;
        loop {
            let answer = desk.get(&format!("{path}?after={after}")).await?;
            let Lines { items, next, until } = answer.read_as().map_err(Failure::failed)?;
            if !items.is_empty() {
                match desk.json {
                    true => show::say_raw(&answer.body)?,
                    false => show::say(&items.iter().map(Line::text).collect::<String>())?,
                }
            }
            after = next;
            if until.is_none() {
                return Ok(());
            }
            clock.sleep(LOOK_EVERY).await;
        }
    }
}
