//! API keys: the list, one key, a new secret, and whether an address would be admitted.

use crate::elements::Chip;
use crate::forms::{Field, Select};
use crate::layout::Shell;
use crate::time::Time;
use askama::Template;

/// `GET /accounts/{account}/keys`. Creating posts `label`, `connection`, `expires`, `allow_list` to the same address; the
/// check is `GET keys?address=…&key=…`.
#[derive(Clone, Debug, Template)]
#[template(path = "keys.html")]
pub struct Keys {
    pub shell: Shell,
    pub rows: Vec<KeyRow>,
    /// `None` if the role may not create keys.
    pub create: Option<CreateKey>,
    pub check: CheckAddress,
}

/// An API key in the list.
#[derive(Clone, Debug)]
pub struct KeyRow {
    pub id: String,
    pub label: String,
    pub connection: String,
    pub last_used: Option<Time>,
    /// The address of the last use.
    pub last_address: Option<String>,
    pub expires: Option<Time>,
    /// Such as `3 networks`, or `any address`.
    pub allow_list: String,
    /// Active, rotating, expired or revoked.
    pub state: Chip,
}

/// The form for a new key.
#[derive(Clone, Debug, Default)]
pub struct CreateKey {
    pub label: Field,
    pub connection: Select,
    /// `never`, `30d`, `90d`, `1y`.
    pub expires: Select,
    pub allow_list: Field,
}

/// The question whether an address would be admitted, and its answer.
#[derive(Clone, Debug, Default)]
pub struct CheckAddress {
    pub address: Field,
    pub key: Select,
    pub answer: Option<Admission>,
}

/// Whether requests from an address are admitted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Admission {
    pub is_admitted: bool,
    /// `Requests from 203.0.113.9 with key lk_live_1 are admitted.`
    pub text: String,
    /// What each list says, such as `Connection shop-http: 203.0.113.0/24 matches`.
    pub lists: Vec<String>,
}

/// `GET /accounts/{account}/keys/{id}`: one key. Posts to `keys/{id}/allow-list` (`allow_list`) and `keys/{id}/rotate`
/// (`overlap`); revoking is the page `keys/{id}/revoke`.
#[derive(Clone, Debug, Template)]
#[template(path = "key.html")]
pub struct Key {
    pub shell: Shell,
    pub row: KeyRow,
    pub created: Time,
    pub created_by: String,
    /// One network for each line.
    pub allow_list: Field,
    /// The connection's own list, one network for each line; empty if it admits any address.
    pub connection_list: Vec<String>,
    /// How long the old secret stays valid.
    pub overlap: Select,
    /// The old secret of a running rotation is valid until then.
    pub old_secret_until: Option<Time>,
    /// Whether the role may change the key.
    pub can_change: bool,
}

/// The answer to creating or rotating a key: the only page with the secret.
#[derive(Clone, Debug, Template)]
#[template(path = "key_secret.html")]
pub struct KeySecret {
    pub shell: Shell,
    pub key: String,
    pub label: String,
    pub secret: String,
    /// The secret before a rotation is valid until then; `None` for a new key.
    pub old_secret_until: Option<Time>,
    /// The address of the HTTP API, such as `https://sms.example/api/v1`.
    pub base_url: String,
    /// `key:secret` in base64, for the Basic form.
    pub basic: String,
}
