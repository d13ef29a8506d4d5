//! The rows of a sheet as costs that are wanted, and those that cannot be read.

use crate::rates::columns::{Column, ColumnMap, find, of_text};
use crate::rates::destination::{DestinationCells, resolve};
use crate::rates::sheet::{SheetCell, SheetLine, SheetLines, refused};
use crate::rates::sheet_file::SheetFile;
use crate::rates::values::{DateForm, SheetDate, date_order, decimal_sign, price};
use crate::refusal::ProvisionResult;
use hermod_domain::area::Area;
use hermod_domain::cost::SenderClass;
use hermod_domain::money::{Currency, Money};
use hermod_domain::rate_profile::{DecimalSign, RateProfile};
use hermod_domain::time::Timestamp;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Rows that cannot be read. With more of them the columns are certainly taken for others.
pub(crate) const PROBLEMS_MAX: usize = 100;

/// Words in the column of changes, or in place of a price, for a closed destination.
const CLOSED: [&str; 13] = [
    "closed",
    "close",
    "delete",
    "deleted",
    "remove",
    "removed",
    "stopped",
    "discontinued",
    "blocked",
    "terminated",
    "not available",
    "n/a",
    "unavailable",
];
const ALPHANUMERIC: [&str; 5] = ["alphanumeric", "alpha", "alphanum", "text", "name"];
const NUMBER: [&str; 6] = ["number", "numeric", "num", "long number", "longcode", "short code"];
const ANY_SENDER: [&str; 6] = ["", "any", "all", "both", "*", "dynamic"];

/// The destinations that one cost is for.
pub(crate) type CostKey = (Area, Option<SenderClass>);

/// A cost that a sheet asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WantedRate {
    pub(crate) line: u64,
    pub(crate) key: CostKey,
    /// `None`: closed.
    pub(crate) per_part: Option<Money>,
    pub(crate) currency: Currency,
    pub(crate) from: SheetDate,
    pub(crate) until: Option<Timestamp>,
}

/// A row that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RowProblem {
    pub(crate) line: u64,
    pub(crate) sentence: String,
    /// The destinations that it may be about; `None`: any. What it may be about is not closed for being missing.
    pub(crate) may_be: Option<Vec<Area>>,
}

/// What a sheet says.
#[derive(Debug, Default)]
pub(crate) struct ReadSheet {
    pub(crate) rates: Vec<WantedRate>,
    pub(crate) problems: Vec<RowProblem>,
    pub(crate) rows: usize,
    /// Headers without a meaning.
    pub(crate) ignored_columns: Vec<String>,
}

/// Reads a file as the profile says.
pub(crate) fn read(bytes: &[u8], profile: &RateProfile) -> ProvisionResult<ReadSheet> {
    let (lines, columns) = match SheetFile::open(bytes, profile.sheet.as_deref())? {
        SheetFile::Workbook(lines) => {
            let columns = find(&lines.lines, &profile.columns)?;
            (lines, columns)
        }
        SheetFile::Text(text) => of_text(&text, &profile.columns)?,
    };
    read_rows(&lines, &columns, profile)
}

/// What the rows of one sheet have in common.
struct RowReader<'s> {
    columns: &'s ColumnMap,
    profile: &'s RateProfile,
    decimal: DecimalSign,
    dates: DateForm,
}

fn read_rows(lines: &SheetLines, columns: &ColumnMap, profile: &RateProfile) -> ProvisionResult<ReadSheet> {
    let rows = &lines.lines[columns.lines_before.min(lines.lines.len())..];
    let cells = |column: Column| {
        columns.at(column).into_iter().flat_map(move |at| rows.iter().map(move |row| row.cell(at)))
    };
    let decimal = match profile.decimal {
        Some(decimal) => decimal,
        None => decimal_sign(cells(Column::Price))?,
    };
    let order = match profile.dates {
        Some(order) => Some(order),
        None => date_order(cells(Column::From).chain(cells(Column::Until)))?,
    };
    let dates = DateForm { order, offset: profile.utc_offset, is_from_1904: lines.is_from_1904 };
    let reader = RowReader { columns, profile, decimal, dates };
    let mut sheet =
        ReadSheet { rows: rows.len(), ignored_columns: columns.ignored.clone(), ..ReadSheet::default() };
    for row in rows {
        match reader.row(row) {
            Ok(rates) => sheet.rates.extend(rates),
            Err(problem) => sheet.problems.push(problem),
        }
        if sheet.problems.len() > PROBLEMS_MAX {
            let RowProblem { line, sentence, .. } = &sheet.problems[0];
            return Err(refused(format!(
                "has more than {PROBLEMS_MAX} rows that cannot be read, the first in line {line}: {sentence}; check the columns \
                 in the rate profile"
            )));
        }
    }
    without_duplicates(&mut sheet.rates)?;
    Ok(sheet)
}

impl RowReader<'_> {
    fn row(&self, row: &SheetLine) -> Result<Vec<WantedRate>, RowProblem> {
        let text = |column| self.cell(row, column).text.as_str();
        let cells = DestinationCells {
            country: text(Column::Country),
            mcc: text(Column::Mcc),
            mnc: text(Column::Mnc),
            mccmnc: text(Column::MccMnc),
            prefix: text(Column::Prefix),
        };
        let areas = resolve(cells, self.profile.six_digits).map_err(|unresolved| RowProblem {
            line: row.line,
            sentence: unresolved.sentence,
            may_be: unresolved.may_be,
        })?;
        let rates = areas.iter().map(|area| self.rate(row, *area)).collect::<Result<Vec<_>, _>>();
        rates.map_err(|sentence| RowProblem { line: row.line, sentence, may_be: Some(areas) })
    }

    fn cell<'r>(&self, row: &'r SheetLine, column: Column) -> &'r SheetCell {
        row.cell(self.columns.at(column).unwrap_or(usize::MAX))
    }

    /// Reads what a row says about one of its destinations.
    fn rate(&self, row: &SheetLine, area: Area) -> Result<WantedRate, String> {
        let cell = |column| self.cell(row, column);
        let is_closed = |cell: &SheetCell| CLOSED.contains(&cell.text.to_lowercase().as_str());
        let amount = cell(Column::Price);
        let (per_part, named) = if is_closed(cell(Column::Change)) || is_closed(amount) {
            (None, None)
        } else if amount.text.is_empty() {
            return Err("there is no price".to_owned());
        } else {
            let (per_part, named) = price(amount, self.decimal, self.profile.unit)?;
            (Some(per_part), named)
        };
        let from = self.dates.read(cell(Column::From))?;
        let until = match self.dates.read(cell(Column::Until))? {
            SheetDate::AtOnce => None,
            SheetDate::At(until) => Some(until),
        };
        if let (SheetDate::At(from), Some(until)) = (from, until)
            && until <= from
        {
            return Err("it ends before it begins".to_owned());
        }
        let currency = self.currency(&cell(Column::Currency).text, named)?;
        let sender_kind = sender_kind(&cell(Column::SenderKind).text, self.profile.sender_kind)?;
        Ok(WantedRate { line: row.line, key: (area, sender_kind), per_part, currency, from, until })
    }

    /// Returns the currency of a row: of its cell, of its price, or of the profile.
    fn currency(&self, cell: &str, named: Option<&str>) -> Result<Currency, String> {
        let of_price = named.and_then(|code| Currency::parse(code).ok());
        let of_cell = match cell {
            "" => None,
            code => {
                let parsed = Currency::parse(&code.to_ascii_uppercase());
                Some(parsed.map_err(|_| format!("\"{code}\" is not a currency"))?)
            }
        };
        match (of_cell, of_price) {
            (Some(one), Some(other)) if one != other => {
                Err(format!("the price is in {other}, and the row in {one}"))
            }
            (of_cell, of_price) => {
                let currency = of_cell.or(of_price).or(self.profile.currency);
                currency
                    .ok_or_else(|| "there is no currency; name one in the rate profile (currency)".to_owned())
            }
        }
    }
}

fn sender_kind(text: &str, default: Option<SenderClass>) -> Result<Option<SenderClass>, String> {
    let word = text.to_lowercase();
    match word.as_str() {
        "" => Ok(default),
        word if ALPHANUMERIC.contains(&word) => Ok(Some(SenderClass::Alphanumeric)),
        word if NUMBER.contains(&word) => Ok(Some(SenderClass::Number)),
        word if ANY_SENDER.contains(&word) => Ok(None),
        _ => Err(format!("\"{text}\" is not a kind of sender: alphanumeric, number or both")),
    }
}

/// Drops rows that repeat another one. Two of one destination and date that differ stop the import.
fn without_duplicates(rates: &mut Vec<WantedRate>) -> ProvisionResult<()> {
    let mut seen: HashMap<(CostKey, i64), usize> = HashMap::with_capacity(rates.len());
    let mut repeated = Vec::new();
    for (index, rate) in rates.iter().enumerate() {
        let from = match rate.from {
            SheetDate::AtOnce => i64::MIN,
            SheetDate::At(from) => from.as_millis(),
        };
        match seen.entry((rate.key, from)) {
            Entry::Vacant(free) => {
                free.insert(index);
            }
            Entry::Occupied(taken) => {
                let first = &rates[*taken.get()];
                let is_same = WantedRate { line: rate.line, ..first.clone() } == *rate;
                if !is_same {
                    let area = rate.key.0;
                    return Err(refused(format!(
                        "has two prices for {area} from the same date on, in lines {} and {}",
                        first.line, rate.line
                    )));
                }
                repeated.push(index);
            }
        }
    }
    let mut repeated = repeated.into_iter().peekable();
    let mut index = 0;
    rates.retain(|_| {
        let is_repeated = repeated.next_if_eq(&index).is_some();
        index += 1;
        !is_repeated
    });
    Ok(())
}

#[cfg(test)]
#[path = "rows_tests.rs"]
mod tests;
