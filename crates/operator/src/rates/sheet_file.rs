//! The file of a rate sheet: a workbook (XLSX) or a text file, by its first bytes.

use crate::rates::sheet::{SheetLines, refused};
use crate::rates::{text_file, workbook};
use crate::refusal::ProvisionResult;

/// How the files of workbooks begin, and those of the format before it.
const ZIP: &[u8] = b"PK\x03\x04";
const OLD_EXCEL: &[u8] = b"\xd0\xcf\x11\xe0";

/// The content of a file, before its lines are known.
pub(crate) enum SheetFile {
    Workbook(SheetLines),
    /// Which separator it has follows from its header.
    Text(String),
}

impl SheetFile {
    /// Opens a file. `sheet` names the sheet of a workbook.
    pub(crate) fn open(bytes: &[u8], sheet: Option<&str>) -> ProvisionResult<SheetFile> {
        if bytes.starts_with(ZIP) {
            return workbook::read(bytes, sheet).map(SheetFile::Workbook);
        }
        if bytes.starts_with(OLD_EXCEL) {
            return Err(refused(
                "is an old or encrypted Excel file: save it as XLSX without a password, or as CSV",
            ));
        }
        text_file::decoded(bytes).map(SheetFile::Text)
    }
}

#[cfg(test)]
#[path = "sheet_file_tests.rs"]
mod tests;
