//! Webhook signatures: an HMAC-SHA256 of the raw body in hexadecimal, and the signature of the Standard Webhooks
//! convention, which also covers the event's id and the time of the attempt. During a change of secrets, both secrets
//! sign.

use crate::hex::{from_hex, hex};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fmt;

pub const SIGNATURE: &str = "x-svc-signature";
/// The signature with the staged secret.
pub const SIGNATURE_NEXT: &str = "x-svc-signature-next";
/// The signature with the secret before the last switch.
pub const SIGNATURE_PREVIOUS: &str = "x-svc-signature-previous";
pub const ATTEMPT: &str = "x-svc-attempt";
pub const WEBHOOK_ID: &str = "webhook-id";
pub const WEBHOOK_TIMESTAMP: &str = "webhook-timestamp";
pub const WEBHOOK_SIGNATURE: &str = "webhook-signature";

/// The version prefix of a signature in `webhook-signature`.
const VERSION: &str = "v1,";

/// Signs with one secret, whose text is the HMAC key. Reusable, so that the key is processed once.
#[derive(Clone)]
pub struct Signer(Hmac<Sha256>);

impl Signer {
    pub fn new(secret: &str) -> Signer {
        Signer(Hmac::new_from_slice(secret.as_bytes()).expect("HMAC takes a key of any length"))
    }

    /// Returns the signature of the body in lower-case hexadecimal, the value of `X-SVC-Signature`.
    pub fn of_body(&self, body: &[u8]) -> String {
        hex(&self.mac([body]))
    }

    /// Returns the signature of `id.timestamp.body`, as in `webhook-signature`.
    pub fn of_event(&self, id: &str, unix_seconds: i64, body: &[u8]) -> String {
        let time = unix_seconds.to_string();
        let mac = self.mac([id.as_bytes(), b".", time.as_bytes(), b".", body]);
        format!("{VERSION}{}", STANDARD.encode(mac))
    }

    fn mac<const N: usize>(&self, pieces: [&[u8]; N]) -> [u8; 32] {
        let mut mac = self.0.clone();
        for piece in pieces {
            mac.update(piece);
        }
        mac.finalize().into_bytes().into()
    }

    /// Verifies in constant time.
    fn is_body(&self, body: &[u8], signature: &str) -> bool {
        let mut mac = self.0.clone();
        mac.update(body);
        from_hex(signature).is_some_and(|signature| mac.verify_slice(&signature).is_ok())
    }

    fn is_event(&self, id: &str, timestamp: &str, body: &[u8], signatures: &str) -> bool {
        signatures.split(' ').filter_map(|one| one.strip_prefix(VERSION)).any(|signature| {
            let mut mac = self.0.clone();
            for piece in [id.as_bytes(), b".", timestamp.as_bytes(), b".", body] {
                mac.update(piece);
            }
            STANDARD.decode(signature).is_ok_and(|signature| mac.verify_slice(&signature).is_ok())
        })
    }
}

/// Prints no key.
impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Signer(…)")
    }
}

/// The signers for the current secrets of an account.
#[derive(Clone, Debug)]
pub struct Signers {
    pub current: Signer,
    pub next: Option<Signer>,
    pub previous: Option<Signer>,
}

/// The signature headers of one attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signatures {
    pub current: String,
    pub next: Option<String>,
    pub previous: Option<String>,
    /// The Standard Webhooks signatures of all secrets, separated by spaces.
    pub standard: String,
}

impl Signers {
    pub fn sign(&self, id: &str, unix_seconds: i64, body: &[u8]) -> Signatures {
        let others = [&self.next, &self.previous];
        let mut standard = self.current.of_event(id, unix_seconds, body);
        for signer in others.into_iter().flatten() {
            standard.push(' ');
            standard.push_str(&signer.of_event(id, unix_seconds, body));
        }
        let of_body = |signer: &Option<Signer>| signer.as_ref().map(|signer| signer.of_body(body));
        Signatures {
            current: self.current.of_body(body),
            next: of_body(&self.next),
            previous: of_body(&self.previous),
            standard,
        }
    }
}

named! {
    /// A header that holds a signature.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum SignatureHeader {
        Current,
        Next,
        Previous,
        Standard,
    }
}

impl SignatureHeader {
    /// Returns the header's name as documentation writes it.
    pub const fn header(self) -> &'static str {
        match self {
            SignatureHeader::Current => "X-SVC-Signature",
            SignatureHeader::Next => "X-SVC-Signature-Next",
            SignatureHeader::Previous => "X-SVC-Signature-Previous",
            SignatureHeader::Standard => "webhook-signature",
        }
    }
}

/// Returns the headers whose signature of the body is valid for the secret. `header` returns a header's value by its
/// name in lower case.
pub fn valid_signatures<'a>(
    secret: &str,
    body: &[u8],
    header: impl Fn(&str) -> Option<&'a str>,
) -> Vec<SignatureHeader> {
    let signer = Signer::new(secret);
    let made = |kind: &SignatureHeader| match kind {
        SignatureHeader::Current => header(SIGNATURE).is_some_and(|given| signer.is_body(body, given)),
        SignatureHeader::Next => header(SIGNATURE_NEXT).is_some_and(|given| signer.is_body(body, given)),
        SignatureHeader::Previous => {
            header(SIGNATURE_PREVIOUS).is_some_and(|given| signer.is_body(body, given))
        }
        SignatureHeader::Standard => {
            let given = (header(WEBHOOK_ID), header(WEBHOOK_TIMESTAMP), header(WEBHOOK_SIGNATURE));
            match given {
                (Some(id), Some(time), Some(signatures)) => signer.is_event(id, time, body, signatures),
                (None, _, _) | (_, None, _) | (_, _, None) => false,
            }
        }
    };
    SignatureHeader::ALL.into_iter().filter(made).collect()
}

#[cfg(test)]
#[path = "signature_tests.rs"]
mod tests;
