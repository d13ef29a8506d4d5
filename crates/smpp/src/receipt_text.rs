//! The text of delivery receipts. Reading forgives everything carriers do to it; writing gives exactly
//! the one shape that the strictest clients parse.

use bytes::{BufMut, BytesMut};
use thiserror::Error;

use crate::time::{full_year, is_date, two_chars, two_digits};

/// What a receipt text says. Any part may be missing; values are raw and trimmed of spaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ReceiptText<'a> {
    /// The carrier's message id.
    pub id: Option<&'a [u8]>,
    /// Parts submitted.
    pub sub: Option<&'a [u8]>,
    /// Parts delivered.
    pub dlvrd: Option<&'a [u8]>,
    /// When it was submitted, in the carrier's own time zone.
    pub submit_date: Option<&'a [u8]>,
    /// When it became what `stat` says, in the carrier's own time zone.
    pub done_date: Option<&'a [u8]>,
    /// The state, as a word.
    pub stat: Option<&'a [u8]>,
    /// A network's code: any length, digits or letters.
    pub err: Option<&'a [u8]>,
    /// The start of the message; never printed.
    pub text: Option<crate::Hidden<'a>>,
}

/// A date of a receipt.
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

/// One value of a receipt text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiptField {
    /// The carrier's message id.
    Id,
    /// Parts submitted.
    Sub,
    /// Parts delivered.
    Dlvrd,
    /// When it was submitted.
    SubmitDate,
    /// When it became what `stat` says.
    DoneDate,
    /// The state, as a word.
    Stat,
    /// A network's code.
    Err,
    /// The start of the message.
    Text,
}

impl ReceiptField {
    /// Every value, in the order the specification has them.
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

    /// Its label in one word.
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

    pub(crate) fn from_name(name: &str) -> Option<ReceiptField> {
        ReceiptField::ALL.into_iter().find(|field| field.name() == name)
    }
}

use ReceiptField as Label;

/// A label's words; between two words any number of spaces, or an underscore, or nothing.
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

/// Finds labels anywhere, in any case and order; a value runs to the next label. The first of a repeated
/// label counts. Once id and state are known, what follows `text:` is the message's own words, and a label
/// in there means nothing.
pub fn parse(text: &[u8]) -> ReceiptText<'_> {
    parse_until(text, |label, receipt| label == Label::Text && receipt.id.is_some() && receipt.stat.is_some())
}

/// As `parse`, but nothing behind `text:` is looked at, in whatever order the labels come.
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
    /// One value by its name.
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

/// Labels begin words, so that `valid:` is not `id:`; only there are they looked for.
fn next_word(text: &[u8], at: usize) -> Option<usize> {
    let word_at = skip(text, at, |char| !is_word(char));
    (word_at < text.len()).then_some(word_at)
}

/// A label that starts here, and where its value starts.
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

fn skip(text: &[u8], at: usize, what: impl Fn(u8) -> bool) -> usize {
    let skipped = text.get(at..).unwrap_or_default().iter().take_while(|char| what(**char)).count();
    at.saturating_add(skipped)
}

/// Spaces, nulls and stray separators around a value mean nothing.
pub(crate) fn trim(value: &[u8]) -> &[u8] {
    let is_edge = |char: &u8| matches!(char, b' ' | 0 | b'\r' | b'\n' | b'\t' | b',' | b';');
    let start = value.iter().position(|char| !is_edge(char)).unwrap_or(value.len());
    let end = value.iter().rposition(|char| !is_edge(char)).map_or(start, |last| last.saturating_add(1));
    value.get(start..end).unwrap_or_default()
}

impl ReceiptDate {
    /// Reads `YYMMDDhhmm`, `YYMMDDhhmmss`, `YYYYMMDDhhmmss` and, where the second makes no date,
    /// `YYYYMMDDhhmm`. The sixteen characters of an SMPP time are read as its local time.
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
        date.is_real().then_some(date)
    }

    fn is_real(self) -> bool {
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

/// Everything a receipt text of ours says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiptFields<'a> {
    /// Byte for byte the id of the `submit_sm_resp`: printable, without spaces and separators.
    pub id: &'a [u8],
    /// Parts, up to 999.
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
    /// Up to 20 characters, mostly none.
    pub text: crate::Hidden<'a>,
}

/// A field that would break the shape. Nothing was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{0} does not fit a receipt text")]
pub struct Unwritable(pub &'static str);

/// Appends `id:… sub:001 dlvrd:001 submit date:… done date:… stat:… err:… text:…`, every label present,
/// in this order, with single spaces: clients exist that fail on anything else.
pub fn write(fields: &ReceiptFields<'_>, out: &mut BytesMut) -> Result<(), Unwritable> {
    let ReceiptFields { id, sub, dlvrd, submit_date, done_date, stat, err, text } = fields;
    let checks = [
        ("id", !id.is_empty() && id.len() <= 64 && id.iter().all(is_id)),
        ("sub", *sub <= 999),
        ("dlvrd", *dlvrd <= 999),
        ("submit date", submit_date.is_real()),
        ("done date", done_date.is_real()),
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

/// What survives every reader: no space ends it early, and no separator looks like the end of a label.
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
