//! Workbooks (XLSX): the values of one sheet. Formulas are not computed: the value that was stored with one counts.
//!
//! A workbook is a ZIP archive of XML files. Only the four that are needed are read, each as a stream; nothing inside them is
//! unpacked again, and one with a document type, which could define entities, is refused.

use crate::rates::sheet::{SheetCell, SheetLine, SheetLines, refused};
use crate::refusal::{ProvisionRefusal, ProvisionResult};
use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};
use std::io::{self, BufRead, BufReader, Cursor, Read};
use zip::ZipArchive;

/// Bytes of all files of a workbook when they are unpacked: a sheet of 250,000 rows has 150 MiB.
const UNPACKED_BYTES_MAX: u64 = 256 << 20;
/// Files of a workbook. One has some twenty, and more for each sheet.
const FILES_MAX: usize = 1_000;
/// Texts that cells name by number. Each takes memory, also an empty one of five bytes in the file.
const TEXTS_MAX: usize = 2_000_000;
/// Sheets that an error lists.
const SHEETS_LISTED: usize = 10;
/// Digits that a spreadsheet keeps of a number; what is behind them comes from its binary form.
const DIGITS: usize = 15;

const WORKBOOK: &str = "xl/workbook.xml";
const RELATIONS: &str = "xl/_rels/workbook.xml.rels";
const TEXTS: &str = "xl/sharedStrings.xml";

/// Reads the named sheet, or the only one that is not hidden.
pub(crate) fn read(bytes: &[u8], sheet: Option<&str>) -> ProvisionResult<SheetLines> {
    let archive = ZipArchive::new(Cursor::new(bytes)).map_err(unreadable)?;
    let mut files = Files { archive, left: UNPACKED_BYTES_MAX };
    if files.archive.len() > FILES_MAX {
        return Err(refused(format!("is a ZIP archive of more than {FILES_MAX} files")));
    }
    if files.archive.decompressed_size().is_some_and(|size| size > u128::from(UNPACKED_BYTES_MAX)) {
        return Err(too_large());
    }
    let book = Workbook::read(&mut files)?;
    let path = files.path_of(book.choose(sheet)?)?;
    let texts = if files.has(TEXTS) { files.open(TEXTS, shared_texts)? } else { Vec::new() };
    let mut lines = files.open(&path, |xml| sheet_lines(xml, &texts))?;
    lines.is_from_1904 = book.is_from_1904;
    Ok(lines)
}

fn unreadable(error: impl std::fmt::Display) -> ProvisionRefusal {
    refused(format!("cannot be read as an XLSX workbook: {error}"))
}

fn too_large() -> ProvisionRefusal {
    refused(format!("is larger than {} MiB when it is unpacked: split it", UNPACKED_BYTES_MAX >> 20))
}

/// The files of the archive, and how many more bytes may be unpacked.
struct Files<'a> {
    archive: ZipArchive<Cursor<&'a [u8]>>,
    left: u64,
}

/// The XML of a file.
type Xml<'x> = Reader<&'x mut dyn BufRead>;

/// A file up to the bytes that are left.
struct Bounded<'l, R> {
    file: R,
    left: &'l mut u64,
}

impl<R: Read> Read for Bounded<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        match self.left.checked_sub(u64::try_from(read).unwrap_or(u64::MAX)) {
            Some(left) => {
                *self.left = left;
                Ok(read)
            }
            // The sizes that the archive says were wrong.
            None => Err(io::Error::other("it is larger when it is unpacked than it says")),
        }
    }
}

impl Files<'_> {
    fn has(&self, name: &str) -> bool {
        self.archive.index_for_name(name).is_some()
    }

    fn open<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&mut Xml<'_>) -> ProvisionResult<T>,
    ) -> ProvisionResult<T> {
        if !self.has(name) {
            return Err(unreadable(format!("{name} is missing")));
        }
        let file = self.archive.by_name(name).map_err(unreadable)?;
        let mut bounded = BufReader::new(Bounded { file, left: &mut self.left });
        read(&mut Reader::from_reader(&mut bounded as &mut dyn BufRead))
    }

    /// Returns the file of a sheet by the id of its relation.
    fn path_of(&mut self, id: &str) -> ProvisionResult<String> {
        let mut target = None;
        self.open(RELATIONS, |xml| {
            each_element(xml, |element| {
                if attribute(element, "Id")?.as_deref() == Some(id) {
                    target = attribute(element, "Target")?;
                }
                Ok(())
            })
        })?;
        let target = target.ok_or_else(|| unreadable("a sheet has no file"))?;
        Ok(match target.strip_prefix('/') {
            Some(absolute) => absolute.to_owned(),
            None => format!("xl/{target}"),
        })
    }
}

/// Calls `see` with each element.
fn each_element(
    xml: &mut Xml<'_>,
    mut see: impl FnMut(&BytesStart<'_>) -> ProvisionResult<()>,
) -> ProvisionResult<()> {
    let mut buffer = Vec::new();
    loop {
        match event(xml, &mut buffer)? {
            Event::Start(element) | Event::Empty(element) => see(&element)?,
            Event::Eof => return Ok(()),
            _ => {}
        }
    }
}

fn event<'b>(xml: &mut Xml<'_>, buffer: &'b mut Vec<u8>) -> ProvisionResult<Event<'b>> {
    buffer.clear();
    match xml.read_event_into(buffer).map_err(unreadable)? {
        Event::DocType(_) => Err(refused("has a document type inside, which no spreadsheet writes")),
        event => Ok(event),
    }
}

fn attribute(element: &BytesStart<'_>, name: &str) -> ProvisionResult<Option<String>> {
    let found = element.try_get_attribute(name).map_err(unreadable)?;
    let text = found.map(|found| quick_xml::escape::unescape(&found.value).map(|text| text.into_owned()));
    text.transpose().map_err(unreadable)
}

/// What a workbook says of its sheets.
#[derive(Default)]
struct Workbook {
    /// The names of those that are not hidden, each with the id of its relation.
    sheets: Vec<(String, String)>,
    /// Its days are counted from 1904.
    is_from_1904: bool,
}

impl Workbook {
    fn read(files: &mut Files<'_>) -> ProvisionResult<Workbook> {
        let mut book = Workbook::default();
        files.open(WORKBOOK, |xml| {
            each_element(xml, |element| {
                match element.local_name().as_ref() {
                    "workbookPr" => {
                        let is_set = |value: String| value == "1" || value == "true";
                        book.is_from_1904 = attribute(element, "date1904")?.is_some_and(is_set);
                    }
                    "sheet" if attribute(element, "state")?.is_none_or(|state| state == "visible") => {
                        let (name, id) = (attribute(element, "name")?, attribute(element, "r:id")?);
                        book.sheets.extend(name.zip(id));
                    }
                    _ => {}
                }
                Ok(())
            })
        })?;
        Ok(book)
    }

    /// Returns the id of the sheet to read.
    fn choose(&self, sheet: Option<&str>) -> ProvisionResult<&str> {
        let listed = || {
            let names = self.sheets.iter().take(SHEETS_LISTED).map(|(name, _)| format!("\"{name}\""));
            names.collect::<Vec<_>>().join(", ")
        };
        match (sheet, self.sheets.as_slice()) {
            (None, [(_, id)]) => Ok(id),
            (None, []) => Err(refused("is a workbook without sheets")),
            (None, _) => Err(refused(format!(
                "is a workbook with the sheets {}: name one in the rate profile (sheet)",
                listed()
            ))),
            (Some(wanted), sheets) => {
                let found = sheets.iter().find(|(name, _)| name == wanted);
                let found = found.ok_or_else(|| {
                    refused(format!(
                        "has no sheet \"{wanted}\", which the rate profile names; it has {}",
                        listed()
                    ))
                })?;
                Ok(&found.1)
            }
        }
    }
}

/// Reads the text up to the end of an element, without that of phonetic hints.
fn text_until_end(xml: &mut Xml<'_>, name: &str) -> ProvisionResult<String> {
    let (mut text, mut buffer, mut hints) = (String::new(), Vec::new(), 0_u32);
    loop {
        match event(xml, &mut buffer)? {
            Event::End(end) if end.local_name().as_ref() == name => return Ok(text),
            Event::Start(start) if start.local_name().as_ref() == "rPh" => hints += 1,
            Event::End(end) if end.local_name().as_ref() == "rPh" => hints = hints.saturating_sub(1),
            Event::Text(piece) if hints == 0 => text.push_str(&piece.xml10_content()),
            Event::CData(piece) if hints == 0 => text.push_str(&piece.xml10_content()),
            Event::GeneralRef(reference) if hints == 0 => {
                let character = reference.resolve_char_ref().map_err(unreadable)?;
                match (character, resolve_predefined_entity(&reference.xml10_content())) {
                    (Some(character), _) => text.push(character),
                    (None, Some(entity)) => text.push_str(entity),
                    (None, None) => return Err(refused("has an entity inside that XML does not define")),
                }
            }
            Event::Eof => return Err(unreadable("it ends early")),
            _ => {}
        }
    }
}

/// Reads the texts that cells name by number.
fn shared_texts(xml: &mut Xml<'_>) -> ProvisionResult<Vec<String>> {
    let (mut texts, mut buffer) = (Vec::new(), Vec::new());
    loop {
        let text = match event(xml, &mut buffer)? {
            Event::Start(element) if element.local_name().as_ref() == "si" => text_until_end(xml, "si")?,
            Event::Empty(element) if element.local_name().as_ref() == "si" => String::new(),
            Event::Eof => return Ok(texts),
            _ => continue,
        };
        if texts.len() == TEXTS_MAX {
            return Err(refused(format!("has more than {TEXTS_MAX} different texts: split it")));
        }
        texts.push(text);
    }
}

fn sheet_lines(xml: &mut Xml<'_>, texts: &[String]) -> ProvisionResult<SheetLines> {
    let mut lines = SheetLines::default();
    let mut line = SheetLine { line: 1, cells: Vec::new() };
    let mut buffer = Vec::new();
    loop {
        match event(xml, &mut buffer)? {
            Event::Start(element) if element.local_name().as_ref() == "row" => {
                let number = attribute(&element, "r")?.and_then(|number| number.parse().ok());
                line = SheetLine { line: number.unwrap_or(line.line), cells: Vec::new() };
            }
            Event::End(element) if element.local_name().as_ref() == "row" => {
                let next = SheetLine { line: line.line.saturating_add(1), cells: Vec::new() };
                lines.add_line(std::mem::replace(&mut line, next))?;
            }
            Event::Start(element) if element.local_name().as_ref() == "c" => {
                let column = attribute(&element, "r")?.and_then(|place| column_of(&place));
                let column = column.unwrap_or(line.cells.len());
                let form = attribute(&element, "t")?;
                let cell = cell(xml, form.as_deref(), texts)?;
                if !cell.text.is_empty() {
                    lines.add_cell(&mut line, column, cell)?;
                }
            }
            Event::Eof => return Ok(lines),
            _ => {}
        }
    }
}

/// Returns the column of a place such as `B7`, from 0.
fn column_of(place: &str) -> Option<usize> {
    let letters = place.bytes().take_while(u8::is_ascii_uppercase);
    let number = letters.fold(0_usize, |number, letter| {
        number.saturating_mul(26).saturating_add(usize::from(letter - b'A') + 1)
    });
    number.checked_sub(1)
}

/// Reads a cell up to its end.
fn cell(xml: &mut Xml<'_>, form: Option<&str>, texts: &[String]) -> ProvisionResult<SheetCell> {
    let (mut value, mut buffer) = (String::new(), Vec::new());
    loop {
        match event(xml, &mut buffer)? {
            Event::Start(element) if matches!(element.local_name().as_ref(), "v" | "t") => {
                let name = element.local_name().as_ref().to_owned();
                value.push_str(&text_until_end(xml, &name)?);
            }
            Event::End(element) if element.local_name().as_ref() == "c" => break,
            Event::Eof => return Err(unreadable("it ends early")),
            _ => {}
        }
    }
    let text = match form {
        Some("s") => {
            let text = value.trim().parse().ok().and_then(|number: usize| texts.get(number));
            text.ok_or_else(|| unreadable("a cell names a text that is not there"))?.trim().to_owned()
        }
        None | Some("n") => return Ok(number(value.trim())),
        Some(_) => value.trim().to_owned(),
    };
    Ok(SheetCell { text, is_number: false })
}

/// Returns a number as spreadsheets show it, with at most [`DIGITS`] digits and no exponent.
fn number(text: &str) -> SheetCell {
    let Some(value) = text.parse::<f64>().ok().filter(|value| value.is_finite()) else {
        return SheetCell { text: text.to_owned(), is_number: false };
    };
    let rounded = format!("{value:.precision$e}", precision = DIGITS - 1).parse::<f64>().unwrap_or(value);
    SheetCell { text: rounded.to_string(), is_number: true }
}
