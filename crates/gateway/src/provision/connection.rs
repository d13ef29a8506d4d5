//! Connections: the ways into an account.

use crate::provision::checks;
use crate::provision::draft::{Draft, Entry, Names};
use crate::provision::kind::Kind;
use crate::provision::{ProvisionRefusal, names, values};
use hermod_domain::catalogue::{AllowList, Connection};
use hermod_domain::ids::AccountId;
use hermod_domain::sender::Sender;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// One way into an account.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Connection)]
pub struct WantedConnection {
    #[serde(deserialize_with = "checks::name")]
    #[schema(pattern = "^[A-Za-z0-9._-]{1,64}$", examples("shop-http"))]
    pub name: String,
    #[schema(examples("shop"))]
    pub account: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    /// Used when a request names no sender.
    #[schema(value_type = Option<String>, examples("Shop"))]
    pub default_sender: Option<Sender>,
    #[serde(default = "ten", deserialize_with = "checks::rate")]
    /// Requests per second, all keys together.
    #[schema(minimum = 1, maximum = 1000000)]
    pub rate: u32,
    #[serde(default, deserialize_with = "checks::max_parts", skip_serializing_if = "Option::is_none")]
    /// Refuse messages of more parts than this.
    #[schema(minimum = 1, maximum = 255)]
    pub max_parts: Option<u8>,
    #[serde(
        default,
        deserialize_with = "values::networks",
        serialize_with = "values::networks_text",
        skip_serializing_if = "AllowList::is_empty"
    )]
    /// Addresses and networks that may call; an empty list is everyone.
    #[schema(value_type = Vec<String>, examples("192.0.2.0/24"))]
    pub allow: AllowList,
    /// Write typographic characters plainly where that keeps a text in GSM-7.
    #[serde(default)]
    pub smart_encoding: bool,
    /// Nobody signs in any more.
    #[serde(default)]
    pub closed: bool,
}

impl Entry for WantedConnection {
    const KIND: Kind = Kind::Connection;
    type Document = Connection;

    fn name(&self) -> String {
        self.name.clone()
    }

    fn document(
        &self,
        draft: &mut Draft<'_>,
        before: Option<&Connection>,
    ) -> Result<Connection, ProvisionRefusal> {
        let WantedConnection {
            name,
            account,
            default_sender,
            rate,
            max_parts,
            allow,
            smart_encoding,
            closed,
        } = self;
        let what = format!("connection \"{name}\"");
        let owner = AccountId::new(draft.find(Kind::Account, account, &what)?);
        if before.is_some_and(|before| before.account != owner) {
            let sentence =
                format!("belongs to another account than \"{account}\", and its messages stay there");
            return Err(ProvisionRefusal::about(&what, sentence));
        }
        if let Some(sender) = default_sender.filter(|sender| !is_known(draft, account, sender)) {
            let sentence = format!(
                "has the default sender \"{sender}\", which is not among the senders of account \"{account}\""
            );
            return Err(ProvisionRefusal::about(&what, sentence));
        }
        Ok(Connection {
            account: owner,
            default_sender: *default_sender,
            requests_per_second: *rate,
            max_parts: *max_parts,
            allow: allow.clone(),
            smart_encoding: *smart_encoding,
            closed: *closed,
            smpp: before.and_then(|before| before.smpp.clone()),
        })
    }

    fn shown(name: &str, document: Connection, names: &Names) -> WantedConnection {
        let Connection {
            account,
            default_sender,
            requests_per_second,
            max_parts,
            allow,
            smart_encoding,
            closed,
            smpp: _,
        } = document;
        WantedConnection {
            name: name.to_owned(),
            account: names.of(Kind::Account, account.get()),
            default_sender,
            rate: requests_per_second,
            max_parts,
            allow,
            smart_encoding,
            closed,
        }
    }
}

/// Approved or not: a sender that is blocked later must not keep the file that names it from being applied.
fn is_known(draft: &Draft<'_>, account: &str, sender: &Sender) -> bool {
    draft.has(Kind::Sender, &names::of_sender(Some(account), sender))
        || draft.owns_number(account, sender)
        || draft.account_lists(account, sender)
}

fn ten() -> u32 {
    10
}
