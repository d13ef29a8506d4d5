//! The text of delivery receipts. Parsing tolerates all known variations of carriers; writing gives exactly the format
//! that the strictest clients parse.

use bytes::{BufMut, BytesMut};
use thiserror::Error;

use crate::time::{full_year, is_date, two_chars, two_digits};

/// The fields of a receipt text. Any may be missing; values are raw and trimmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ReceiptText<'a> {
    /// The carrier's message id.
    pub id: Option<&'a [u8]>,
    /// Parts submitted.
    pub sub: Option<&'a [u8]>,
    /// Parts delivered.
    pub dlvrd: Option<&'a [u8]>,
    /// The time of the submit, in the carrier's time zone.
    pub submit_date: Option<&'a [u8]>,
    /// The time of the status, in the carrier's time zone.
    pub done_date: Option<&'a [u8]>,
    /// The status word.
    pub stat: Option<&'a [u8]>,
    /// The network's error code: any length, digits or letters.
    pub err: Option<&'a [u8]>,
    /// The start of the message; never printed.
    pub text: Option<crate::Hidden<'a>>,
}

/// A date of a receipt text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiptDate {
    /// The full year.
    pub year: u16,
    /// 1 to 12.
    pub month: u8,
    /// 1 to the month's last.
    pub day: u8,
    /// 0 to 23.
    pub hour: u8,
    /// 0 to 59.
    pub minute: u8,
    /// 0 to 59; 0 where the text has none.
    pub second: u8,
}

/// A field of a receipt text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiptField {
    /// The carrier's message id.
    Id,
    /// Parts submitted.
    Sub,
    /// Parts delivered.
    Dlvrd,
    /// The time of the submit.
    SubmitDate,
    /// The time of the status.
    DoneDate,
    /// The status word.
    Stat,
    /// The network's error code.
    Err,
    /// The start of the message.
    Text,
}

impl ReceiptField {
    /// All fields, in the order of the specification.
    pub const ALL: [ReceiptField; 8] = [
        ReceiptField::Id,
        ReceiptField::Sub,
        ReceiptField::Dlvrd,
        ReceiptField::SubmitDate,
        ReceiptField::DoneDate,
        ReceiptField::Stat,
        ReceiptField::Err,
        ReceiptField::Text,
    ];

    /// Returns the name: the label as one word.
    pub const fn name(self) -> &'static str {
        match self {
            ReceiptField::Id => "id",
            ReceiptField::Sub => "sub",
            ReceiptField::Dlvrd => "dlvrd",
            ReceiptField::SubmitDate => "submit_date",
            ReceiptField::DoneDate => "done_date",
            ReceiptField::Stat => "stat",
            ReceiptField::Err => "err",
            ReceiptField::Text => "text",
        }
    }
}

use ReceiptField as Label;

/// The words of each label, which spaces or underscores may separate.
const LABELS: [(Label, &[&[u8]]); 8] = [
    (Label::Id, &[b"id"]),
    (Label::Sub, &[b"sub"]),
    (Label::Dlvrd, &[b"dlvrd"]),
    (Label::SubmitDate, &[b"submit", b"date"]),
    (Label::DoneDate, &[b"done", b"date"]),
    (Label::Stat, &[b"stat"]),
    (Label::Err, &[b"err"]),
    (Label::Text, &[b"text"]),
];

/// Parses labels in any case and order; a value extends to the next label, and the first of a repeated label counts.
/// After id and stat, the text behind `text:` is the quoted message, in which labels are ignored.
pub fn parse(text: &[u8]) -> ReceiptText<'_> {
    parse_until(text, |label, receipt| label == Label::Text && receipt.id.is_some() && receipt.stat.is_some())
}

/// Parses only up to the first `text:` label.
pub(crate) fn parse_before_text(text: &[u8]) -> ReceiptText<'_> {
    parse_until(text, |label, _| label == Label::Text)
}

fn parse_until(text: &[u8], is_last: impl Fn(Label, &ReceiptText<'_>) -> bool) -> ReceiptText<'_> {
    let mut receipt = ReceiptText::default();
    let mut open: Option<(Label, usize)> = None;
    let mut at = 0;
    while let Some(word_at) = next_word(text, at) {
        let Some((label, value_at)) = label_at(text, word_at) else {
            at = skip(text, word_at, is_word);
            continue;
        };
        if let Some((previous, start)) = open {
            receipt.set(previous, trim(text.get(start..word_at).unwrap_or_default()));
        }
        open = Some((label, value_at));
        at = value_at;
        if is_last(label, &receipt) {
            break;
        }
    }
    if let Some((label, start)) = open {
        receipt.set(label, trim(text.get(start..).unwrap_or_default()));
    }
    receipt
}

impl<'a> ReceiptText<'a> {
    /// Returns the value of a field.
    pub fn get(&self, field: ReceiptField) -> Option<&'a [u8]> {
        match field {
            ReceiptField::Id => self.id,
            ReceiptField::Sub => self.sub,
            ReceiptField::Dlvrd => self.dlvrd,
            ReceiptField::SubmitDate => self.submit_date,
            ReceiptField::DoneDate => self.done_date,
            ReceiptField::Stat => self.stat,
            ReceiptField::Err => self.err,
            ReceiptField::Text => self.text.map(|text| text.0),
        }
    }

    pub(crate) fn set(&mut self, label: Label, value: &'a [u8]) {
        let field = match label {
            Label::Id => &mut self.id,
            Label::Sub => &mut self.sub,
            Label::Dlvrd => &mut self.dlvrd,
            Label::SubmitDate => &mut self.submit_date,
            Label::DoneDate => &mut self.done_date,
            Label::Stat => &mut self.stat,
            Label::Err => &mut self.err,
            Label::Text => {
                self.text.get_or_insert(crate::Hidden(value));
                return;
            }
        };
        field.get_or_insert(value);
    }
}

fn is_word(char: u8) -> bool {
    char.is_ascii_alphanumeric() || char == b'_'
}

/// Returns the start of the next word. Labels start words, so that `valid:` is not `id:`.
fn next_word(text: &[u8], at: usize) -> Option<usize> {
    let word_at = skip(text, at, |char| !is_word(char));
    (word_at < text.len()).then_some(word_at)
}

/// Returns the label at this position, and the start of its value.
fn label_at(text: &[u8], at: usize) -> Option<(Label, usize)> {
    let initial = text.get(at)?.to_ascii_lowercase();
    let mut labels =
        LABELS.iter().filter(|(_, words)| words.first().and_then(|w| w.first()) == Some(&initial));
    labels.find_map(|(label, words)| match_words(text, at, words).map(|end| (*label, end)))
}

fn match_words(text: &[u8], at: usize, words: &[&[u8]]) -> Option<usize> {
    let mut at = at;
    for (index, word) in words.iter().enumerate() {
        if index > 0 {
            at = skip(text, at, |char| char == b' ' || char == b'_');
        }
        let end = at.checked_add(word.len())?;
        if !text.get(at..end)?.eq_ignore_ascii_case(word) {
            return None;
        }
        at = end;
    }
    at = skip(text, at, |char| char == b' ');
    (*text.get(at)? == b':').then(|| at.saturating_add(1))
}

fn skip(text: &[u8], at: usize, is_skipped: impl Fn(u8) -> bool) -> usize {
    let skipped = text.get(at..).unwrap_or_default().iter().take_while(|char| is_skipped(**char)).count();
    at.saturating_add(skipped)
}

/// Removes spaces, nulls and separators around a value.
pub(crate) fn trim(value: &[u8]) -> &[u8] {
    let is_edge = |char: &u8| matches!(char, b' ' | 0 | b'\r' | b'\n' | b'\t' | b',' | b';');
    let start = value.iter().position(|char| !is_edge(char)).unwrap_or(value.len());
    let end = value.iter().rposition(|char| !is_edge(char)).map_or(start, |last| last.saturating_add(1));
    value.get(start..end).unwrap_or_default()
}

impl ReceiptDate {
    /// Parses `YYMMDDhhmm`, `YYMMDDhhmmss`, `YYYYMMDDhhmmss`, and `YYYYMMDDhhmm` where the second is no valid date. The
    /// sixteen characters of an SMPP time are read as its local time.
    pub fn parse(digits: &[u8]) -> Option<ReceiptDate> {
        match digits.len() {
            10 => ReceiptDate::from_parts(short_year(digits)?, digits.get(2..)?),
            12 => ReceiptDate::from_parts(short_year(digits)?, digits.get(2..)?)
                .or_else(|| ReceiptDate::from_parts(long_year(digits)?, digits.get(4..)?)),
            14 => ReceiptDate::from_parts(long_year(digits)?, digits.get(4..)?),
            16 if matches!(digits.last(), Some(b'+' | b'-')) => ReceiptDate::parse(digits.get(..12)?),
            _ => None,
        }
    }

    fn from_parts(year: u16, rest: &[u8]) -> Option<ReceiptDate> {
        let pair = |at: usize| match rest.get(at..)? {
            [tens, ones, ..] => two_digits(*tens, *ones),
            _ => None,
        };
        let second = if rest.len() > 8 { pair(8)? } else { 0 };
        let date =
            ReceiptDate { year, month: pair(0)?, day: pair(2)?, hour: pair(4)?, minute: pair(6)?, second };
        date.is_valid().then_some(date)
    }

    fn is_valid(self) -> bool {
        is_date(self.year, self.month, self.day) && self.hour <= 23 && self.minute <= 59 && self.second <= 59
    }

    fn write(self, out: &mut BytesMut) {
        let year = u8::try_from(self.year.rem_euclid(100)).unwrap_or_default();
        for value in [year, self.month, self.day, self.hour, self.minute] {
            out.put_slice(&two_chars(value));
        }
    }
}

fn short_year(digits: &[u8]) -> Option<u16> {
    match digits {
        [tens, ones, ..] => two_digits(*tens, *ones).map(full_year),
        _ => None,
    }
}

fn long_year(digits: &[u8]) -> Option<u16> {
    match digits {
        [c1, c2, y1, y2, ..] => {
            let century = u16::from(two_digits(*c1, *c2)?).checked_mul(100)?;
            century.checked_add(u16::from(two_digits(*y1, *y2)?))
        }
        _ => None,
    }
}

/// The fields of a receipt text to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiptFields<'a> {
    /// The message id of the `submit_sm_resp`: printable, without spaces and separators.
    pub id: &'a [u8],
    /// Parts submitted, up to 999.
    pub sub: u16,
    /// Parts delivered, up to 999.
    pub dlvrd: u16,
    /// UTC.
    pub submit_date: ReceiptDate,
    /// UTC.
    pub done_date: ReceiptDate,
    /// Seven capital letters.
    pub stat: &'a [u8; 7],
    /// Three characters.
    pub err: &'a [u8; 3],
    /// The start of the message, up to 20 characters, usually empty.
    pub text: crate::Hidden<'a>,
}

/// A field has a value that the format cannot hold. Nothing was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{0} does not fit a receipt text")]
pub struct Unwritable(pub &'static str);

/// Appends `id:… sub:001 dlvrd:001 submit date:… done date:… stat:… err:… text:…` with all labels, in this order and
/// with single spaces, because some clients fail on anything else.
pub fn write(fields: &ReceiptFields<'_>, out: &mut BytesMut) -> Result<(), Unwritable> {
    let ReceiptFields { id, sub, dlvrd, submit_date, done_date, stat, err, text } = fields;
    let checks = [
        ("id", !id.is_empty() && id.len() <= 64 && id.iter().all(is_id)),
        ("sub", *sub <= 999),
        ("dlvrd", *dlvrd <= 999),
        ("submit date", submit_date.is_valid()),
        ("done date", done_date.is_valid()),
        ("stat", stat.iter().all(u8::is_ascii_uppercase)),
        ("err", err.iter().all(u8::is_ascii_alphanumeric)),
        ("text", text.len() <= 20),
    ];
    if let Some((field, _)) = checks.iter().find(|(_, fits)| !fits) {
        return Err(Unwritable(field));
    }
    out.put_slice(b"id:");
    out.put_slice(id);
    out.put_slice(b" sub:");
    write_three(*sub, out);
    out.put_slice(b" dlvrd:");
    write_three(*dlvrd, out);
    out.put_slice(b" submit date:");
    submit_date.write(out);
    out.put_slice(b" done date:");
    done_date.write(out);
    out.put_slice(b" stat:");
    out.put_slice(*stat);
    out.put_slice(b" err:");
    out.put_slice(*err);
    out.put_slice(b" text:");
    out.put_slice(text);
    Ok(())
}

/// Whether an octet is safe in an id for all clients: no space, and no separator.
fn is_id(char: &u8) -> bool {
    char.is_ascii_graphic() && !b":,;".contains(char)
}

fn write_three(value: u16, out: &mut BytesMut) {
    let digit = |value: u16| b'0'.wrapping_add(u8::try_from(value.rem_euclid(10)).unwrap_or_default());
    out.put_slice(&[digit(value / 100), digit(value / 10), digit(value)]);
}

#[cfg(test)]
#[path = "receipt_text_tests.rs"]
mod tests;
