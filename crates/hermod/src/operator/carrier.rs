//! `hermod carrier`: whom messages are handed to.

use super::desk::{Body, Desk};
use super::entries::{self, Column, text};
use super::fields::Fields;
use super::place::{Absent, Place};
use super::probe;
use super::receipts;
use super::trace;
use crate::ending::Ended;
use crate::secret_file::first_line;
use crate::show;
use crate::show::Align::{Left, Right};
use clap::{Args, Subcommand};
use hermod_gateway::provision::Kind;
use hyper::Method;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  hermod carrier list
  hermod carrier set acme --address smsc.example:2775 --system-id hermod \\
      --password-file acme.password --window 10 --rate 100
  hermod carrier show acme
  hermod carrier disable acme

A carrier is never removed, because messages refer to it; disabled, it keeps no link and what is
routed to it waits.";

const SET_EXAMPLES: &str = "\
Examples:
  hermod carrier set acme --address smsc.example:2775 --system-id hermod \\
      --password-file acme.password --window 10 --rate 100
  hermod carrier set acme --rate 50 --links 2 --ids hex-to-decimal
  hermod carrier set acme --set long_messages=payload --set destination=0/1
  hermod carrier set acme --set 'retry=[{status=0x45,class=\"temporary\",wait=\"30s\"}]'
  hermod carrier set acme --set retry=

--set takes every field that a provision file takes, with a value as the file would have it (quotes
around a single word may be left out); nothing behind the = brings back what is usual. The fields
are told one by one in docs/carriers.md.";

/// Carriers that deliver messages
#[derive(Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct Carrier {
    #[command(flatten)]
    place: Place,
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// List them
    #[command(after_help = "Example:\n  hermod carrier list")]
    List,
    /// Look at one: everything about it that is not as usual
    #[command(after_help = "Example:\n  hermod carrier show acme")]
    Show { name: String },
    /// Make one, or change it
    #[command(after_help = SET_EXAMPLES)]
    Set(Box<Set>),
    /// Link to it again
    #[command(after_help = "Example:\n  hermod carrier enable acme")]
    Enable { name: String },
    /// Keep no link; what is routed to it waits
    #[command(after_help = "Example:\n  hermod carrier disable acme")]
    Disable { name: String },
    /// Let one send again that was stopped because it could make no sense of what we sent
    #[command(after_help = "Example:\n  hermod carrier resume acme")]
    Resume { name: String },
    /// Receipts that found no part, beside the ids they should have had
    #[command(after_help = receipts::EXAMPLES)]
    Receipts(receipts::Receipts),
    /// Send one message to try it, and see every PDU
    #[command(after_help = probe::EXAMPLES)]
    Test(probe::Test),
    /// Watch its PDUs
    #[command(after_help = trace::EXAMPLES)]
    Trace(trace::Trace),
}

#[derive(Args)]
struct Set {
    /// What it is called here
    name: String,
    /// host:port of its SMPP server
    #[arg(long, value_name = "HOST:PORT")]
    address: Option<String>,
    /// Whether links are over TLS
    #[arg(long, value_name = "BOOL")]
    tls: Option<bool>,
    /// Who we are to it
    #[arg(long, value_name = "ID")]
    system_id: Option<String>,
    /// File with the password in its first line; - reads standard input
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
    /// Its system type, if it wants one
    #[arg(long, value_name = "TYPE")]
    system_type: Option<String>,
    /// Parts sent and not answered yet, at most, on each link
    #[arg(long, value_name = "N")]
    window: Option<u16>,
    /// Parts per second, at most, all links together
    #[arg(long, value_name = "N")]
    rate: Option<u32>,
    /// Parts per second of each link
    #[arg(long, value_name = "N")]
    link_rate: Option<u32>,
    /// How many links
    #[arg(long, value_name = "N")]
    links: Option<u8>,
    /// What a link is made of
    #[arg(long, value_name = "KIND", value_parser = ["transceiver", "transmitter-and-receiver"])]
    binds: Option<String>,
    /// How the same message id is written in answers and in receipts
    #[arg(long, value_name = "HOW", value_parser = ["none", "hex-to-decimal", "decimal-to-hex"])]
    ids: Option<String>,
    /// After this long without an answer a part is in doubt, such as 60s
    #[arg(long, value_name = "TIME")]
    response_timeout: Option<String>,
    /// A link without traffic is probed this often, such as 30s
    #[arg(long, value_name = "TIME")]
    enquire_link: Option<String>,
    /// Any other field; may be given several times
    #[arg(long = "set", value_name = "FIELD=VALUE")]
    others: Vec<String>,
}

const COLUMNS: [Column; 8] = [
    ("name", Left, |entry| text(&entry["name"])),
    ("address", Left, |entry| text(&entry["address"])),
    ("tls", Left, |entry| if is_on(&entry["tls"]) { "yes".to_owned() } else { String::new() }),
    ("system id", Left, |entry| text(&entry["system_id"])),
    ("links", Right, |entry| entry["links"].as_u64().unwrap_or(1).to_string()),
    ("window", Right, |entry| text(&entry["window"])),
    ("rate", Right, |entry| text(&entry["rate"])),
    ("disabled", Left, |entry| text(&entry["disabled"])),
];

fn is_on(tls: &Value) -> bool {
    !matches!(tls, Value::Null | Value::Bool(false))
}

impl Carrier {
    pub(crate) fn run(self) -> Ended {
        let Carrier { place, what } = self;
        place.work(Absent::Refuse, async move |desk| match what {
            What::List => entries::list(desk, Kind::Carrier, None, &COLUMNS).await,
            What::Show { name } => show_one(desk, &name).await,
            What::Set(set) => set.run(desk).await,
            What::Enable { name } => disable(desk, &name, false).await,
            What::Disable { name } => disable(desk, &name, true).await,
            What::Resume { name } => resume(desk, &name).await,
            What::Receipts(asked) => asked.run(desk).await,
            What::Test(asked) => asked.run(desk).await,
            What::Trace(asked) => asked.run(desk).await,
        })
    }
}

async fn disable(desk: &Desk, name: &str, disabled: bool) -> Ended {
    entries::patch(desk, Kind::Carrier, name, Fields::default().with("disabled", Some(disabled))).await
}

#[derive(Deserialize)]
struct Resumed {
    resumed: bool,
}

async fn resume(desk: &Desk, name: &str) -> Ended {
    let path = format!("{}/resume", entries::path(Kind::Carrier, name));
    let answer = desk.asked(Method::POST, &path, Body::None).await?;
    desk.tell(&answer, |Resumed { resumed }: Resumed| match resumed {
        true => format!("{name} sends again.\n"),
        false => format!("{name} was not stopped.\n"),
    })
}

#[derive(Deserialize)]
struct Shown {
    entry: Map<String, Value>,
}

/// In the order in which somebody would think of them; the rest behind, by name.
const FIRST: [&str; 12] = [
    "name",
    "address",
    "tls",
    "system_id",
    "system_type",
    "links",
    "binds",
    "window",
    "rate",
    "link_rate",
    "response_timeout",
    "enquire_link",
];

async fn show_one(desk: &Desk, name: &str) -> Ended {
    let answer = desk.get(&entries::path(Kind::Carrier, name)).await?;
    desk.tell(&answer, |Shown { entry }: Shown| {
        let rest = entry.keys().map(String::as_str).filter(|field| !FIRST.contains(field));
        let fields: Vec<&str> = FIRST.into_iter().chain(rest).collect();
        let mut lines: Vec<(&str, String)> = Vec::new();
        for field in fields {
            match entry.get(field) {
                Some(Value::Array(tables)) if tables.iter().any(Value::is_object) => {
                    lines.extend(tables.iter().map(|table| (field, text(table))));
                }
                Some(value) => lines.push((field, text(value))),
                None => {}
            }
        }
        format!("{}Whatever is not listed is as usual.\n", show::fields(&lines))
    })
}

impl Set {
    async fn run(self: Box<Set>, desk: &Desk) -> Ended {
        let password = self.password_file.as_deref().map(first_line).transpose()?;
        let fields = Fields::default()
            .with("address", self.address)
            .with("tls", self.tls)
            .with("system_id", self.system_id)
            .with("password", password)
            .with("system_type", self.system_type)
            .with("window", self.window)
            .with("rate", self.rate)
            .with("link_rate", self.link_rate)
            .with("links", self.links)
            .with("binds", self.binds)
            .with("ids", self.ids)
            .with("response_timeout", self.response_timeout)
            .with("enquire_link", self.enquire_link)
            .with_others(&self.others)?;
        entries::set(desk, Kind::Carrier, &self.name, fields).await
    }
}
