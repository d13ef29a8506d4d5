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
pub struct KeysPage {
    pub shell: Shell,
    pub rows: Vec<KeyRow>,
    /// `None` if the role may not create keys.
    pub create: Option<CreateKey>,
    pub check: CheckAddress,
}

/// How a list says where its last uses come from.
pub const LAST_USE_NOTE: &str = "The last use is the last request with the right secret since the gateway started, or before that in the request log, which is kept for some days and does not have every request.";

/// An API key in the list.
#[derive(Clone, Debug)]
pub struct KeyRow {
    pub id: String,
    pub label: String,
    pub connection: String,
    /// `None` if no use is known.
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
    pub answer: Option<AddressCheck>,
}

/// Whether requests from an address are admitted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AddressCheck {
    pub is_admitted: bool,
    /// `Requests from 203.0.113.9 with key lk_live_1 are admitted.`
    pub text: String,
    /// What each list says, such as `Connection shop-http: 203.0.113.0/24 matches`.
    pub lists: Vec<String>,
}

/// `GET /accounts/{account}/keys/{id}`: one key. Posts `label`, `expires` and `allow_list` to the same address, the
/// connection's list as `connection_list` to `keys/{id}/connection-list`, and `overlap` to `keys/{id}/rotate`; revoking is the
/// page `keys/{id}/revoke`.
#[derive(Clone, Debug, Template)]
#[template(path = "key.html")]
pub struct KeyPage {
    pub shell: Shell,
    pub row: KeyRow,
    pub created: Time,
    pub label: Field,
    /// A day such as `2027-12-31`; empty: never.
    pub expires: Field,
    /// One network for each line.
    pub allow_list: Field,
    /// The connection's own list, one network for each line; empty if it admits any address.
    pub connection_list: Field,
    /// How long the old secret stays valid.
    pub overlap: Select,
    /// The old secret of a running rotation is valid until then.
    pub old_secret_until: Option<Time>,
    /// Whether the role may change the key, and the key is not revoked.
    pub can_change: bool,
    /// Requests in the three forms of credentials, with a variable instead of the secret.
    pub examples: Vec<Example>,
}

/// A request to copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    pub title: String,
    pub text: String,
}

impl Example {
    /// Returns a request for the balance in each form of credentials. `secret` is the secret, or a variable of the shell.
    pub fn of_each_form(base_url: &str, key: &str, secret: &str) -> Vec<Example> {
        let example = |title: &str, credentials: String| Example {
            title: title.to_owned(),
            text: format!("curl {base_url}/balance \\\n  {credentials}"),
        };
        vec![
            example("HTTP Basic (recommended)", format!("-u \"{key}:{secret}\"")),
            example("Two headers", format!("-H \"X-API-Key: {key}\" \\\n  -H \"X-API-Secret: {secret}\"")),
            example("Bearer", format!("-H \"Authorization: Bearer {key}:{secret}\"")),
        ]
    }
}

/// The answer to creating or rotating a key: the only page with the secret.
#[derive(Clone, Debug, Template)]
#[template(path = "key_secret.html")]
pub struct KeySecretPage {
    pub shell: Shell,
    pub key: String,
    pub label: String,
    pub secret: String,
    /// The secret before a rotation is valid until then; `None` for a new key.
    pub old_secret_until: Option<Time>,
    /// `key:secret` in base64, for programs that set the header of the Basic form themselves.
    pub basic: String,
    /// Requests in the three forms of credentials.
    pub examples: Vec<Example>,
}
