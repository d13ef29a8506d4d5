//! Secrets: how each kind is made, stored and compared. API secrets and the operator token are stored as keyed digests, SMPP
//! passwords as Argon2id hashes, carrier passwords, webhook secrets and second factors encrypted, because they are needed
//! again. All of these depend on the pepper, a key that is not in the database.

pub mod operator_token;
pub mod passwords;
mod pepper;
pub mod sealed;
mod secret;
mod source;
pub mod totp;
pub mod webhook_secret;

pub use pepper::{Pepper, PepperError, StoreContents};
pub(crate) use secret::write_private;
pub use secret::{Secret, random_token};
pub use source::SecretSource;
pub(crate) use source::read_line;
