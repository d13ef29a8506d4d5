//! Reads TOML files with errors that name file, line and key. For settings and provision files.

use serde::de::DeserializeOwned;
use std::fmt;
use std::io::Read as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The largest file that is read.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The text of a file, with its path for error messages.
#[derive(Clone, Debug)]
pub struct Source {
    pub path: PathBuf,
    pub text: String,
}

/// An error in a file, with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    pub path: PathBuf,
    /// From 1.
    pub line: Option<usize>,
    /// `section.key`, if known.
    pub key: Option<String>,
    pub sentence: String,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FileError { path, line, key, sentence } = self;
        write!(f, "{}", path.display())?;
        if let Some(line) = line {
            write!(f, ":{line}")?;
        }
        if let Some(key) = key {
            write!(f, ": {key}")?;
        }
        write!(f, ": {sentence}")
    }
}

impl std::error::Error for FileError {}

impl Source {
    pub fn read(path: &Path) -> Result<Source, FileError> {
        let unreadable =
            |sentence: String| FileError { path: path.to_owned(), line: None, key: None, sentence };
        let length =
            std::fs::metadata(path).map_err(|error| unreadable(format!("cannot be read: {error}")))?.len();
        if length > FILE_BYTES_MAX {
            return Err(unreadable(format!("is too large ({length} bytes)")));
        }
        let text =
            std::fs::read_to_string(path).map_err(|error| unreadable(format!("cannot be read: {error}")))?;
        Ok(Source { path: path.to_owned(), text })
    }

    /// Reads standard input to its end.
    pub fn read_stdin() -> Result<Source, FileError> {
        let path = PathBuf::from("standard input");
        let unreadable = |sentence: String| FileError { path: path.clone(), line: None, key: None, sentence };
        let mut text = String::new();
        let read = std::io::stdin().lock().take(FILE_BYTES_MAX + 1).read_to_string(&mut text);
        let length = read.map_err(|error| unreadable(format!("cannot be read: {error}")))?;
        if u64::try_from(length).is_ok_and(|length| length > FILE_BYTES_MAX) {
            return Err(unreadable(format!("is too large (more than {FILE_BYTES_MAX} bytes)")));
        }
        Ok(Source { path, text })
    }

    /// Parses the whole text as one value.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, FileError> {
        self.parse_over("")
    }

    /// Parses the text over defaults: missing keys and sections are taken from `defaults`.
    pub fn parse_over<T: DeserializeOwned>(&self, defaults: &str) -> Result<T, FileError> {
        let own = self.table()?;
        let mut whole = own.clone();
        let defaults = DeTable::parse(defaults).expect("the embedded defaults are TOML: a test reads them");
        add_missing(whole.get_mut(), defaults.into_inner());
        T::deserialize(toml::Deserializer::from(whole))
            .map_err(|error| self.blame_span(error.span(), error.message(), Some(own.get_ref())))
    }

    /// Parses the text after `adjust` has changed the table. Also returns the result of `adjust`; its error is a key and what is
    /// wrong with it.
    pub fn parse_adjusted<T: DeserializeOwned, R>(
        &self,
        adjust: impl FnOnce(&mut DeTable<'_>) -> Result<R, (String, &'static str)>,
    ) -> Result<(T, R), FileError> {
        let own = self.table()?;
        let mut whole = own.clone();
        let found = adjust(whole.get_mut()).map_err(|(key, sentence)| self.blame_key(&key, sentence))?;
        let read = T::deserialize(toml::Deserializer::from(whole))
            .map_err(|error| self.blame_span(error.span(), error.message(), Some(own.get_ref())))?;
        Ok((read, found))
    }

    fn table(&self) -> Result<Spanned<DeTable<'_>>, FileError> {
        DeTable::parse(&self.text).map_err(|error| {
            let bare = error.span().and_then(|span| self.blame_bare_word(span.start));
            bare.unwrap_or_else(|| self.blame_span(error.span(), error.message(), None))
        })
    }

    /// Makes an error about a key, with its line if the file has it.
    pub fn blame_key(&self, key: &str, sentence: impl Into<String>) -> FileError {
        let span = DeTable::parse(&self.text).ok().and_then(|table| span_of(table.get_ref(), key));
        FileError {
            path: self.path.clone(),
            line: span.map(|span| self.line_of(span.start)),
            key: Some(key.to_owned()),
            sentence: sentence.into(),
        }
    }

    /// Makes an error for an unquoted word as a value, which TOML reports as an invalid number.
    fn blame_bare_word(&self, offset: usize) -> Option<FileError> {
        let line = self.line_of(offset);
        let (key, value) = self.text.lines().nth(line - 1)?.split_once('=')?;
        let word = value.split('#').next().unwrap_or_default().trim();
        let is_bare = word.starts_with(|first: char| first.is_ascii_alphabetic() || first == '/')
            && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.:/ ".contains(&b));
        if !is_bare || ["true", "false", "inf", "nan"].contains(&word) {
            return None;
        }
        let sentence = if ["yes", "no", "on", "off"].contains(&word.to_ascii_lowercase().as_str()) {
            format!("invalid value `{word}`: write true or false, without quotes")
        } else {
            format!("invalid value `{word}`: put text in quotes, as in \"{word}\"")
        };
        let before = self.text.lines().take(line - 1).filter_map(|line| line.trim().strip_prefix('['));
        let section = before.last().map(|header| header.trim_matches(['[', ']', ' ']));
        let key =
            section.map_or_else(|| key.trim().to_owned(), |section| format!("{section}.{}", key.trim()));
        Some(FileError { path: self.path.clone(), line: Some(line), key: Some(key), sentence })
    }

    fn blame_span(
        &self,
        span: Option<Range<usize>>,
        message: &str,
        table: Option<&DeTable<'_>>,
    ) -> FileError {
        let key = span.as_ref().and_then(|span| key_at(table?, span.start));
        FileError {
            path: self.path.clone(),
            line: span.map(|span| self.line_of(span.start)),
            key,
            sentence: message.trim_end().replace('\n', ", "),
        }
    }

    fn line_of(&self, offset: usize) -> usize {
        let before = self.text.as_bytes().get(..offset).unwrap_or(self.text.as_bytes());
        before.iter().filter(|byte| **byte == b'\n').count() + 1
    }
}

/// Adds missing keys to `table`, section by section.
fn add_missing<'i>(table: &mut DeTable<'i>, defaults: DeTable<'i>) {
    for (key, value) in defaults {
        match (table.get_mut(key.get_ref().as_ref()).map(Spanned::get_mut), value.get_ref()) {
            (Some(DeValue::Table(section)), DeValue::Table(_)) => {
                if let DeValue::Table(missing) = value.into_inner() {
                    add_missing(section, missing);
                }
            }
            (Some(_), _) => {}
            (None, _) => {
                table.insert(key, value);
            }
        }
    }
}

/// Returns the dotted name of the innermost key at an offset. List elements are counted from 1.
fn key_at(table: &DeTable<'_>, offset: usize) -> Option<String> {
    for (key, value) in table.iter() {
        let name = key.get_ref();
        let inside = match value.get_ref() {
            DeValue::Table(section) => key_at(section, offset).map(|inner| format!("{name}.{inner}")),
            DeValue::Array(list) => list.iter().enumerate().find_map(|(index, element)| {
                let section = element.get_ref().as_table()?;
                key_at(section, offset).map(|inner| format!("{name} {}.{inner}", index + 1))
            }),
            _ => None,
        };
        if inside.is_some() {
            return inside;
        }
        if key.span().contains(&offset) || value.span().contains(&offset) {
            return Some(name.to_string());
        }
    }
    None
}

/// Returns the position of the value of a `section.key`.
fn span_of(table: &DeTable<'_>, key: &str) -> Option<Range<usize>> {
    match key.split_once('.') {
        Some((section, rest)) => span_of(table.get(section)?.get_ref().as_table()?, rest),
        None => Some(table.get(key)?.span()),
    }
}
