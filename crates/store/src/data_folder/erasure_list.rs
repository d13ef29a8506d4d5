//! The file with the erasures that were made in this folder: keyed digests of numbers, one per line. A store that lacks some of
//! them was restored from a backup, and gets them again; those that the file lacks were made while this node was away, and are
//! made again in its record.

use crate::error::StoreError;
use hermod_domain::erasure::{ERASURES_KEPT, KeptErasure, NumberDigest};
use hermod_domain::ids::AccountId;
use hermod_domain::time::Timestamp;
use rustix::fs::{FlockOperation, flock};
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// The name of the file.
pub const ERASURES_FILE: &str = "hermod.erasures";
const NEW_FILE: &str = "hermod.erasures.new";

/// Reads the erasures of a folder. A line that cannot be read or has no end is left out: a copy of the file may be cut.
pub(crate) fn read(folder: &Path) -> Result<Vec<KeptErasure>, StoreError> {
    let path = folder.join(ERASURES_FILE);
    match std::fs::read(&path) {
        Ok(octets) => Ok(String::from_utf8_lossy(&octets).split_inclusive('\n').filter_map(parse).collect()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(StoreError::File { path, error }),
    }
}

/// Adds erasures to the file, in place of earlier ones of the same numbers, and removes those that are not kept any more. The
/// file is durable when this returns. Waits while another task or process changes it.
pub(crate) fn add(folder: &Path, erasures: &[KeptErasure]) -> Result<(), StoreError> {
    let Some(newest) = erasures.iter().map(|erasure| erasure.at).max() else { return Ok(()) };
    let locked = File::open(folder).and_then(|opened| {
        flock(&opened, FlockOperation::LockExclusive)?;
        Ok(opened)
    });
    // Held until the end of this function.
    let _locked = locked.map_err(|error| StoreError::File { path: folder.to_owned(), error })?;
    let kept_since = newest.minus(ERASURES_KEPT);
    let mut all = read(folder)?;
    let new = missing_in(&all, erasures);
    let replaced: HashSet<_> = new.iter().map(KeptErasure::key).collect();
    all.retain(|old| old.at >= kept_since && !replaced.contains(&old.key()));
    all.extend(new);
    let text: String = all.iter().map(line).collect();
    let path = folder.join(NEW_FILE);
    let written = File::options().write(true).create(true).truncate(true).mode(0o600).open(&path);
    let written =
        written.and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_data()));
    let renamed = written.and_then(|()| std::fs::rename(&path, folder.join(ERASURES_FILE)));
    let durable = renamed.and_then(|()| File::open(folder)?.sync_all());
    durable.map_err(|error| StoreError::File { path, error })
}

/// Returns those of some erasures that a list has neither as they are nor made later.
pub(crate) fn missing_in(list: &[KeptErasure], erasures: &[KeptErasure]) -> Vec<KeptErasure> {
    let mut latest = HashMap::new();
    for listed in list {
        let at = latest.entry(listed.key()).or_insert(listed.at);
        *at = listed.at.max(*at);
    }
    let is_missing = |one: &&KeptErasure| latest.get(&one.key()).is_none_or(|at| *at < one.at);
    erasures.iter().filter(is_missing).copied().collect()
}

fn line(erasure: &KeptErasure) -> String {
    let KeptErasure { digest, account, at } = erasure;
    let digest: String = digest.0.iter().map(|octet| format!("{octet:02x}")).collect();
    format!("{digest} {} {}\n", account.map_or(0, AccountId::get), at.as_millis())
}

fn parse(line: &str) -> Option<KeptErasure> {
    let mut words = line.strip_suffix('\n')?.split(' ');
    let (digest, account, at) = (words.next()?, words.next()?, words.next()?);
    let octets = (0..digest.len() / 2).map(|place| {
        digest.get(2 * place..2 * place + 2).and_then(|digits| u8::from_str_radix(digits, 16).ok())
    });
    let octets: Vec<u8> = octets.collect::<Option<_>>()?;
    let account: u32 = account.parse().ok()?;
    Some(KeptErasure {
        digest: NumberDigest(octets.try_into().ok()?),
        account: (account > 0).then(|| AccountId::new(account)),
        at: Timestamp::from_millis(at.parse().ok()?),
    })
}

#[cfg(test)]
#[path = "erasure_list_tests.rs"]
mod tests;
