//! A trace line of limited length, without control characters.

use std::fmt::{self, Write};

use crate::{Address, Hidden, ReceiptDialect, ReceiptField, Tag, Tlv, Tlvs};

/// Characters of a line's details; longer ones are cut and end in `...`.
pub const DETAILS_CHARS_MAX: usize = 1_000;
const CUT: &str = "...";
const KEPT_CHARS_MAX: usize = DETAILS_CHARS_MAX - CUT.len();
/// TLVs up to this size are numbers and are written.
const NUMBER_BYTES_MAX: u16 = 4;

pub(crate) struct TraceText {
    text: String,
    is_cut: bool,
    /// Of the receipt texts.
    dialect: ReceiptDialect,
}

/// A value that a trace line can have.
pub(crate) trait Traced {
    fn trace(self, name: &str, line: &mut TraceText);
}

/// Whether a value is not at its default.
pub(crate) fn is_set<T: Default + PartialEq>(value: T) -> bool {
    value != T::default()
}

impl Traced for u8 {
    fn trace(self, name: &str, line: &mut TraceText) {
        line.append(format_args!("{name}=0x{self:02x}"));
    }
}

impl Traced for &[u8] {
    fn trace(self, name: &str, line: &mut TraceText) {
        line.append(format_args!("{name}={}", Quoted(self)));
    }
}

impl Traced for Address<'_> {
    fn trace(self, name: &str, line: &mut TraceText) {
        line.append(format_args!("{name}={}/{} {}", self.ton, self.npi, Quoted(self.value)));
    }
}

/// Writes only the length.
impl Traced for Hidden<'_> {
    fn trace(self, name: &str, line: &mut TraceText) {
        line.append(format_args!("{name}={self:?}"));
    }
}

impl Traced for Tlvs<'_> {
    fn trace(self, name: &str, line: &mut TraceText) {
        if !self.is_empty() {
            line.list(name, |line| self.iter().for_each(|tlv| line.tlv(tlv)));
        }
    }
}

/// Only printable ASCII is written, so that the line can be cut at any octet.
impl fmt::Write for TraceText {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        let room = KEPT_CHARS_MAX.saturating_sub(self.text.len());
        match part.get(..room).filter(|_| part.len() > room) {
            _ if self.is_cut => {}
            None => self.text.push_str(part),
            Some(kept) => {
                self.text.push_str(kept);
                self.text.push_str(CUT);
                self.is_cut = true;
            }
        }
        Ok(())
    }
}

impl TraceText {
    pub(crate) fn new(dialect: ReceiptDialect) -> TraceText {
        TraceText { text: String::new(), is_cut: false, dialect }
    }

    pub(crate) fn finish(self) -> String {
        self.text
    }

    fn append(&mut self, words: fmt::Arguments<'_>) {
        let space = if self.text.is_empty() || self.text.ends_with('[') { "" } else { " " };
        write!(self, "{space}{words}").expect("a line takes everything");
    }

    /// Writes a field with a trusted value: a number or a constant.
    pub(crate) fn field(&mut self, name: &str, value: impl fmt::Display) {
        self.append(format_args!("{name}={value}"));
    }

    /// Writes a bracketed list, whose content `fill` writes.
    pub(crate) fn list(&mut self, name: &str, fill: impl FnOnce(&mut TraceText)) {
        self.append(format_args!("{name}=["));
        fill(self);
        self.write_str("]").expect("a line takes everything");
    }

    /// Writes the fields of a receipt text.
    pub(crate) fn receipt(&mut self, text: &[u8]) {
        let receipt = self.dialect.read_before_text(text);
        self.list("receipt", |line| {
            for field in ReceiptField::ALL {
                if let Some(value) = receipt.get(field) {
                    first_word(value).trace(field.name(), line);
                }
            }
        });
    }

    /// Writes a TLV. Values are written for numbers, ids and status texts; any other may be message text, so only its
    /// length is.
    fn tlv(&mut self, tlv: Tlv<'_>) {
        let Tlv { tag, value } = tlv;
        let is_number = tag.octets().is_some_and(|octets| *octets.end() <= NUMBER_BYTES_MAX);
        let short = value.len() <= usize::from(NUMBER_BYTES_MAX) && !value.is_empty();
        let is_text = matches!(tag, Tag::RECEIPTED_MESSAGE_ID | Tag::ADDITIONAL_STATUS_INFO_TEXT);
        match tag.name() {
            Some(name) if is_number && short => self.append(format_args!("{name}=0x{}", Hex(value))),
            Some(name) if is_text => value.strip_suffix(b"\0").unwrap_or(value).trace(name, self),
            Some(name) => Hidden(value).trace(name, self),
            None => self.append(format_args!("0x{:04x}=({} octets)", tag.0, value.len())),
        }
    }
}

/// Returns the first word of a value. If a label is not recognised, the value before it would extend into the message
/// text.
fn first_word(value: &[u8]) -> &[u8] {
    value.split(|octet| octet.is_ascii_whitespace() || b",;\0".contains(octet)).next().unwrap_or_default()
}

struct Hex<'a>(&'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|octet| write!(f, "{octet:02x}"))
    }
}

/// Octets from a peer: written as they are if unambiguous, otherwise quoted and escaped.
struct Quoted<'a>(&'a [u8]);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_plain = |octet: &u8| octet.is_ascii_alphanumeric() || b"+-_.:/#*@".contains(octet);
        match std::str::from_utf8(self.0) {
            Ok(plain) if !plain.is_empty() && self.0.iter().all(is_plain) => f.write_str(plain),
            _ => write!(f, "\"{}\"", self.0.escape_ascii()),
        }
    }
}
