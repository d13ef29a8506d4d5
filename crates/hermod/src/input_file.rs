//! Reads the files that commands take: whole ones up to a limit, and the first lines of files with secrets.

use crate::failure::Failure;
use bytes::Bytes;
use std::fs::File;
use std::io::{Error, Read as _};
use std::path::Path;

/// A secret is one line; the rest of a longer file is ignored.
const SECRET_FILE_BYTES_MAX: usize = 4096;

/// Returns the content of a file, or of standard input for `-`. A file with more than `bytes_max` is not read any further.
pub(crate) fn read_file(file: &Path, bytes_max: usize) -> Result<Bytes, Failure> {
    let content = beginning(file, bytes_max.saturating_add(1))?;
    if content.len() > bytes_max {
        let mib = bytes_max >> 20;
        return Err(Failure::usage(format!("{} is larger than {mib} MiB: split it", file.display())));
    }
    Ok(content.into())
}

/// Returns the first line of a file, or of standard input for `-`, without spaces around it.
pub(crate) fn first_line(file: &Path) -> Result<String, Failure> {
    let content = beginning(file, SECRET_FILE_BYTES_MAX)?;
    let text = std::io::read_to_string(content.as_slice()).map_err(|error| about(file, &error))?;
    let line = text.lines().next().unwrap_or_default().trim();
    if line.is_empty() {
        return Err(Failure::usage(format!("{}: the first line is empty", file.display())));
    }
    Ok(line.to_owned())
}

fn beginning(file: &Path, bytes_max: usize) -> Result<Vec<u8>, Failure> {
    let (mut content, most) = (Vec::new(), u64::try_from(bytes_max).unwrap_or(u64::MAX));
    let read = if file == Path::new("-") {
        std::io::stdin().lock().take(most).read_to_end(&mut content)
    } else {
        File::open(file).and_then(|open| open.take(most).read_to_end(&mut content))
    };
    read.map_err(|error| about(file, &error))?;
    Ok(content)
}

fn about(file: &Path, error: &Error) -> Failure {
    Failure::usage(format!("{}: {error}", file.display()))
}

#[cfg(test)]
#[path = "input_file_tests.rs"]
mod tests;
