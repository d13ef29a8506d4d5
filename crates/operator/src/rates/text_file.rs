//! Text files: their encoding, and their lines for a separator.

use crate::csv::unguarded;
use crate::rates::sheet::{SheetCell, SheetLine, SheetLines, refused};
use crate::refusal::ProvisionResult;
use csv::ReaderBuilder;

/// The separators that files have. Where several fit alike, the first is taken: a decimal comma is no separator.
pub(crate) const SEPARATORS: [u8; 4] = [b'\t', b';', b'|', b','];

/// How many bytes show whether a file without a mark is UTF-16.
const LOOKED_AT: usize = 1_024;

/// The characters of Windows-1252 from 0x80 to 0x9f; five bytes have none.
const WINDOWS_1252: &str = "€\u{0}‚ƒ„…†‡ˆ‰Š‹Œ\u{0}Ž\u{0}\u{0}‘’“”•–—˜™š›œ\u{0}žŸ";

/// Returns the text of a file: UTF-8, UTF-16 or Windows-1252.
pub(crate) fn decoded(bytes: &[u8]) -> ProvisionResult<String> {
    let text = match bytes {
        [0xef, 0xbb, 0xbf, rest @ ..] => std::str::from_utf8(rest).ok().map(str::to_owned),
        [0xff, 0xfe, rest @ ..] => utf_16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => utf_16(rest, u16::from_be_bytes),
        _ if has_zeros(bytes, 1) => utf_16(bytes, u16::from_le_bytes),
        _ if has_zeros(bytes, 0) => utf_16(bytes, u16::from_be_bytes),
        _ => match std::str::from_utf8(bytes) {
            Ok(text) => Some(text.to_owned()),
            Err(_) => windows_1252(bytes),
        },
    };
    let text = text.filter(|text| !text.contains('\0'));
    text.ok_or_else(|| refused("is neither an XLSX workbook nor text in UTF-8, UTF-16 or Windows-1252"))
}

/// Whether every second byte at the beginning is zero, as it is in UTF-16 of Latin letters.
fn has_zeros(bytes: &[u8], first: usize) -> bool {
    let looked_at = &bytes[..bytes.len().min(LOOKED_AT)];
    let zeros = |from: usize| looked_at.iter().skip(from).step_by(2).filter(|byte| **byte == 0).count();
    zeros(first) * 4 > looked_at.len() && zeros(1 - first) == 0
}

fn utf_16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Option<String> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    char::decode_utf16(pairs.iter().map(|pair| unit(*pair))).collect::<Result<_, _>>().ok()
}

fn windows_1252(bytes: &[u8]) -> Option<String> {
    let high: Vec<char> = WINDOWS_1252.chars().collect();
    let char_of = |byte: &u8| match byte {
        0x80..=0x9f => high.get(usize::from(byte - 0x80)).copied().filter(|found| *found != '\0'),
        byte => Some(char::from(*byte)),
    };
    bytes.iter().map(char_of).collect()
}

/// Returns the first lines of a text, or all, cut at a separator.
pub(crate) fn lines(text: &str, separator: u8, lines_max: usize) -> ProvisionResult<SheetLines> {
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(separator)
        .from_reader(text.as_bytes());
    let mut lines = SheetLines::default();
    let mut record = csv::StringRecord::new();
    while lines.lines.len() < lines_max {
        let more = reader.read_record(&mut record).map_err(|error| refused(error.to_string()))?;
        if !more {
            break;
        }
        let line = record.position().map_or(0, csv::Position::line);
        let mut read = SheetLine { line, cells: Vec::new() };
        for (column, cell) in record.iter().enumerate() {
            let text = unguarded(cell.trim()).trim();
            // Some files end each line with empty cells.
            if !text.is_empty() {
                lines.add_cell(&mut read, column, SheetCell { text: text.to_owned(), is_number: false })?;
            }
        }
        lines.add_line(read)?;
    }
    Ok(lines)
}
