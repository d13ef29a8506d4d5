//! SMPP passwords. They have at most eight characters, so the stored hash must be slow: Argon2id in PHC format, which
//! contains its cost parameters, so that they can be raised later. The hash is keyed with the pepper, so that a stolen
//! database alone does not allow guessing.

use super::pepper::Pepper;
use super::secret::Secret;
use argon2::password_hash::PasswordHasher;
use argon2::password_hash::phc::{Output, PasswordHash};
use argon2::{Algorithm, Argon2, Block, Params, Version};
use hermod_domain::catalogue::SMPP_PASSWORD_CHARS;
use parking_lot::Mutex;

/// The cost of one hash: memory and passes. About 20 ms of one core.
const MEMORY_KIB: u32 = 19 * 1024;
const PASSES: u32 = 2;
const LANES: u32 = 1;
const SALT_BYTES: usize = 16;

/// The characters of a generated password: 5.95 bits each.
const ALPHABET: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// Generates a password of 8 letters and digits (47.6 bits), the most that SMPP allows.
pub fn random() -> std::io::Result<Secret> {
    let mut password = String::with_capacity(SMPP_PASSWORD_CHARS);
    let mut octets = [0; 2 * SMPP_PASSWORD_CHARS];
    while password.len() < SMPP_PASSWORD_CHARS {
        getrandom::fill(&mut octets).map_err(std::io::Error::other)?;
        // Six bits each; the two values beyond the alphabet are skipped, so that all characters are equally likely.
        let characters = octets.iter().filter_map(|octet| ALPHABET.get(usize::from(octet & 63)));
        password
            .extend(characters.map(|octet| char::from(*octet)).take(SMPP_PASSWORD_CHARS - password.len()));
    }
    Ok(Secret::new(password))
}

/// Hashes a password for storing. Slow: not for async threads.
pub fn hash(pepper: &Pepper, password: &str) -> std::io::Result<String> {
    let mut salt = [0; SALT_BYTES];
    getrandom::fill(&mut salt).map_err(std::io::Error::other)?;
    salted(pepper, password, &salt)
}

/// Hashes a password that replaces another one, with the salt of its hash: while both are valid, a bind costs one hash, and a
/// wrong password takes no longer than for an unknown system_id.
pub fn hash_with_salt_of(pepper: &Pepper, password: &str, replaced: &str) -> std::io::Result<String> {
    match PasswordHash::new(replaced).ok().and_then(|hash| hash.salt) {
        Some(salt) => salted(pepper, password, &salt),
        None => hash(pepper, password),
    }
}

fn salted(pepper: &Pepper, password: &str, salt: &[u8]) -> std::io::Result<String> {
    let key = key(pepper);
    let hash: PasswordHash =
        argon2(&key).hash_password_with_salt(password.as_bytes(), salt).map_err(std::io::Error::other)?;
    Ok(hash.to_string())
}

/// Whether the password matches the hash. An unreadable hash never matches.
pub fn matches(pepper: &Pepper, password: &[u8], hash: &str) -> bool {
    matching(pepper, password, &[hash]).is_some()
}

/// Returns the position of the hash that the password matches. Hashes with the same salt and costs take one computation.
/// An unreadable hash never matches.
pub fn matching<H: AsRef<str>>(pepper: &Pepper, password: &[u8], hashes: &[H]) -> Option<usize> {
    let stored: Vec<Option<(Work, Output)>> = hashes.iter().map(|hash| parts(hash.as_ref())).collect();
    let mut found: Option<usize> = None;
    for work in works(stored.iter().flatten().map(|(work, _)| work)) {
        let computed = compute(pepper, password, &work).and_then(|output| Output::new(&output).ok());
        for (position, stored) in stored.iter().enumerate() {
            // Compares in constant time.
            let is_equal = stored
                .as_ref()
                .zip(computed)
                .is_some_and(|((of, expected), computed)| *of == work && computed == *expected);
            if is_equal {
                found = Some(found.map_or(position, |first| first.min(position)));
            }
        }
    }
    found
}

/// What the computation of a hash takes besides the password.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Work {
    salt: Vec<u8>,
    costs: Params,
}

impl Work {
    /// One computation of the usual costs, whose result matches nothing.
    fn in_vain() -> Work {
        Work { salt: vec![0; SALT_BYTES], costs: costs() }
    }
}

/// Returns what to compute for these stored hashes: each salt with its costs once. Without a hash it is as much as for one, so that
/// the time does not reveal which system_ids exist.
fn works<'a>(stored: impl Iterator<Item = &'a Work>) -> Vec<Work> {
    let mut works: Vec<Work> = Vec::new();
    for work in stored {
        if !works.contains(work) {
            works.push(work.clone());
        }
    }
    if works.is_empty() {
        works.push(Work::in_vain());
    }
    works
}

/// Returns salt, costs and output of a stored hash.
fn parts(hash: &str) -> Option<(Work, Output)> {
    let hash = PasswordHash::new(hash).ok()?;
    let (salt, expected) = (hash.salt?, hash.hash?);
    Some((Work { salt: salt.to_vec(), costs: Params::try_from(&hash).ok()? }, expected))
}

/// Takes as long as [`matches()`], for an unknown user, so that the time does not reveal which ones exist.
pub fn spend_as_much(pepper: &Pepper, password: &[u8]) {
    std::hint::black_box(matching::<&str>(pepper, password, &[]).is_some());
}

/// Reused memory of past hashes. Allocated anew on different threads, the allocator kept a copy for every thread.
static SPARE: Mutex<Vec<Vec<Block>>> = Mutex::new(Vec::new());
/// The number of concurrent hashes.
const SPARE_MAX: usize = 2;

fn compute(pepper: &Pepper, password: &[u8], work: &Work) -> Option<Vec<u8>> {
    let Work { salt, costs } = work;
    let mut memory = SPARE.lock().pop().unwrap_or_default();
    memory.resize(costs.block_count(), Block::default());
    let mut out = vec![0; costs.output_len().unwrap_or(Params::DEFAULT_OUTPUT_LEN)];
    let key = key(pepper);
    let done = Argon2::new_with_secret(&key, Algorithm::Argon2id, Version::V0x13, costs.clone())
        .and_then(|argon2| argon2.hash_password_into_with_memory(password, salt, &mut out, &mut memory));
    let mut spare = SPARE.lock();
    if spare.len() < SPARE_MAX {
        spare.push(memory);
    }
    done.is_ok().then_some(out)
}

fn key(pepper: &Pepper) -> [u8; 32] {
    pepper.derived(&[b"smpp passwords"])
}

fn costs() -> Params {
    Params::new(MEMORY_KIB, PASSES, LANES, None).expect("these costs are within Argon2's bounds")
}

fn argon2(key: &[u8]) -> Argon2<'_> {
    Argon2::new_with_secret(key, Algorithm::Argon2id, Version::V0x13, costs())
        .expect("32 octets are within Argon2's bounds")
}

#[cfg(test)]
#[path = "passwords_tests.rs"]
mod tests;
