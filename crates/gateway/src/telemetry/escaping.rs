//! Escapes untrusted text (a system_id, a receipt, a header) in log lines, so that it cannot forge or hide them.
//! Applied to every field and message in both formats.

use std::fmt::{self, Debug, Write as _};
use std::io;
use tracing::field::Field;
use tracing_subscriber::fmt::format::Writer;

/// Whether a character could end a line, control a terminal, or change how the surrounding text is displayed.
fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}'
            | '\u{61c}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}')
}

/// Writes one field in the human format: the message without its name, others as `name=value`.
pub(super) fn write_field(writer: &mut Writer<'_>, field: &Field, value: &dyn Debug) -> fmt::Result {
    if field.name() != "message" {
        write!(writer, "{field}=")?;
    }
    write!(Escaping(writer), "{value:?}")
}

/// Writes unsafe characters as `\u{1b}`.
struct Escaping<'a, 'w>(&'a mut Writer<'w>);

impl fmt::Write for Escaping<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut rest = text;
        while let Some(place) = rest.find(is_unsafe) {
            let (safe, from) = rest.split_at(place);
            let mut characters = from.chars();
            let escaped = characters.next().map(char::escape_default);
            self.0.write_str(safe)?;
            escaped.into_iter().flatten().try_for_each(|character| self.0.write_char(character))?;
            rest = characters.as_str();
        }
        self.0.write_str(rest)
    }
}

/// Writes lines of JSON. JSON escapes only ASCII control characters; the others are escaped here, which is valid
/// because they occur in strings only.
pub(super) struct JsonLines<W>(pub(super) W);

impl<W: io::Write> io::Write for JsonLines<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        let is_escaped = |character: char| character != '\n' && is_unsafe(character);
        if text.contains(is_escaped) {
            let mut escaped = String::with_capacity(text.len());
            for character in text.chars() {
                if is_escaped(character) {
                    // All are in the BMP. Writing to a string cannot fail.
                    let _ = write!(escaped, "\\u{:04x}", u32::from(character));
                } else {
                    escaped.push(character);
                }
            }
            self.0.write_all(escaped.as_bytes())?;
        } else {
            self.0.write_all(line)?;
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
