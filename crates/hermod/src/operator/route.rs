//! `hermod route`: which carriers serve a destination.

use super::entries::{self, Column, text};
use super::fields::Fields;
use super::place::{Absent, Place};
use crate::ending::Ended;
use crate::show::Align::Left;
use clap::{Args, Subcommand};
use hermod_gateway::provision::Kind;

const EXAMPLES: &str = "\
Examples:
  hermod route list
  hermod route set '*' --carrier acme
  hermod route set 49 --carrier acme --carrier backup
  hermod route remove 49

A route is known by the first digits of the numbers it is for, without a plus; the longest that
fits decides, and * is every number.";

/// Routes: which carriers serve a destination
#[derive(Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct Route {
    #[command(flatten)]
    place: Place,
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// List them
    #[command(after_help = "Example:\n  hermod route list")]
    List,
    /// Make one, or change it
    #[command(after_help = "Examples:\n  hermod route set 49 --carrier acme --carrier backup\n  \
                            hermod route set 49 --in-doubt never-resend")]
    Set {
        /// First digits of the number, or * for every number
        prefix: String,
        /// A carrier, the preferred one first; may be given several times
        #[arg(long = "carrier", value_name = "NAME")]
        carriers: Vec<String>,
        /// A part that may have left and whose answer never came
        #[arg(long, value_name = "POLICY", value_parser = ["resend-once", "never-resend"])]
        in_doubt: Option<String>,
    },
    /// Take one away; numbers it was for then go by a shorter prefix, or nowhere
    #[command(after_help = "Example:\n  hermod route remove 49")]
    Remove { prefix: String },
}

const COLUMNS: [Column; 3] = [
    ("prefix", Left, |entry| text(&entry["prefix"])),
    ("carriers", Left, |entry| text(&entry["carriers"])),
    ("in doubt", Left, |entry| text(&entry["in_doubt"])),
];

impl Route {
    pub(crate) fn run(self) -> Ended {
        let Route { place, what } = self;
        place.work(Absent::Refuse, async move |desk| match what {
            What::List => entries::list(desk, Kind::Route, None, &COLUMNS).await,
            What::Set { prefix, carriers, in_doubt } => {
                let fields = Fields::default().with_list("carriers", &carriers).with("in_doubt", in_doubt);
                entries::set(desk, Kind::Route, &prefix, fields).await
            }
            What::Remove { prefix } => entries::remove(desk, Kind::Route, &prefix).await,
        })
    }
}
