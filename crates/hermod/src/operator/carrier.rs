//! `hermod carrier`: carriers, their SMPP settings, tests and traces.

use super::carrier_test;
use super::entries::{self, text};
use super::fields::EntryFields;
use super::list::Column;
use super::operator_client::{OperatorClient, RequestBody};
use super::receipts;
use super::tables::silent_nodes;
use super::target::{MissingDir, TargetArgs};
use super::trace;
use crate::data_folder::first_line;
use crate::failure::CommandResult;
use crate::output;
use crate::output::Align::{Left, Right};
use clap::{Args, Subcommand};
use hermod_gateway::provision::Kind;
use hermod_gateway::views::carriers::ResumedView;
use hermod_gateway::views::entries::EntryView;
use hyper::Method;
use serde_json::Value;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  hermod carrier list
  hermod carrier set acme --address smsc.example:2775 --system-id hermod \\
      --password-file acme.password --window 10 --rate 100
  hermod carrier show acme
  hermod carrier disable acme

A carrier cannot be removed, because messages refer to it. A disabled carrier has no links, and the
messages that are routed to it wait.";

const SET_EXAMPLES: &str = "\
Examples:
  hermod carrier set acme --address smsc.example:2775 --system-id hermod \\
      --password-file acme.password --window 10 --rate 100
  hermod carrier set acme --rate 50 --links 2 --ids hex-to-decimal
  hermod carrier set acme --set long_messages=payload --set destination=0/1
  hermod carrier set acme --set 'retry=[{status=0x45,class=\"temporary\",wait=\"30s\"}]'
  hermod carrier set acme --set retry=

--set takes every field of a provision file, with a value in TOML (quotes around a single word may be
omitted); an empty value restores the default. docs/carriers.md describes the fields.";

/// Manage carriers
#[derive(Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct CarrierArgs {
    #[command(flatten)]
    target: TargetArgs,
    #[command(subcommand)]
    command: CarrierCommand,
}

#[derive(Subcommand)]
enum CarrierCommand {
    /// List carriers
    #[command(after_help = "Example:\n  hermod carrier list")]
    List,
    /// Show the settings of a carrier that differ from the defaults
    #[command(after_help = "Example:\n  hermod carrier show acme")]
    Show {
        /// The carrier
        name: String,
    },
    /// Create or change a carrier
    #[command(after_help = SET_EXAMPLES)]
    Set(Box<Set>),
    /// Enable a carrier
    #[command(after_help = "Example:\n  hermod carrier enable acme")]
    Enable {
        /// The carrier
        name: String,
    },
    /// Disable a carrier: its links end, and its messages wait
    #[command(after_help = "Example:\n  hermod carrier disable acme")]
    Disable {
        /// The carrier
        name: String,
    },
    /// Resume a carrier that was stopped because it rejected PDUs as malformed
    #[command(after_help = "Example:\n  hermod carrier resume acme")]
    Resume {
        /// The carrier
        name: String,
    },
    /// List receipts that matched no part, beside the ids of recent responses
    #[command(after_help = receipts::EXAMPLES)]
    Receipts(receipts::ReceiptsArgs),
    /// Send a test message and print every PDU
    #[command(after_help = carrier_test::EXAMPLES)]
    Test(carrier_test::CarrierTestArgs),
    /// Print PDUs as they are sent and received
    #[command(after_help = trace::EXAMPLES)]
    Trace(trace::TraceArgs),
}

#[derive(Args)]
struct Set {
    /// Name of the carrier
    name: String,
    /// Address of the SMSC
    #[arg(long, value_name = "HOST:PORT")]
    address: Option<String>,
    /// Whether links use TLS
    #[arg(long, value_name = "BOOL")]
    tls: Option<bool>,
    /// system_id of the bind
    #[arg(long, value_name = "ID")]
    system_id: Option<String>,
    /// File with the password in its first line; - reads standard input
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
    /// system_type of the bind
    #[arg(long, value_name = "TYPE")]
    system_type: Option<String>,
    /// Window of each link: parts without a response
    #[arg(long, value_name = "N")]
    window: Option<u16>,
    /// Parts per second of all links together
    #[arg(long, value_name = "N")]
    rate: Option<u32>,
    /// Parts per second of each link
    #[arg(long, value_name = "N")]
    link_rate: Option<u32>,
    /// Number of links
    #[arg(long, value_name = "N")]
    links: Option<u8>,
    /// Binds of a link
    #[arg(long, value_name = "KIND", value_parser = ["transceiver", "transmitter-and-receiver"])]
    binds: Option<String>,
    /// Conversion between message ids in responses and in receipts
    #[arg(long, value_name = "HOW", value_parser = ["none", "hex-to-decimal", "decimal-to-hex"])]
    ids: Option<String>,
    /// Timeout of a response, such as 60s
    #[arg(long, value_name = "TIME")]
    response_timeout: Option<String>,
    /// Interval of enquire_link on an idle link, such as 30s
    #[arg(long, value_name = "TIME")]
    enquire_link: Option<String>,
    /// Any other field; repeatable
    #[arg(long = "set", value_name = "FIELD=VALUE")]
    others: Vec<String>,
}

const COLUMNS: [Column<Value>; 8] = [
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

impl CarrierArgs {
    pub(crate) fn run(self) -> CommandResult {
        let CarrierArgs { target, command } = self;
        target.run(MissingDir::Refuse, async move |client| match command {
            CarrierCommand::List => entries::list(client, Kind::Carrier, None, &COLUMNS).await,
            CarrierCommand::Show { name } => show_one(client, &name).await,
            CarrierCommand::Set(set) => set.run(client).await,
            CarrierCommand::Enable { name } => disable(client, &name, false).await,
            CarrierCommand::Disable { name } => disable(client, &name, true).await,
            CarrierCommand::Resume { name } => resume(client, &name).await,
            CarrierCommand::Receipts(command) => command.run(client).await,
            CarrierCommand::Test(command) => command.run(client).await,
            CarrierCommand::Trace(command) => command.run(client).await,
        })
    }
}

async fn disable(client: &OperatorClient, name: &str, disabled: bool) -> CommandResult {
    entries::patch(client, Kind::Carrier, name, EntryFields::default().with("disabled", Some(disabled))).await
}

async fn resume(client: &OperatorClient, name: &str) -> CommandResult {
    let path = format!("{}/resume", entries::path(Kind::Carrier, name));
    let response = client.send(Method::POST, &path, RequestBody::None).await?;
    client.print(&response, |ResumedView { resumed, missing_nodes, .. }| {
        let done = if resumed { "sends again" } else { "was not stopped" };
        format!("{name} {done}.\n{}", silent_nodes(&missing_nodes))
    })
}

/// Fields that are shown first; the others follow by name.
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

async fn show_one(client: &OperatorClient, name: &str) -> CommandResult {
    let response = client.get(&entries::path(Kind::Carrier, name)).await?;
    client.print(&response, |EntryView { entry, .. }| {
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
        format!("{}All other settings have their defaults.\n", output::fields(&lines))
    })
}

impl Set {
    async fn run(self: Box<Set>, client: &OperatorClient) -> CommandResult {
        let password = self.password_file.as_deref().map(first_line).transpose()?;
        let fields = EntryFields::default()
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
        entries::set(client, Kind::Carrier, &self.name, fields).await
    }
}
