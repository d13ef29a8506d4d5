//! `hermod rates import|list|undo`: the rate sheets of a carrier.

use super::list::{CellValue as _, ListFormat, listed, print_list, table};
use super::operator_client::{FILE_TIMEOUT, OperatorClient, RequestBody, with_query};
use super::target::ClientCommand;
use crate::client::escape;
use crate::failure::{CommandResult, Failure};
use crate::input_file::read_file;
use crate::output::{self, Align, TextTable};
use clap::{Args, Subcommand};
use hermod_operator::csv::{self, Cell};
use hermod_operator::http::FILE_BYTES_MAX;
use hermod_operator::rates::views::{
    LossView, RateChangeView, RateCounts, RatePlanView, RateSheetQuery, RateSheetView, RateSheetsView,
    UndoQuery, UndoneView,
};
use hyper::Method;
use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  hermod rates import north sheet.xlsx --dry-run
  hermod rates import north sheet.xlsx
  hermod rates import north sheet.csv --mode full --yes
  hermod rates list north
  hermod rates undo north

hermod rate-profile set north says how the sheets of the carrier north are read.";
const IMPORT_NOTE: &str = "\
Examples:
  hermod rates import north sheet.xlsx --dry-run
  hermod rates import north sheet.csv --dry-run --csv > plan.csv
  hermod rates import north sheet.xlsx --mode full --yes

The file is an XLSX workbook or CSV, with commas, semicolons or tabs. The plan is shown with what will be sold at a loss, and is
applied when you confirm it, or with --yes. Rows that cannot be read are listed and change nothing; a file that can mean two
things is rejected: say in the rate profile which. Costs in force are not changed but followed by others, so what was sent before
keeps its cost. The same file again changes nothing.

Exit codes: 0 applied, or nothing to change; 1 failed or not confirmed; 2 the file cannot be read.";

/// How many changes a plan shows; --csv and --json show all.
const SHOWN: u32 = 25;
const ALL: u32 = 250_000;
const PROBLEMS_SHOWN: usize = 25;

/// Import rate sheets of carriers, and take them back
#[derive(Subcommand)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) enum RatesVerb {
    /// Show what a rate sheet changes, and apply it when you confirm
    #[command(after_help = IMPORT_NOTE)]
    Import(ImportArgs),
    /// List the rate sheets that were applied
    #[command(after_help = "Example:\n  hermod rates list north")]
    List {
        /// The carrier
        #[arg(value_name = "CARRIER")]
        carrier: String,
        #[command(flatten)]
        format: ListFormat,
    },
    /// Take the last rate sheet back, as far as its costs are not in force yet
    #[command(after_help = "Examples:\n  hermod rates undo north --dry-run\n  hermod rates undo north")]
    Undo {
        /// The carrier
        #[arg(value_name = "CARRIER")]
        carrier: String,
        /// Show how many costs would be taken back, and change nothing
        #[arg(long)]
        dry_run: bool,
    },
}

#[derive(Args)]
pub(crate) struct ImportArgs {
    /// The carrier
    #[arg(value_name = "CARRIER")]
    carrier: String,
    /// The XLSX or CSV file, or - for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Whether destinations that the sheet does not list are closed: full or partial [default: from the rate profile]
    #[arg(long, value_name = "MODE", value_parser = ["full", "partial"])]
    mode: Option<String>,
    /// The sheet of a workbook [default: from the rate profile, else its only one]
    #[arg(long, value_name = "NAME")]
    sheet: Option<String>,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Apply without asking
    #[arg(long, conflicts_with = "dry_run")]
    yes: bool,
    /// Print all changes as CSV
    #[arg(long, conflicts_with = "json", help_heading = "Output")]
    csv: bool,
}

listed! {
    RateSheetView or "No rate sheet was applied.":
        number, file, mode, at, by,
        "changes" Right |sheet| sheet.counts.changes().to_string(),
        "unchanged" Right |sheet| sheet.counts.unchanged.to_string(),
        "undone" Left |sheet| sheet.undone_at.clone().unwrap_or_default(),
}

impl ClientCommand for RatesVerb {
    async fn run(self, client: &OperatorClient) -> CommandResult {
        match self {
            RatesVerb::Import(args) => import(client, args).await,
            RatesVerb::List { carrier, format } => {
                let response = client.get(&path(&carrier)).await?;
                let text = |view: RateSheetsView| table(&view.items);
                print_list(client, &response, format, |view: &RateSheetsView| view.items.clone(), text)
            }
            RatesVerb::Undo { carrier, dry_run } => {
                let path = with_query(&format!("{}/undo", path(&carrier)), &UndoQuery { dry_run });
                let response =
                    client.send_with_timeout(Method::POST, &path, RequestBody::None, FILE_TIMEOUT).await?;
                if !dry_run {
                    client.note_write();
                }
                client.print(&response, |view: UndoneView| undone_text(&view))
            }
        }
    }
}

fn path(carrier: &str) -> String {
    format!("/carriers/{}/rate-sheets", escape(carrier))
}

/// Shows the plan of a sheet, and applies that plan and no other when it is confirmed.
async fn import(client: &OperatorClient, args: ImportArgs) -> CommandResult {
    let ImportArgs { carrier, file, mode, sheet, dry_run, yes, csv } = args;
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned());
    let listed = if csv || client.json { ALL } else { SHOWN };
    let query = RateSheetQuery { apply: false, plan: None, file: name, mode, sheet, listed: Some(listed) };
    let body = RequestBody::File(read_file(&file, FILE_BYTES_MAX)?);
    let planned = send(client, &carrier, &file, &query, &body).await?;
    let is_change = planned.counts.changes() > 0;
    if dry_run || !is_change {
        print_plan(client, &planned, csv)?;
        return if dry_run { say(client, csv, "This was a dry run: nothing was changed.") } else { Ok(()) };
    }
    if !yes {
        print_plan(client, &planned, csv)?;
        confirm(&file)?;
    }
    let query = RateSheetQuery { apply: true, plan: Some(planned.plan), ..query };
    let applied = send(client, &carrier, &file, &query, &body).await?;
    client.note_write();
    if yes {
        print_plan(client, &applied, csv)?;
    }
    let undo =
        format!("Applied. Until its costs apply, the sheet can be taken back: hermod rates undo {carrier}");
    say(client, csv, &undo)
}

async fn send(
    client: &OperatorClient,
    carrier: &str,
    file: &Path,
    query: &RateSheetQuery,
    body: &RequestBody,
) -> Result<RatePlanView, Failure> {
    let path = with_query(&path(carrier), query);
    let response = client.call_with_timeout(Method::POST, &path, body, FILE_TIMEOUT).await;
    let response = client.accepted_file(response.map_err(Failure::failed)?, file)?;
    response.read_as().map_err(Failure::failed)
}

/// Prints a line below the plan, unless that is a file for a program.
fn say(client: &OperatorClient, csv: bool, text: &str) -> CommandResult {
    if csv || client.json { Ok(()) } else { output::print(&format!("{text}\n")) }
}

/// Asks on the terminal. Without one, nothing is applied.
fn confirm(file: &Path) -> CommandResult {
    let refused = |why: &str| Failure::failed(format!("nothing was changed: {why}"));
    if file == Path::new("-") || !std::io::stdin().is_terminal() {
        return Err(refused("confirm the plan with --yes"));
    }
    eprint!("Apply these changes? [y/N] ");
    let mut answer = String::new();
    let read = std::io::stderr().flush().and_then(|()| std::io::stdin().read_line(&mut answer));
    match (read, answer.trim().to_lowercase().as_str()) {
        (Ok(_), "y" | "yes") => Ok(()),
        _ => Err(refused("the plan was not confirmed")),
    }
}

fn print_plan(client: &OperatorClient, plan: &RatePlanView, csv: bool) -> CommandResult {
    if csv { output::print(&changes_csv(&plan.changes)) } else { client.print_view(plan, &plan_text(plan)) }
}

/// Returns a plan as text: counts, changes, what cannot be read, warnings, losses.
fn plan_text(plan: &RatePlanView) -> String {
    let RatePlanView { carrier, mode, rows, counts, changes, problems, warnings, ignored_columns, .. } = plan;
    let mut text = format!("{rows} rows for {carrier}, a {mode} sheet: {}\n", counts_text(counts));
    if !changes.is_empty() {
        text.push_str(&format!("\n{}", changes_table(changes)));
        let more =
            u64::from(counts.changes()).saturating_sub(u64::try_from(changes.len()).unwrap_or(u64::MAX));
        if more > 0 {
            text.push_str(&format!("and {more} more: --csv prints all\n"));
        }
    }
    if !problems.is_empty() {
        match problems.len() {
            1 => text.push_str("\n1 row cannot be read and changes nothing:\n"),
            several => text.push_str(&format!("\n{several} rows cannot be read and change nothing:\n")),
        }
        for problem in problems.iter().take(PROBLEMS_SHOWN) {
            text.push_str(&format!("  line {}: {}\n", problem.line, output::safe(&problem.problem)));
        }
        if problems.len() > PROBLEMS_SHOWN {
            text.push_str(&format!("  and {} more: --json prints all\n", problems.len() - PROBLEMS_SHOWN));
        }
    }
    if !ignored_columns.is_empty() {
        text.push_str(&format!(
            "\nColumns without a meaning: {}\n",
            output::safe(&ignored_columns.join(", "))
        ));
    }
    let warned = warnings.iter().map(|warning| format!("Warning: {}.\n", output::safe(warning)));
    let warned: String = warned.collect();
    if !warned.is_empty() {
        text.push_str(&format!("\n{warned}"));
    }
    text.push_str(&losses_text(plan));
    text
}

fn counts_text(counts: &RateCounts) -> String {
    let RateCounts { new, raised, lowered, closed, reopened, changed, unchanged } = *counts;
    let named = [
        (new, "new"),
        (raised, "raised"),
        (lowered, "lowered"),
        (closed, "closed"),
        (reopened, "reopened"),
        (changed, "changed"),
        (unchanged, "unchanged"),
    ];
    let named = named.iter().filter(|(count, _)| *count > 0).map(|(count, name)| format!("{count} {name}"));
    let named = named.collect::<Vec<_>>().join(", ");
    if named.is_empty() { "nothing to change".to_owned() } else { named }
}

fn destination(change: &RateChangeView) -> String {
    match &change.sender_kind {
        Some(kind) => format!("{}:{kind}", change.destination),
        None => change.destination.clone(),
    }
}

fn changes_table(changes: &[RateChangeView]) -> String {
    let mut rows = TextTable::new(&[
        ("destination", Align::Left),
        ("change", Align::Left),
        ("before", Align::Right),
        ("then", Align::Right),
        ("currency", Align::Left),
        ("from", Align::Left),
        ("until", Align::Left),
    ]);
    for change in changes {
        rows.row([
            destination(change),
            change.change.as_str().to_owned(),
            change.before.cell(),
            change.per_part.cell(),
            change.currency.clone(),
            change.from.clone(),
            change.until.clone().unwrap_or_default(),
        ]);
    }
    rows.text("Nothing changes.")
}

fn losses_text(plan: &RatePlanView) -> String {
    let RatePlanView { losses, losses_found, losses_complete, .. } = plan;
    let mut text = String::new();
    if !losses.is_empty() {
        text.push_str("\nSold at a loss:\n");
        let mut rows = TextTable::new(&[
            ("account", Align::Left),
            ("destination", Align::Left),
            ("from", Align::Left),
            ("price", Align::Right),
            ("cost", Align::Right),
            ("currency", Align::Left),
            ("parts in 30 days", Align::Right),
        ]);
        for LossView { account, destination, from, price, cost, currency, parts } in losses {
            let parts = parts.map(|parts| parts.to_string()).unwrap_or_default();
            let (price, cost) = (price.to_string(), cost.to_string());
            rows.row([
                account.clone(),
                destination.clone(),
                from.clone(),
                price,
                cost,
                currency.clone(),
                parts,
            ]);
        }
        text.push_str(&rows.text(""));
        let more = losses_found.saturating_sub(u64::try_from(losses.len()).unwrap_or(u64::MAX));
        if more > 0 {
            text.push_str(&format!("and {more} more: --json prints all\n"));
        }
    }
    if !losses_complete {
        text.push_str("Warning: not every destination was compared with the prices of every account.\n");
    }
    text
}

/// Returns the changes as CSV.
fn changes_csv(changes: &[RateChangeView]) -> String {
    let mut text = String::new();
    csv::push_headings(
        &mut text,
        &["line", "destination", "sender_kind", "change", "before", "per_part", "currency", "from", "until"],
    );
    for change in changes {
        let cells = [
            Cell::number(change.line),
            Cell::Text(&change.destination),
            Cell::text(change.sender_kind.as_ref()),
            Cell::Text(change.change.as_str()),
            Cell::number(change.before),
            Cell::number(change.per_part),
            Cell::Text(&change.currency),
            Cell::Text(&change.from),
            Cell::text(change.until.as_ref()),
        ];
        csv::push_row(&mut text, &cells);
    }
    text
}

fn undone_text(
    UndoneView { dry_run, number, file, taken_back, in_force, changed_since }: &UndoneView,
) -> String {
    let done = if *dry_run { "that would be taken back" } else { "taken back" };
    let mut text = format!("Costs of sheet {number} ({}) {done}: {taken_back}.\n", output::safe(file));
    if *in_force > 0 {
        text.push_str(&format!("In force already, to be changed by another sheet only: {in_force}.\n"));
    }
    if *changed_since > 0 {
        text.push_str(&format!("Changed or removed since, and left as they are: {changed_since}.\n"));
    }
    text
}

#[cfg(test)]
#[path = "rates_tests.rs"]
mod tests;
