//! `hermod carrier`: whom messages are handed to.

use super::desk::Desk;
use super::entries::{self, Column, text};
use super::fields::Fields;
use super::place::{Absent, Place};
use crate::ending::Ended;
use crate::secret_file::first_line;
use crate::show::Align::{Left, Right};
use clap::{Args, Subcommand};
use hermod_gateway::provision::Kind;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  hermod carrier list
  hermod carrier set acme --address smsc.example:2775 --system-id hermod \\
      --password-file acme.password --window 10 --rate 100
  hermod carrier disable acme

A carrier is never removed, because messages refer to it; disabled, it keeps no link and what is
routed to it waits.";

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
    /// Make one, or change it
    #[command(
        after_help = "Examples:\n  hermod carrier set acme --address smsc.example:2775 --system-id hermod \\\n      \
                            --password-file acme.password --window 10 --rate 100\n  hermod carrier set acme --rate 50"
    )]
    Set(Set),
    /// Link to it again
    #[command(after_help = "Example:\n  hermod carrier enable acme")]
    Enable { name: String },
    /// Keep no link; what is routed to it waits
    #[command(after_help = "Example:\n  hermod carrier disable acme")]
    Disable { name: String },
}

#[derive(Args)]
struct Set {
    /// What it is called here
    name: String,
    /// host:port of its SMPP server
    #[arg(long, value_name = "HOST:PORT")]
    address: Option<String>,
    /// Who we are to it
    #[arg(long, value_name = "ID")]
    system_id: Option<String>,
    /// File with the password in its first line; - reads standard input
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
    /// Its system type, if it wants one
    #[arg(long, value_name = "TYPE")]
    system_type: Option<String>,
    /// Parts sent and not answered yet, at most
    #[arg(long, value_name = "N")]
    window: Option<u16>,
    /// Parts per second, at most
    #[arg(long, value_name = "N")]
    rate: Option<u32>,
    /// After this long without an answer a part is in doubt, such as 60s
    #[arg(long, value_name = "TIME")]
    response_timeout: Option<String>,
    /// A link without traffic is probed this often, such as 30s
    #[arg(long, value_name = "TIME")]
    enquire_link: Option<String>,
}

const COLUMNS: [Column; 6] = [
    ("name", Left, |entry| text(&entry["name"])),
    ("address", Left, |entry| text(&entry["address"])),
    ("system id", Left, |entry| text(&entry["system_id"])),
    ("window", Right, |entry| text(&entry["window"])),
    ("rate", Right, |entry| text(&entry["rate"])),
    ("disabled", Left, |entry| text(&entry["disabled"])),
];

impl Carrier {
    pub(crate) fn run(self) -> Ended {
        let Carrier { place, what } = self;
        place.work(Absent::Refuse, async move |desk| match what {
            What::List => entries::list(desk, Kind::Carrier, None, &COLUMNS).await,
            What::Set(set) => set.run(desk).await,
            What::Enable { name } => disable(desk, &name, false).await,
            What::Disable { name } => disable(desk, &name, true).await,
        })
    }
}

async fn disable(desk: &Desk, name: &str, disabled: bool) -> Ended {
    entries::patch(desk, Kind::Carrier, name, Fields::default().with("disabled", Some(disabled))).await
}

impl Set {
    async fn run(self, desk: &Desk) -> Ended {
        let Set {
            name,
            address,
            system_id,
            password_file,
            system_type,
            window,
            rate,
            response_timeout,
            enquire_link,
        } = self;
        let password = password_file.as_deref().map(first_line).transpose()?;
        let fields = Fields::default()
            .with("address", address)
            .with("system_id", system_id)
            .with("password", password)
            .with("system_type", system_type)
            .with("window", window)
            .with("rate", rate)
            .with("response_timeout", response_timeout)
            .with("enquire_link", enquire_link);
        entries::set(desk, Kind::Carrier, &name, fields).await
    }
}
