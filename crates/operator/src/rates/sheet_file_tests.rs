//! Tests of workbooks, hostile ones among them.

use super::*;
use crate::rates::sheet::{CELL_BYTES_MAX, SheetCell, SheetLine};
use std::io::Write as _;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

const BOOK: &str = r#"<workbook><workbookPr/><sheets><sheet name="Prices" sheetId="1" r:id="rId1"/>HIDDEN</sheets></workbook>"#;
const RELATIONS: &str =
    r#"<Relationships><Relationship Id="rId1" Target="worksheets/sheet1.xml"/></Relationships>"#;

fn zipped(files: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    for (name, content) in files {
        writer.start_file(*name, options).expect("a file");
        writer.write_all(content.as_bytes()).expect("a file");
    }
    writer.finish().expect("an archive").into_inner()
}

fn book(sheet: &str, texts: &str) -> Vec<u8> {
    let files = [
        ("xl/workbook.xml", BOOK),
        ("xl/_rels/workbook.xml.rels", RELATIONS),
        ("xl/sharedStrings.xml", texts),
    ];
    zipped(&[&files[..], &[("xl/worksheets/sheet1.xml", sheet)]].concat())
}

/// Returns the cells of each line, or the refusal.
fn told(bytes: &[u8], sheet: Option<&str>) -> Result<Vec<String>, String> {
    match SheetFile::open(bytes, sheet).map_err(|refusal| refusal.to_string())? {
        SheetFile::Text(_) => Err("a text".to_owned()),
        SheetFile::Workbook(lines) => {
            let line = |line: &SheetLine| {
                let cells = line.cells.iter().map(|cell| cell.text.as_str()).collect::<Vec<_>>().join("|");
                format!("{}: {cells}", line.line)
            };
            Ok(lines.lines.iter().map(line).collect())
        }
    }
}

fn rows(rows: &str) -> String {
    format!("<worksheet><sheetData>{rows}</sheetData></worksheet>")
}

#[test]
fn workbook_has_values_of_every_kind_and_no_formulas() {
    let texts = "<sst><si><t>MCC &amp; MNC</t></si><si/><si><r><t>Pri</t></r><r><t>ce</t></r><rPh><t>x</t></rPh></si></sst>";
    let sheet = rows(
        r#"<row r="3"><c r="A3" t="s"><v>0</v></c><c r="C3" t="s"><v>2</v></c></row><row r="4"/>
           <row r="5"><c r="A5"><v>26201</v></c><c r="B5" t="inlineStr"><is><t>x&#233;</t></is></c>
           <c r="C5"><f>A1*WEBSERVICE("http://x")</f><v>6.5000000000000002E-2</v></c><c r="D5"/><c r="E5" t="str"><f>1</f></c></row>"#,
    );
    let told = told(&book(&sheet, texts), None);
    assert_eq!(told, Ok(vec!["3: MCC & MNC||Price".to_owned(), "5: 26201|xé|0.065".to_owned()]));
}

#[test]
fn sheet_is_the_named_one_or_the_only_visible_one() {
    let two = BOOK
        .replace("HIDDEN", r#"<sheet name="Old" r:id="rId1"/><sheet name="H" state="hidden" r:id="rId1"/>"#);
    let sheet = rows(r#"<row r="1"><c r="A1"><v>1</v></c></row>"#);
    let files = [
        ("xl/workbook.xml", two.as_str()),
        ("xl/_rels/workbook.xml.rels", RELATIONS),
        ("xl/worksheets/sheet1.xml", &sheet),
    ];
    let bytes = zipped(&files);
    assert!(
        told(&bytes, None)
            .is_err_and(|error| error.contains("with the sheets \"Prices\", \"Old\": name one"))
    );
    assert_eq!(told(&bytes, Some("Old")), Ok(vec!["1: 1".to_owned()]));
    assert!(told(&bytes, Some("H")).is_err_and(|error| error.contains("has no sheet \"H\"")));
}

#[test]
fn hostile_workbooks_are_refused_with_a_sentence() {
    let laughs = format!("<!DOCTYPE x [<!ENTITY a \"{}\">]>{}", "b".repeat(100), rows(""));
    let undefined = rows(r#"<row><c t="str"><v>&lol;</v></c></row>"#);
    let far = rows(r#"<row r="1"><c r="XFD1"><v>1</v></c></row>"#);
    let long = rows(&format!(r#"<row r="1"><c r="A1" t="str"><v>{}</v></c></row>"#, "x".repeat(5_000)));
    let missing = rows(r#"<row r="1"><c r="A1" t="s"><v>18446744073709551615</v></c></row>"#);
    let unended = "<worksheet><sheetData><row r=\"1\"><c r=\"A1\"><v>1";
    for (sheet, expect) in [
        (laughs.as_str(), "has a document type inside"),
        (&undefined, "has an entity inside that XML does not define"),
        (&far, "has more than 100 columns"),
        (&long, "has a cell of more than 4096 bytes"),
        (&missing, "names a text that is not there"),
        (unended, "cannot be read as an XLSX workbook"),
    ] {
        let refused =
            told(&book(sheet, "<sst uniqueCount=\"18446744073709551615\"></sst>"), None).unwrap_err();
        assert!(refused.contains(expect), "{refused}");
    }
    let nested = zipped(&[("inner.zip", &"PK".repeat(1000))]);
    assert!(told(&nested, None).is_err_and(|error| error.contains("xl/workbook.xml is missing")));
}

#[test]
fn bomb_is_refused_before_it_is_unpacked() {
    let row = r#"<row><c><v>1</v></c></row>"#;
    // 300 MiB of which the archive has less than one.
    let bomb = rows(&row.repeat((300 << 20) / row.len()));
    let bytes = book(&bomb, "<sst/>");
    assert!(bytes.len() < 2 << 20, "{}", bytes.len());
    assert!(
        told(&bytes, None).is_err_and(|error| error.contains("is larger than 256 MiB when it is unpacked"))
    );
    // The same archive, which says that its largest file is small: reading stops at the limit of rows.
    let declared = u32::try_from(bomb.len()).expect("a size").to_le_bytes();
    let lied: Vec<u8> = replaced(&bytes, &declared, &1_000_u32.to_le_bytes());
    assert!(told(&lied, None).is_err());
}

fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let places: Vec<usize> =
        bytes.windows(4).enumerate().filter(|(_, four)| *four == from).map(|(at, _)| at).collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at..at + 4].copy_from_slice(to);
    }
    bytes
}

#[test]
fn text_of_all_cells_is_limited() {
    let mut lines = SheetLines::default();
    let cell = || SheetCell { text: "x".repeat(CELL_BYTES_MAX), is_number: false };
    let refused = (1..).find_map(|number| {
        let mut line = SheetLine { line: number, cells: Vec::new() };
        lines.add_cell(&mut line, 0, cell()).err()
    });
    assert!(refused.is_some_and(|refusal| refusal.to_string().contains("64 MiB of text")));
}

#[test]
fn number_of_texts_is_limited() {
    // Ten megabytes of empty texts, which the archive keeps in some ten thousand bytes.
    let texts = format!("<sst>{}</sst>", "<si/>".repeat(2_000_001));
    let bytes = book(&rows(""), &texts);
    assert!(told(&bytes, None).is_err_and(|error| error.contains("more than 2000000 different texts")));
}
