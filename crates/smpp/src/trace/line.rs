//! A line that cannot grow beyond its limit and holds nothing a terminal would act on.

use std::fmt::{self, Write};

use crate::{Address, Tag, Tlv, Tlvs};

/// Characters of a line's details; what is longer is cut and ends in `...`.
pub const DETAILS_CHARS_MAX: usize = 1_000;
const CUT: &str = "...";
const KEPT_CHARS_MAX: usize = DETAILS_CHARS_MAX - CUT.len();
/// Values of known parameters up to this size are numbers, and are shown.
const NUMBER_BYTES_MAX: u16 = 4;

#[derive(Default)]
pub(super) struct Line {
    text: String,
    is_cut: bool,
}

/// Only printable ASCII ever arrives here, so that octets are characters and any of them may be the last.
impl fmt::Write for Line {
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

impl Line {
    pub(super) fn finish(self) -> String {
        self.text
    }

    fn put(&mut self, words: fmt::Arguments<'_>) {
        let space = if self.text.is_empty() || self.text.ends_with('[') { "" } else { " " };
        write!(self, "{space}{words}").expect("a line takes everything");
    }

    /// A field whose value needs no care: a number, or words of our own.
    pub(super) fn field(&mut self, name: &str, value: impl fmt::Display) {
        self.put(format_args!("{name}={value}"));
    }

    pub(super) fn hex(&mut self, name: &str, value: u8) {
        self.put(format_args!("{name}=0x{value:02x}"));
    }

    /// A field that is mostly at its default, which then says nothing.
    pub(super) fn hex_if_set(&mut self, name: &str, value: u8) {
        if value != 0 {
            self.hex(name, value);
        }
    }

    pub(super) fn octets(&mut self, name: &str, value: &[u8]) {
        self.put(format_args!("{name}={}", Shown(value)));
    }

    pub(super) fn octets_if_set(&mut self, name: &str, value: &[u8]) {
        if !value.is_empty() {
            self.octets(name, value);
        }
    }

    pub(super) fn address(&mut self, name: &str, value: Address<'_>) {
        self.put(format_args!("{name}={}/{} {}", value.ton, value.npi, Shown(value.value)));
    }

    /// A value that must not be read: only how long it is.
    pub(super) fn hidden(&mut self, name: &str, octets: usize) {
        self.put(format_args!("{name}=({octets} octets)"));
    }

    /// Opens a bracket, lets `tell` fill it and closes it.
    pub(super) fn list(&mut self, name: &str, tell: impl FnOnce(&mut Line)) {
        self.put(format_args!("{name}=["));
        tell(self);
        self.write_str("]").expect("a line takes everything");
    }

    pub(super) fn tlvs(&mut self, tlvs: Tlvs<'_>) {
        if !tlvs.is_empty() {
            self.list("tlvs", |line| tlvs.iter().for_each(|tlv| line.tlv(tlv)));
        }
    }

    /// Numbers, ids and a status in words are shown. Anything else may be somebody's text, above all in
    /// parameters nobody has heard of.
    fn tlv(&mut self, tlv: Tlv<'_>) {
        let Tlv { tag, value } = tlv;
        let is_number = tag.octets().is_some_and(|octets| *octets.end() <= NUMBER_BYTES_MAX);
        let short = value.len() <= usize::from(NUMBER_BYTES_MAX) && !value.is_empty();
        let is_words = matches!(tag, Tag::RECEIPTED_MESSAGE_ID | Tag::ADDITIONAL_STATUS_INFO_TEXT);
        match tag.name() {
            Some(name) if is_number && short => self.put(format_args!("{name}=0x{}", Hex(value))),
            Some(name) if is_words => self.octets(name, value.strip_suffix(b"\0").unwrap_or(value)),
            Some(name) => self.hidden(name, value.len()),
            None => self.put(format_args!("0x{:04x}=({} octets)", tag.0, value.len())),
        }
    }
}

struct Hex<'a>(&'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|octet| write!(f, "{octet:02x}"))
    }
}

/// Octets from outside: as they are where they cannot be taken for anything else, quoted and escaped where
/// they could.
struct Shown<'a>(&'a [u8]);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_plain = |octet: &u8| octet.is_ascii_alphanumeric() || b"+-_.:/#*@".contains(octet);
        match std::str::from_utf8(self.0) {
            Ok(plain) if !plain.is_empty() && self.0.iter().all(is_plain) => f.write_str(plain),
            _ => write!(f, "\"{}\"", self.0.escape_ascii()),
        }
    }
}
