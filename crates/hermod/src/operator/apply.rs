//! `hermod apply`: brings a gateway to what a provision file says.

use super::changes::SecretsTo;
use super::desk::{Body, Desk};
use super::entries::{self, lost};
use super::place::{Absent, Place};
use crate::ending::{Ended, Failure};
use crate::provision_file;
use clap::Args;
use hermod_gateway::config::Source;
use hermod_gateway::provision::Wanted;
use hyper::Method;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  hermod config provision > provision.toml
  hermod apply provision.toml --dry-run
  hermod apply provision.toml
  hermod apply provision.toml --create
  hermod apply - < provision.toml
  hermod apply provision.toml --config /etc/hermod/hermod.toml
  hermod apply provision.toml --secrets-to secrets.toml

Things are known by name. What is new is made; of what exists only the fields that the file
mentions are changed; nothing is removed unless the file says so. A field that was changed by
command or API since the file was last applied is left alone if the file says the same as then;
--force brings it to the file. It is done whole or not at all. A key without a secret gets a random
one, shown once.

  + made   ~ changed, field by field   - removed   = unchanged   ! left alone

Exit codes: 0 done; 1 it could not be done; 2 the file needs mending, and the sentence says where.";

/// Set a gateway up as a file says: carriers, routes, prices, customers, rules
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Apply {
    /// The provision file (TOML), or - for standard input; `hermod config provision` prints one
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Show the difference and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Make the data folder if it does not exist yet
    #[arg(long, conflicts_with = "dry_run")]
    create: bool,
    /// Bring everything to the file, also what was changed since it was last applied
    #[arg(long)]
    force: bool,
    /// Write secrets that are made to this file, which only you may read, instead of showing them
    #[arg(long, value_name = "FILE", conflicts_with = "dry_run")]
    secrets_to: Option<PathBuf>,
    #[command(flatten)]
    place: Place,
}

impl Apply {
    pub(crate) fn run(self) -> Ended {
        let Apply { file, dry_run, create, force, secrets_to, place } = self;
        // What can be told without a gateway is told with the line.
        let source = if file == Path::new("-") { Source::read_stdin() } else { Source::read(&file) };
        let source = source.map_err(Failure::mend)?;
        let wanted = Wanted::parse(&source).map_err(Failure::mend)?;
        if let Some(warning) = provision_file::exposure(&file, &wanted) {
            eprintln!("hermod: {warning}");
        }
        let absent = match (dry_run, create) {
            (true, _) => Absent::Imagine,
            (false, true) => Absent::Make,
            (false, false) => Absent::Refuse,
        };
        place.work(absent, async move |desk| {
            let to = SecretsTo::prepare(secrets_to.as_deref())?;
            let path = format!("/apply?dry_run={dry_run}&force={force}");
            match post(desk, &path, &source).await {
                Ok(answer) => entries::tell_changes(desk, &answer, to),
                Err(failure) => to.give_up().and(Err(failure)),
            }
        })
    }
}

async fn post(desk: &Desk, path: &str, source: &Source) -> Result<crate::client::Answer, Failure> {
    let body = Body::Toml(&source.text);
    let answer = desk.call(Method::POST, path, &body).await.map_err(|error| lost(&error))?;
    answer.accepted().map_err(|refused| match refused.status {
        // Something in the file: whoever wrote it mends it.
        400 | 413 | 422 => {
            desk.refused(&refused);
            Failure::mend(format!("{}: {refused}", source.path.display()))
        }
        _ => desk.refused(&refused),
    })
}
