//! What a user proved when signing in, as keyed fingerprints: they tell whether the user still signs in the same way.

use hermod_domain::catalogue::User;
use hermod_gateway::secrets::Pepper;
use serde::{Deserialize, Serialize};

/// Fingerprints of the password hash and the second factor that a user had when signing in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignInProof {
    password: String,
    second_factor: Option<String>,
}

impl SignInProof {
    /// Returns the proof of a user who signs in now; none for a user without a password.
    pub fn of(pepper: &Pepper, user: &User) -> Option<SignInProof> {
        let fingerprint = |what: &str, of: &str| {
            let derived = pepper.derived(&[b"sign-in proof", what.as_bytes(), of.as_bytes()]);
            derived.iter().map(|octet| format!("{octet:02x}")).collect::<String>()
        };
        Some(SignInProof {
            password: fingerprint("password", user.password.as_deref()?),
            second_factor: user.second_factor.as_ref().map(|factor| fingerprint("factor", &factor.secret)),
        })
    }

    /// Whether the code of a second factor belongs to the proof.
    pub fn needs_code(&self) -> bool {
        self.second_factor.is_some()
    }

    /// Whether the user may still sign in, with this password, and has no second factor but the one of the proof.
    pub fn holds_for(&self, pepper: &Pepper, user: &User) -> bool {
        let is_same = |now: SignInProof| {
            now.password == self.password
                && (now.second_factor.is_none() || now.second_factor == self.second_factor)
        };
        !user.disabled && SignInProof::of(pepper, user).is_some_and(is_same)
    }
}
