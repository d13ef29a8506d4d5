//! A disk in memory for tests. It forgets unsynced writes at a power cut, sector by sector, and fails on request.

use crate::journal::files::Files;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

/// A disk writes a sector completely or not at all.
const SECTOR: usize = 512;

#[derive(Clone)]
pub(super) struct SimulatedDisk(Arc<Mutex<Disk>>);

/// An open file. It is invalid after a crash.
pub(super) struct Handle {
    inode: usize,
    crashes: u64,
}

/// How the process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Crash {
    /// The process is killed. Unsynced writes stay in the page cache, and can still be lost later.
    Kill,
    /// The machine loses power. Each unsynced sector and name has any of its states since the last sync.
    PowerCut,
}

#[derive(Default)]
struct Disk {
    inodes: Vec<Inode>,
    names: BTreeMap<PathBuf, usize>,
    durable_names: BTreeMap<PathBuf, usize>,
    unsynced_names: Vec<NameChange>,
    random: Option<Random>,
    operations: u64,
    crash_at: Option<u64>,
    fail_at: Option<(u64, io::ErrorKind)>,
    down: bool,
    /// No space can be allocated.
    full: bool,
    crashes: u64,
}

#[derive(Default)]
struct Inode {
    /// What reads see.
    cached: Vec<u8>,
    durable: Vec<u8>,
    /// The states of each sector since the last sync.
    unsynced: BTreeMap<usize, Vec<[u8; SECTOR]>>,
    /// The lengths of the file since the last sync.
    lengths: Vec<usize>,
    /// From this offset on, reads fail.
    unreadable_from: Option<usize>,
}

enum NameChange {
    Create(PathBuf, usize),
    Rename(PathBuf, PathBuf),
    Remove(PathBuf),
}

/// What becomes of an operation.
#[derive(PartialEq)]
enum Fate {
    Done,
    Failed(io::ErrorKind),
    Crashed,
}

impl SimulatedDisk {
    pub(super) fn new(seed: u64) -> SimulatedDisk {
        SimulatedDisk(Arc::new(Mutex::new(Disk { random: Some(Random(seed)), ..Disk::default() })))
    }

    /// Makes the disk stop during the given operation from now on.
    pub(super) fn crash_after(&self, operations: u64) {
        let mut disk = self.lock();
        disk.crash_at = Some(disk.operations + operations);
    }

    /// Makes the given operation from now on fail, once.
    pub(super) fn fail_after(&self, operations: u64, error: io::ErrorKind) {
        let mut disk = self.lock();
        disk.fail_at = Some((disk.operations + operations, error));
    }

    pub(super) fn has_failed(&self) -> bool {
        let disk = self.lock();
        disk.fail_at.is_some_and(|(at, _)| disk.operations >= at)
    }

    pub(super) fn set_full(&self, full: bool) {
        self.lock().full = full;
    }

    pub(super) fn is_down(&self) -> bool {
        self.lock().down
    }

    /// Returns the number of operations that change something.
    pub(super) fn operations(&self) -> u64 {
        self.lock().operations
    }

    /// Ends the process and starts the disk again.
    pub(super) fn crash(&self, crash: Crash) {
        let mut disk = self.lock();
        disk.crashes += 1;
        (disk.crash_at, disk.fail_at, disk.down) = (None, None, false);
        if crash == Crash::PowerCut {
            disk.lose_unsynced();
        }
    }

    /// Changes one bit of a file, on the disk itself. All its writes become durable.
    pub(super) fn flip_bit(&self, path: &Path, bit: usize) {
        let mut disk = self.lock();
        let inode = disk.names[path];
        let inode = &mut disk.inodes[inode];
        inode.cached[bit / 8] ^= 1 << (bit % 8);
        inode.durable.clone_from(&inode.cached);
    }

    /// Makes reads of a file fail from this offset on.
    pub(super) fn make_unreadable(&self, path: &Path, from: usize) {
        let mut disk = self.lock();
        let inode = disk.names[path];
        disk.inodes[inode].unreadable_from = Some(from);
    }

    pub(super) fn content(&self, path: &Path) -> Vec<u8> {
        let disk = self.lock();
        disk.inodes[disk.names[path]].cached.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Disk> {
        self.0.lock().unwrap()
    }

    fn change(&self, handle: &Handle) -> io::Result<(MutexGuard<'_, Disk>, Fate)> {
        let mut disk = self.lock();
        assert_eq!(handle.crashes, disk.crashes, "the file was opened before a crash");
        let fate = disk.begin()?;
        Ok((disk, fate))
    }

    /// Changes a name in the cache. The change is durable after the folder is synced.
    fn change_name(&self, change: impl FnOnce(&mut Disk) -> NameChange) -> io::Result<()> {
        let mut disk = self.lock();
        let fate = disk.begin()?;
        if fate == Fate::Done || (fate == Fate::Crashed && disk.chance()) {
            let change = change(&mut disk);
            apply(&mut disk.names, &change);
            disk.unsynced_names.push(change);
        }
        fate.result()
    }
}

impl Fate {
    fn result(self) -> io::Result<()> {
        match self {
            Fate::Done => Ok(()),
            Fate::Failed(kind) => Err(io::Error::new(kind, "injected failure")),
            Fate::Crashed => Err(down()),
        }
    }
}

fn down() -> io::Error {
    io::Error::other("the disk is down")
}

fn apply(names: &mut BTreeMap<PathBuf, usize>, change: &NameChange) {
    match change {
        NameChange::Create(path, inode) => {
            names.insert(path.clone(), *inode);
        }
        NameChange::Rename(from, to) => {
            if let Some(inode) = names.remove(from) {
                names.insert(to.clone(), inode);
            }
        }
        NameChange::Remove(path) => {
            names.remove(path);
        }
    }
}

impl Disk {
    fn random(&mut self) -> &mut Random {
        self.random.as_mut().unwrap()
    }

    fn chance(&mut self) -> bool {
        self.random().one_in(2)
    }

    /// Counts an operation that changes something, and decides what becomes of it.
    fn begin(&mut self) -> io::Result<Fate> {
        if self.down {
            return Err(down());
        }
        self.operations += 1;
        if self.crash_at.is_some_and(|at| self.operations >= at) {
            self.down = true;
            return Ok(Fate::Crashed);
        }
        match self.fail_at {
            Some((at, error)) if at == self.operations => Ok(Fate::Failed(error)),
            _ => Ok(Fate::Done),
        }
    }

    fn lose_unsynced(&mut self) {
        let mut random = self.random.take().unwrap();
        for inode in &mut self.inodes {
            inode.lose_unsynced(&mut random);
        }
        let mut names = std::mem::take(&mut self.durable_names);
        // Usually a file system keeps their order. Here any of them may be lost.
        let all_lost = random.one_in(4);
        for change in self.unsynced_names.drain(..) {
            if !all_lost && random.one_in(2) {
                apply(&mut names, &change);
            }
        }
        (self.durable_names, self.names) = (names.clone(), names);
        self.random = Some(random);
    }
}

impl Inode {
    fn write(&mut self, bytes: &[u8], offset: usize) {
        if bytes.is_empty() {
            return;
        }
        let end = offset + bytes.len();
        if self.cached.len() < end {
            set_length(&mut self.cached, end);
            self.lengths.push(end);
        }
        self.cached[offset..end].copy_from_slice(bytes);
        for sector in offset / SECTOR..=(end - 1) / SECTOR {
            let content = &self.cached[sector * SECTOR..self.cached.len().min((sector + 1) * SECTOR)];
            let mut state = [0; SECTOR];
            state[..content.len()].copy_from_slice(content);
            self.unsynced.entry(sector).or_default().push(state);
        }
    }

    fn sync(&mut self) {
        let length = self.lengths.pop();
        self.settle(length, |states| states.pop());
    }

    /// Like Linux: the kernel reports a failed fsync once, forgets that the pages are not on the disk, and still shows them.
    fn fail_sync(&mut self) {
        self.unsynced.clear();
    }

    fn lose_unsynced(&mut self, random: &mut Random) {
        let extreme = random.below(6);
        let mut pick = |count: usize| match extreme {
            0 => None,
            1 => Some(count - 1),
            _ => (random.below(count as u64 + 1) as usize).checked_sub(1),
        };
        let length = if self.lengths.is_empty() { None } else { pick(self.lengths.len()) };
        let length = length.map(|index| self.lengths[index]);
        self.settle(length, |states| pick(states.len()).map(|index| states[index]));
        self.cached.clone_from(&self.durable);
    }

    /// Makes the picked state of each sector durable, and forgets the others.
    fn settle(
        &mut self,
        length: Option<usize>,
        mut pick: impl FnMut(&mut Vec<[u8; SECTOR]>) -> Option<[u8; SECTOR]>,
    ) {
        let length = length.unwrap_or(self.durable.len());
        set_length(&mut self.durable, length);
        for (sector, mut states) in std::mem::take(&mut self.unsynced) {
            let start = sector * SECTOR;
            if let Some(state) = pick(&mut states)
                && start < length
            {
                let end = length.min(start + SECTOR);
                self.durable[start..end].copy_from_slice(&state[..end - start]);
            }
        }
        self.lengths.clear();
    }
}

/// Like `resize`, which is slow without optimisation.
fn set_length(content: &mut Vec<u8>, length: usize) {
    let missing = length.saturating_sub(content.len());
    content.extend_from_slice(&vec![0; missing]);
    content.truncate(length);
}

impl Files for SimulatedDisk {
    type File = Handle;

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        let disk = self.lock();
        let inside = disk.names.keys().filter(|path| path.parent() == Some(folder));
        Ok(inside.map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect())
    }

    fn create(&self, path: &Path) -> io::Result<Handle> {
        if self.lock().names.contains_key(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.change_name(|disk| {
            disk.inodes.push(Inode::default());
            NameChange::Create(path.to_owned(), disk.inodes.len() - 1)
        })?;
        self.open(path)
    }

    fn open(&self, path: &Path) -> io::Result<Handle> {
        let disk = self.lock();
        let inode = *disk.names.get(path).ok_or(io::ErrorKind::NotFound)?;
        Ok(Handle { inode, crashes: disk.crashes })
    }

    fn open_for_reading(&self, path: &Path) -> io::Result<Handle> {
        self.open(path)
    }

    fn length(&self, file: &Handle) -> io::Result<u64> {
        Ok(self.lock().inodes[file.inode].cached.len() as u64)
    }

    fn read_at(&self, file: &Handle, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut disk = self.lock();
        // Sometimes cut short.
        let limit = match disk.random().below(4) {
            0 if !buffer.is_empty() => 1 + disk.random().below(buffer.len() as u64) as usize,
            _ => buffer.len(),
        };
        let inode = &disk.inodes[file.inode];
        let content = inode.cached.get(offset as usize..).unwrap_or(&[]);
        let mut length = limit.min(content.len());
        if let Some(from) = inode.unreadable_from {
            length = length.min(from.saturating_sub(offset as usize));
            if length == 0 && !buffer.is_empty() {
                return Err(rustix::io::Errno::IO.into());
            }
        }
        buffer[..length].copy_from_slice(&content[..length]);
        Ok(length)
    }

    fn write_at(&self, file: &Handle, bytes: &[u8], offset: u64) -> io::Result<()> {
        let (mut disk, fate) = self.change(file)?;
        if disk.full && disk.inodes[file.inode].cached.len() < offset as usize + bytes.len() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let cut = fate != Fate::Done && disk.chance();
        let length = if cut { disk.random().below(bytes.len() as u64 + 1) as usize } else { bytes.len() };
        disk.inodes[file.inode].write(&bytes[..length], offset as usize);
        fate.result()
    }

    fn sync_data(&self, file: &Handle) -> io::Result<()> {
        let (mut disk, fate) = self.change(file)?;
        let done = fate == Fate::Done || (fate == Fate::Crashed && disk.chance());
        match (done, &fate) {
            (true, _) => disk.inodes[file.inode].sync(),
            (false, Fate::Failed(_)) => disk.inodes[file.inode].fail_sync(),
            (false, _) => {}
        }
        fate.result()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        if !self.lock().names.contains_key(from) {
            return Err(io::ErrorKind::NotFound.into());
        }
        self.change_name(|_| NameChange::Rename(from.to_owned(), to.to_owned()))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.change_name(|_| NameChange::Remove(path.to_owned()))
    }

    fn sync_dir(&self, _: &Path) -> io::Result<()> {
        let mut disk = self.lock();
        let fate = disk.begin()?;
        if fate == Fate::Done || (fate == Fate::Crashed && disk.chance()) {
            disk.durable_names = disk.names.clone();
            disk.unsynced_names.clear();
        }
        fate.result()
    }

    fn salt(&self) -> io::Result<u64> {
        Ok(self.lock().random().next())
    }
}

/// A small seeded random number generator (SplitMix64).
#[derive(Clone, Debug)]
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below the limit.
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    pub(super) fn one_in(&mut self, chance: u64) -> bool {
        self.below(chance) == 0
    }
}
