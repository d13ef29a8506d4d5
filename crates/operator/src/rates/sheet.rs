//! The cells of a rate sheet. Every limit is checked before memory grows.

use crate::refusal::{ProvisionRefusal, ProvisionResult};

/// Rows of a sheet. The longest known sheets have one for each prefix of all countries, some 100,000.
pub(crate) const ROWS_MAX: usize = 250_000;
pub(crate) const COLUMNS_MAX: usize = 100;
/// Cells of a sheet, empty ones between others included: 128 MiB without their texts.
pub(crate) const CELLS_MAX: usize = 4_000_000;
pub(crate) const CELL_BYTES_MAX: usize = 4_096;
/// Bytes of all texts. A workbook has a text once, which many cells can name.
pub(crate) const TEXT_BYTES_MAX: usize = 64 << 20;

/// A cell without blanks around its text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SheetCell {
    pub(crate) text: String,
    /// It is a number of a workbook, with a decimal point. Days are numbers too.
    pub(crate) is_number: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SheetLine {
    /// From 1.
    pub(crate) line: u64,
    pub(crate) cells: Vec<SheetCell>,
}

impl SheetLine {
    /// Returns the cell of a column; an empty one behind the last.
    pub(crate) fn cell(&self, column: usize) -> &SheetCell {
        static EMPTY: SheetCell = SheetCell { text: String::new(), is_number: false };
        self.cells.get(column).unwrap_or(&EMPTY)
    }
}

/// The lines of a sheet that are not blank, collected within the limits.
#[derive(Debug, Default)]
pub(crate) struct SheetLines {
    pub(crate) lines: Vec<SheetLine>,
    /// It is a workbook whose days are counted from 1904.
    pub(crate) is_from_1904: bool,
    cells: usize,
    text_bytes: usize,
}

impl SheetLines {
    /// Adds a cell to a line.
    pub(crate) fn add_cell(
        &mut self,
        line: &mut SheetLine,
        column: usize,
        cell: SheetCell,
    ) -> ProvisionResult<()> {
        if column >= COLUMNS_MAX {
            return Err(refused(format!("has more than {COLUMNS_MAX} columns in line {}", line.line)));
        }
        if cell.text.len() > CELL_BYTES_MAX {
            return Err(refused(format!(
                "has a cell of more than {CELL_BYTES_MAX} bytes in line {}",
                line.line
            )));
        }
        self.text_bytes += cell.text.len();
        self.cells += (column + 1).saturating_sub(line.cells.len());
        if self.cells > CELLS_MAX || self.text_bytes > TEXT_BYTES_MAX {
            let mib = TEXT_BYTES_MAX >> 20;
            return Err(refused(format!("has more than {CELLS_MAX} cells or {mib} MiB of text: split it")));
        }
        if line.cells.len() <= column {
            line.cells.resize(column + 1, SheetCell::default());
        }
        line.cells[column] = cell;
        Ok(())
    }

    /// Adds a line unless it is blank.
    pub(crate) fn add_line(&mut self, line: SheetLine) -> ProvisionResult<()> {
        if line.cells.iter().all(|cell| cell.text.is_empty()) {
            return Ok(());
        }
        if self.lines.len() == ROWS_MAX {
            return Err(refused(format!("has more than {ROWS_MAX} rows: split it")));
        }
        self.lines.push(line);
        Ok(())
    }
}

/// Returns why a sheet cannot be imported.
pub(crate) fn refused(sentence: impl Into<String>) -> ProvisionRefusal {
    ProvisionRefusal::about("the sheet", sentence)
}
