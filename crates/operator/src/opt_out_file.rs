//! Opt-outs as a CSV file: of one account or of all.

use crate::author::Acting;
use crate::csv::{Cell, push_row};
use crate::csv_table::{CsvError, CsvFile, CsvRow, CsvTable};
use crate::export::{PAGE_ROWS, PageRead, Pages, Rows};
use crate::find::find_account;
use crate::http::response::CSV;
use crate::http::routes::{Routes, doc};
use crate::input::words;
use crate::opt_out::{HOW_CHARS_MAX, store_opt_out};
use crate::refusal::{OperatorRefusal, Result};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use hermod_domain::ids::AccountId;
use hermod_domain::operator_role::OperatorPermission;
use hermod_domain::phone::Msisdn;
use hermod_domain::time::Timestamp;
use hermod_gateway::gateway::Gateway;
use hermod_store::record::Scope;
use hermod_store::{OptOut, OptOutSource};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

/// Rows of one import. A longer file is imported in pieces.
pub const IMPORT_ROWS_MAX: usize = 5_000;
/// How many opt-outs are looked up or stored at a time.
const AT_A_TIME: usize = 256;
/// How an opt-out was made, where a row does not say it.
const HOW_DEFAULT: &str = "list";
const COLUMNS: [&str; 5] = ["account", "number", "since", "source", "how"];

#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct OptOutsFileQuery {
    /// Only opt-outs of this account.
    pub account: Option<String>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct OptOutsImportQuery {
    /// The account of rows without one.
    pub account: Option<String>,
    /// Only check the file and count.
    #[serde(default)]
    #[param(default = false)]
    pub dry_run: bool,
    /// How many lines of a longer file are left out before the first row, for the lines of errors.
    #[serde(default)]
    #[param(default = 0)]
    pub lines_before: u64,
}

/// What an import of opt-outs did, or would do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OptOutsImportView {
    /// Whether this is only what would be done.
    #[schema(examples(false))]
    pub dry_run: bool,
    #[schema(examples(3))]
    pub rows: u64,
    /// How many numbers had not opted out before.
    #[schema(examples(2))]
    pub created: u64,
    /// How many had; they stay as they are.
    #[schema(examples(1))]
    pub same: u64,
}

/// Exports opt-outs in the order of accounts and numbers.
pub async fn export_opt_outs(gateway: &Arc<Gateway>, query: OptOutsFileQuery) -> Result<Rows> {
    let (scope, accounts) = match &query.account {
        Some(name) => {
            let id = find_account(gateway, name)?;
            (Scope::Account(id), vec![(name.clone(), id)])
        }
        None => {
            let catalogue = gateway.catalogue();
            let mut all: Vec<_> = catalogue.accounts().map(|(id, view)| (view.name.clone(), id)).collect();
            all.sort_unstable();
            (Scope::All, all)
        }
    };
    Rows::begin(gateway, "opt-outs", scope, &COLUMNS, OptOutPages { left: accounts.into(), after: None })
        .await
}

struct OptOutPages {
    /// The accounts that are not written whole.
    left: VecDeque<(String, AccountId)>,
    /// The last number of the first of them that is written.
    after: Option<Msisdn>,
}

impl Pages for OptOutPages {
    fn read<'a>(&'a mut self, gateway: &'a Gateway, csv: &'a mut String) -> PageRead<'a> {
        Box::pin(async move {
            let Some((name, account)) = self.left.front() else { return Ok(false) };
            let found = gateway.store.opt_outs().list(*account, self.after, PAGE_ROWS).await?;
            for OptOut { account: _, number, source, how, now } in &found {
                let (number, since) = (number.to_string(), now.to_iso());
                let (source, how) = (Cell::Text(source.as_str()), Cell::Text(how));
                push_row(csv, &[Cell::Text(name), Cell::Phone(&number), Cell::Text(&since), source, how]);
            }
            let is_full = u32::try_from(found.len()).is_ok_and(|count| count >= PAGE_ROWS);
            self.after = found.last().map(|last| last.number).filter(|_| is_full);
            if self.after.is_none() {
                self.left.pop_front();
            }
            Ok(!self.left.is_empty())
        })
    }
}

/// Stores the opt-outs of a file. Those of numbers that have opted out stay as they are, so that an import can be repeated, also
/// after it failed between two of them. Each is a line of the audit log, in its transaction.
pub async fn import_opt_outs(
    gateway: &Acting,
    query: &OptOutsImportQuery,
    file: CsvFile,
) -> Result<OptOutsImportView> {
    let entries = entries_of(gateway, query, &file.0).map_err(|error| match error {
        OperatorRefusal::InvalidCsv(CsvError { line, column, sentence }) => {
            // The columns are in the first line of every piece.
            let line = if line == 1 { line } else { line + query.lines_before };
            OperatorRefusal::InvalidCsv(CsvError { line, column, sentence })
        }
        other => other,
    })?;
    let rows = count(entries.len());
    let mut view = OptOutsImportView { dry_run: query.dry_run, rows, created: 0, same: 0 };
    // Two rows of one number are one opt-out.
    let mut by_number: HashMap<(AccountId, Msisdn), OptOut> = HashMap::new();
    for entry in entries {
        by_number.entry((entry.account, entry.number)).or_insert(entry);
    }
    let store = &gateway.store;
    let new: Vec<OptOut> = stream::iter(by_number.into_values())
        .map(async |entry| {
            let known = store.opt_outs().find(entry.account, entry.number).await?;
            Ok::<_, OperatorRefusal>(known.is_none().then_some(entry))
        })
        .buffer_unordered(AT_A_TIME)
        .try_filter_map(async |entry| Ok(entry))
        .try_collect()
        .await?;
    view.created = if query.dry_run {
        count(new.len())
    } else {
        let stored = stream::iter(new).map(async |entry| store_opt_out(gateway, entry).await);
        let stored: Vec<bool> = stored.buffer_unordered(AT_A_TIME).try_collect().await?;
        count(stored.into_iter().filter(|is_new| *is_new).count())
    };
    view.same = view.rows - view.created;
    Ok(view)
}

fn count(rows: usize) -> u64 {
    u64::try_from(rows).unwrap_or(u64::MAX)
}

/// Reads the opt-outs of a file, in the order of its rows.
fn entries_of(gateway: &Acting, query: &OptOutsImportQuery, file: &[u8]) -> Result<Vec<OptOut>> {
    let CsvTable { columns, rows } = CsvTable::read(file)?;
    if let Some(unknown) = columns.iter().find(|column| !COLUMNS.contains(&column.as_str())) {
        let sentence = format!("there is no such column; there are {}", COLUMNS.join(", "));
        return Err(CsvError::at(1, Some(unknown), sentence).into());
    }
    let place = |name: &str| columns.iter().position(|column| column == name);
    let Some(number) = place("number") else {
        return Err(CsvError::at(1, Some("number"), "the column is missing").into());
    };
    if let Some(row) = rows.get(IMPORT_ROWS_MAX) {
        let sentence = format!("a request has at most {IMPORT_ROWS_MAX} opt-outs; send the file in pieces");
        return Err(CsvError::at(row.line, None, sentence).into());
    }
    let general = query.account.as_deref().map(|name| find_account(gateway, name)).transpose()?;
    let places = Places { account: place("account"), number, since: place("since"), how: place("how") };
    let now = gateway.clock.now();
    rows.iter().map(|row| Ok(places.entry(gateway, general, row, now)?)).collect()
}

/// Where the columns of a file are.
struct Places {
    account: Option<usize>,
    number: usize,
    since: Option<usize>,
    how: Option<usize>,
}

impl Places {
    fn entry(
        &self,
        gateway: &Gateway,
        general: Option<AccountId>,
        row: &CsvRow,
        now: Timestamp,
    ) -> Result<OptOut, CsvError> {
        let cell =
            |place: Option<usize>| place.map(|place| row.cells[place].trim()).filter(|cell| !cell.is_empty());
        let wrong = |column: &str, sentence: String| CsvError::at(row.line, Some(column), sentence);
        let account = match cell(self.account) {
            Some(name) => {
                let found =
                    find_account(gateway, name).map_err(|error| wrong("account", error.to_string()))?;
                if general.is_some_and(|general| general != found) {
                    return Err(wrong(
                        "account",
                        format!("\"{name}\" is another account than that of the import"),
                    ));
                }
                found
            }
            None => general.ok_or_else(|| {
                wrong(
                    "account",
                    "the row names no account; fill the column, or import with --account".to_owned(),
                )
            })?,
        };
        let number = number_of(cell(Some(self.number)).unwrap_or_default());
        let number = number.map_err(|sentence| wrong("number", sentence))?;
        let at = match cell(self.since) {
            Some(text) => {
                let form = "is not a day such as 2026-01-31 or a time such as 2026-01-31T12:00:00Z";
                let at =
                    Timestamp::parse(text).ok_or_else(|| wrong("since", format!("\"{text}\" {form}")))?;
                if at > now {
                    return Err(wrong("since", format!("\"{text}\" is in the future")));
                }
                at
            }
            None => now,
        };
        let how = words("how", cell(self.how).unwrap_or(HOW_DEFAULT).to_owned(), 1, HOW_CHARS_MAX);
        let how = how.map_err(|error| wrong("how", error.to_string()))?;
        Ok(OptOut { account, number, source: OptOutSource::Import, how, now: at })
    }
}

/// Parses a number with or without its plus, which exports leave out.
fn number_of(text: &str) -> Result<Msisdn, String> {
    let digits = text.strip_prefix('+').unwrap_or(text);
    Msisdn::parse(&format!("+{digits}")).map_err(|refusal| {
        let shortened =
            digits.contains(['E', 'e']) && digits.starts_with(|first: char| first.is_ascii_digit());
        let advice =
            if shortened { "; a spreadsheet has shortened it: format the column as text" } else { "" };
        format!("\"{text}\": {refusal}{advice}")
    })
}

pub(crate) fn routes(routes: &mut Routes) {
    routes.get(
        "/opt-outs.csv",
        export_opt_outs,
        doc("exportOptOuts", "Export opt-outs as CSV", "A CSV file, in the order of accounts and numbers.")
            .details("The columns are account, number (without its plus), since, source and how.")
            .errors(&["NOT_FOUND", "EXPORTS_RUNNING"])
            .media(CSV)
            .least(OperatorPermission::Personal),
    );
    routes.post(
        "/opt-outs.csv",
        import_opt_outs,
        doc("importOptOuts", "Import opt-outs from CSV", "What was stored, or would be.")
            .details(
                "At most 5000 rows. Numbers that have opted out stay as they are, so that an import can be repeated. The column \
                 number is needed, with or without plus; account, since and how may be left out; source is read from no file: it \
                 is `import`.",
            )
            .errors(&["NOT_FOUND"])
            .least(OperatorPermission::Customers),
    );
}

#[cfg(test)]
#[path = "opt_out_file_tests.rs"]
mod tests;
