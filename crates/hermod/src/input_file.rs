//! Reads the files that commands send, up to a limit.

use crate::failure::Failure;
use bytes::Bytes;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Returns the content of a file, or of standard input for `-`. A file with more than `bytes_max` is not read any further.
pub(crate) fn read_file(file: &Path, bytes_max: usize) -> Result<Bytes, Failure> {
    let about = |error: std::io::Error| Failure::usage(format!("{}: {error}", file.display()));
    let content = if file == Path::new("-") {
        beginning(std::io::stdin().lock(), bytes_max).map_err(about)?
    } else {
        File::open(file).and_then(|open| beginning(open, bytes_max)).map_err(about)?
    };
    if content.len() > bytes_max {
        let mib = bytes_max >> 20;
        return Err(Failure::usage(format!("{} is larger than {mib} MiB: split it", file.display())));
    }
    Ok(content.into())
}

fn beginning(source: impl Read, bytes_max: usize) -> std::io::Result<Vec<u8>> {
    let mut content = Vec::new();
    source.take(u64::try_from(bytes_max).unwrap_or(u64::MAX).saturating_add(1)).read_to_end(&mut content)?;
    Ok(content)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt as _;

    #[test]
    fn file_beyond_the_limit_is_rejected_without_reading_it_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("prices.csv");
        std::fs::write(&path, "a\n1\n").unwrap();
        assert_eq!(read_file(&path, 4).unwrap(), "a\n1\n");
        // A gigabyte of holes.
        File::options().write(true).open(&path).unwrap().write_at(b"x", 1 << 30).unwrap();
        let error = read_file(&path, 1 << 20).unwrap_err();
        let error = format!("{error:?}");
        assert!(error.contains("prices.csv is larger than 1 MiB: split it"), "{error}");
    }
}
