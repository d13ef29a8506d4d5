//! Tokens that users hold: sessions of the portal, and one-time links.

use crate::ops::Hidden;
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The most sessions, the most links, the most sign-ins that wait for a code, and the most used codes that one user has. A further
/// one takes the place of the oldest of its sort, so that the holder of a password cannot end the links of the user by signing in,
/// nor make a used code valid again. There are fewer codes than that in the time that a used one is kept.
pub const USER_TOKENS_MAX: usize = 50;
/// The most tokens that one user has, of all sorts.
pub const USER_TOKENS_OF_ALL_SORTS_MAX: usize = 4 * USER_TOKENS_MAX;

/// The digest of a token. The token itself is not stored.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TokenDigest(pub [u8; 32]);

/// Prints the beginning: enough to tell two of them apart.
impl fmt::Debug for TokenDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TokenDigest({:02x}{:02x}..)", self.0[0], self.0[1])
    }
}

/// What a token is for. The numbers are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TokenPurpose {
    /// A session of the portal.
    Session,
    /// A sign-in whose password was right and whose second factor is missing.
    SecondFactor,
    /// A link by which a new user chooses a password.
    Invitation,
    /// A link by which a user chooses another password.
    Reset,
    /// A mark that a code of the second factor was used. It ends with time only.
    UsedCode,
}

impl TokenPurpose {
    pub const ALL: [TokenPurpose; 5] = [
        TokenPurpose::Session,
        TokenPurpose::SecondFactor,
        TokenPurpose::Invitation,
        TokenPurpose::Reset,
        TokenPurpose::UsedCode,
    ];

    pub const fn to_stored(self) -> i64 {
        match self {
            TokenPurpose::Session => 0,
            TokenPurpose::SecondFactor => 1,
            TokenPurpose::Invitation => 2,
            TokenPurpose::Reset => 3,
            TokenPurpose::UsedCode => 4,
        }
    }

    /// Whether the token is a one-time link.
    pub const fn is_link(self) -> bool {
        match self {
            TokenPurpose::Invitation | TokenPurpose::Reset => true,
            TokenPurpose::Session | TokenPurpose::SecondFactor | TokenPurpose::UsedCode => false,
        }
    }

    /// Whether tokens for the two purposes count together; see [`USER_TOKENS_MAX`].
    pub const fn is_counted_with(self, other: TokenPurpose) -> bool {
        self.to_stored() == other.to_stored() || (self.is_link() && other.is_link())
    }

    pub fn from_stored(number: i64) -> Option<TokenPurpose> {
        TokenPurpose::ALL.into_iter().find(|purpose| purpose.to_stored() == number)
    }
}

/// A token of a user.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserToken {
    pub digest: TokenDigest,
    /// The id of the user in the setup.
    pub user: u32,
    pub purpose: TokenPurpose,
    pub made_at: Timestamp,
    pub expires_at: Timestamp,
    /// What the portal keeps about it, such as the address of a session. Only the portal reads it.
    pub body: String,
}

impl UserToken {
    pub fn has_expired(&self, now: Timestamp) -> bool {
        self.expires_at <= now
    }
}

impl fmt::Debug for UserToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UserToken { digest, user, purpose, made_at, expires_at, body } = self;
        f.debug_struct("UserToken")
            .field("digest", digest)
            .field("user", user)
            .field("purpose", purpose)
            .field("made_at", made_at)
            .field("expires_at", expires_at)
            .field("body", &Hidden(body))
            .finish()
    }
}

/// What a change of the setup does to tokens of users.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenChange {
    /// A one-time link that this change uses up. If it was used before, the change is refused.
    pub spend: Option<TokenDigest>,
    /// Users whose other tokens end, such as after a change of the password. Used codes stay used.
    pub end_all_of: Vec<u32>,
    /// Users whose links end: they got memberships or other roles, and a link that was made before must not open more than it did.
    pub end_links_of: Vec<u32>,
    /// The session that does not end.
    pub keep: Option<TokenDigest>,
}
