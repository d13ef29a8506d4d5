//! One-time codes by time (RFC 6238): six digits of HMAC-SHA-1, another one every 30 seconds. Authenticator apps support no
//! other parameters reliably.

use super::secret::Secret;
use hermod_domain::time::Timestamp;
use ring::hmac;
use subtle::ConstantTimeEq as _;

const STEP_MS: i64 = 30_000;
/// Steps before and after the present one whose codes are accepted: clocks of phones differ (RFC 6238 section 5.2).
const TOLERANCE: i64 = 1;
/// The length of the digest, as RFC 4226 section 4 recommends.
const SECRET_BYTES: usize = 20;
pub const DIGITS: usize = 6;
const CODES: u32 = 1_000_000;
/// RFC 4648 section 6.
const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// Generates a secret, written in Base32 as apps expect it.
pub fn make_secret() -> std::io::Result<Secret> {
    let mut octets = [0; SECRET_BYTES];
    getrandom::fill(&mut octets).map_err(std::io::Error::other)?;
    Ok(Secret::new(to_base32(&octets)))
}

/// Returns the address that apps read from a QR code. The e-mail address has plain characters only.
pub fn uri(email: &str, secret: &Secret) -> Secret {
    let label = email.replace('%', "%25").replace('?', "%3F").replace('#', "%23").replace('&', "%26");
    Secret::new(format!("otpauth://totp/Hermod:{label}?secret={}&issuer=Hermod", secret.reveal()))
}

/// Returns the step whose code this is, if it is one of the present steps. Compares in constant time.
pub fn matching_step(secret: &Secret, code: &str, now: Timestamp) -> Option<i64> {
    let key = from_base32(secret.reveal())?;
    let present = now.as_millis().div_euclid(STEP_MS);
    let steps = (present - TOLERANCE)..=(present + TOLERANCE);
    let mut found = None;
    for step in steps {
        if bool::from(code_at(&key, step).as_bytes().ct_eq(code.as_bytes())) {
            found = Some(step);
        }
    }
    found
}

/// Returns the code of a time. For tests and for people who set up another device.
pub fn code(secret: &Secret, at: Timestamp) -> Option<String> {
    Some(code_at(&from_base32(secret.reveal())?, at.as_millis().div_euclid(STEP_MS)))
}

/// RFC 4226 section 5.3.
fn code_at(key: &[u8], step: i64) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, key);
    let tag = hmac::sign(&key, &step.to_be_bytes());
    let digest = tag.as_ref();
    let offset = usize::from(digest[SECRET_BYTES - 1] & 0x0F);
    let four: [u8; 4] = *digest[offset..].first_chunk().expect("the offset is at most 15");
    let number = u32::from_be_bytes(four) & 0x7FFF_FFFF;
    format!("{:0width$}", number % CODES, width = DIGITS)
}

fn to_base32(octets: &[u8]) -> String {
    let mut text = String::with_capacity(octets.len() * 8 / 5 + 1);
    let (mut held, mut bits) = (0_u32, 0);
    for octet in octets {
        held = (held << 8) | u32::from(*octet);
        bits += 8;
        while bits >= 5 {
            bits -= 5;
            text.push(letter(held >> bits));
        }
        held &= (1 << bits) - 1;
    }
    if bits > 0 {
        text.push(letter(held << (5 - bits)));
    }
    text
}

fn letter(bits: u32) -> char {
    char::from(BASE32[usize::try_from(bits & 31).expect("five bits")])
}

fn from_base32(text: &str) -> Option<Vec<u8>> {
    let mut octets = Vec::with_capacity(text.len() * 5 / 8);
    let (mut held, mut bits) = (0_u32, 0);
    for byte in text.bytes() {
        let value = BASE32.iter().position(|letter| *letter == byte.to_ascii_uppercase())?;
        held = (held << 5) | u32::try_from(value).ok()?;
        bits += 5;
        if bits >= 8 {
            bits -= 8;
            octets.push(u8::try_from(held >> bits).ok()?);
            held &= (1 << bits) - 1;
        }
    }
    Some(octets)
}

#[cfg(test)]
#[path = "totp_tests.rs"]
mod tests;
