//! Reads secrets from the first line of a file.

use crate::failure::Failure;
use std::io::Read;
use std::path::Path;

/// A secret is one line; the rest of a longer file is ignored.
const FILE_BYTES_MAX: u64 = 4096;

/// Returns the first line of a file, or of standard input for `-`, without spaces around it.
pub(crate) fn first_line(file: &Path) -> Result<String, Failure> {
    let about = |error: std::io::Error| Failure::usage(format!("{}: {error}", file.display()));
    let text = if file == Path::new("-") {
        beginning(std::io::stdin()).map_err(about)?
    } else {
        std::fs::File::open(file).and_then(beginning).map_err(about)?
    };
    let line = text.lines().next().unwrap_or_default().trim();
    if line.is_empty() {
        return Err(Failure::usage(format!("{}: the first line is empty", file.display())));
    }
    Ok(line.to_owned())
}

fn beginning(source: impl Read) -> std::io::Result<String> {
    let mut text = String::new();
    source.take(FILE_BYTES_MAX).read_to_string(&mut text)?;
    Ok(text)
}
