//! The file operations of the journal. Tests replace them by a simulated disk that loses unsynced writes.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;

/// The files of one disk. A write is durable after [`Files::sync_data`], a name after [`Files::sync_dir`].
pub(crate) trait Files: Clone + Send + Sync + 'static {
    type File: Send + Sync;

    /// Returns the names of the files in a folder, in any order.
    fn list(&self, folder: &Path) -> io::Result<Vec<String>>;
    /// Creates an empty file that only its owner can access. Fails if the file exists.
    fn create(&self, path: &Path) -> io::Result<Self::File>;
    /// Opens a file for reading and writing.
    fn open(&self, path: &Path) -> io::Result<Self::File>;
    fn open_for_reading(&self, path: &Path) -> io::Result<Self::File>;
    fn length(&self, file: &Self::File) -> io::Result<u64>;
    /// Reads up to `buffer.len()` bytes; fewer than that does not mean the end of the file, but 0 does.
    fn read_at(&self, file: &Self::File, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
    /// Writes all bytes, or fails after writing an unknown part of them.
    fn write_at(&self, file: &Self::File, bytes: &[u8], offset: u64) -> io::Result<()>;
    /// Makes the content and the length of the file durable.
    fn sync_data(&self, file: &Self::File) -> io::Result<()>;
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Makes created, renamed and removed names of the folder durable.
    fn sync_dir(&self, folder: &Path) -> io::Result<()>;
    /// Returns a random number that marks the records of one use of a segment.
    fn salt(&self) -> io::Result<u64>;
}

/// The operating system's files.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OsFiles;

impl Files for OsFiles {
    type File = File;

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        let names = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().into_string().ok()));
        names.filter_map(Result::transpose).collect()
    }

    fn create(&self, path: &Path) -> io::Result<File> {
        File::options().read(true).write(true).create_new(true).mode(0o600).open(path)
    }

    fn open(&self, path: &Path) -> io::Result<File> {
        File::options().read(true).write(true).open(path)
    }

    fn open_for_reading(&self, path: &Path) -> io::Result<File> {
        File::open(path)
    }

    fn length(&self, file: &File) -> io::Result<u64> {
        file.metadata().map(|metadata| metadata.len())
    }

    fn read_at(&self, file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        match file.read_at(buffer, offset) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => self.read_at(file, buffer, offset),
            result => result,
        }
    }

    fn write_at(&self, file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
        file.write_all_at(bytes, offset)
    }

    fn sync_data(&self, file: &File) -> io::Result<()> {
        file.sync_data()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }

    fn sync_dir(&self, folder: &Path) -> io::Result<()> {
        File::open(folder)?.sync_all()
    }

    fn salt(&self) -> io::Result<u64> {
        getrandom::u64().map_err(|error| io::Error::other(error.to_string()))
    }
}

/// Fills the buffer from the offset on. Returns how many bytes there were before the end of the file or an error.
pub(super) fn read_up_to<F: Files>(
    files: &F,
    file: &F::File,
    buffer: &mut [u8],
    offset: u64,
) -> (usize, io::Result<()>) {
    let mut filled = 0;
    while filled < buffer.len() {
        match files.read_at(file, &mut buffer[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) => return (filled, Err(error)),
        }
    }
    (filled, Ok(()))
}

/// Whether an error means that the content of a file is lost. Any other one, such as too many open files or a missing permission,
/// says nothing about it.
pub(super) fn is_content_lost(error: &io::Error) -> bool {
    use rustix::io::Errno;
    error.kind() == io::ErrorKind::InvalidData
        || matches!(
            Errno::from_io_error(error),
            Some(Errno::IO | Errno::BADMSG | Errno::UCLEAN | Errno::ISDIR)
        )
}
