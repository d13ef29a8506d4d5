//! A trace line of limited length, without control characters.

use std::fmt::{self, Write};

use crate::{Address, Tag, Tlv, Tlvs};

/// Characters of a line's details; longer ones are cut and end in `...`.
pub const DETAILS_CHARS_MAX: usize = 1_000;
const CUT: &str = "...";
const KEPT_CHARS_MAX: usize = DETAILS_CHARS_MAX - CUT.len();
/// TLVs up to this size are numbers and are written.
const NUMBER_BYTES_MAX: u16 = 4;

#[derive(Default)]
pub(super) struct TraceText {
    text: String,
    is_cut: bool,
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
    pub(super) fn finish(self) -> String {
        self.text
    }

    fn append(&mut self, words: fmt::Arguments<'_>) {
        let space = if self.text.is_empty() || self.text.ends_with('[') { "" } else { " " };
        write!(self, "{space}{words}").expect("a line takes everything");
    }

    /// Writes a field with a trusted value: a number or a constant.
    pub(super) fn field(&mut self, name: &str, value: impl fmt::Display) {
        self.append(format_args!("{name}={value}"));
    }

    pub(super) fn hex(&mut self, name: &str, value: u8) {
        self.append(format_args!("{name}=0x{value:02x}"));
    }

    /// Writes a field unless it is zero, the default.
    pub(super) fn hex_if_set(&mut self, name: &str, value: u8) {
        if value != 0 {
            self.hex(name, value);
        }
    }

    pub(super) fn octets(&mut self, name: &str, value: &[u8]) {
        self.append(format_args!("{name}={}", Quoted(value)));
    }

    pub(super) fn octets_if_set(&mut self, name: &str, value: &[u8]) {
        if !value.is_empty() {
            self.octets(name, value);
        }
    }

    pub(super) fn address(&mut self, name: &str, value: Address<'_>) {
        self.append(format_args!("{name}={}/{} {}", value.ton, value.npi, Quoted(value.value)));
    }

    /// Writes only the length of a value.
    pub(super) fn hidden(&mut self, name: &str, octets: usize) {
        self.append(format_args!("{name}=({octets} octets)"));
    }

    /// Writes a bracketed list, whose content `fill` writes.
    pub(super) fn list(&mut self, name: &str, fill: impl FnOnce(&mut TraceText)) {
        self.append(format_args!("{name}=["));
        fill(self);
        self.write_str("]").expect("a line takes everything");
    }

    pub(super) fn tlvs(&mut self, tlvs: Tlvs<'_>) {
        if !tlvs.is_empty() {
            self.list("tlvs", |line| tlvs.iter().for_each(|tlv| line.tlv(tlv)));
        }
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
            Some(name) if is_text => self.octets(name, value.strip_suffix(b"\0").unwrap_or(value)),
            Some(name) => self.hidden(name, value.len()),
            None => self.append(format_args!("0x{:04x}=({} octets)", tag.0, value.len())),
        }
    }
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
