//! API keys: the secrets that are valid, and from where and until when a key can be used. Allow-lists of addresses.

use crate::catalogue::PreviousSecret;
use crate::catalogue::rotation::valid_secrets;
use crate::ids::ConnectionId;
use crate::time::Timestamp;
use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// An API key. Only a keyed digest of the secret is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApiKey {
    pub connection: ConnectionId,
    /// Lower-case hex.
    pub secret_digest: String,
    pub allow: AllowList,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    pub revoked: bool,
    /// Where the customer uses it, in the customer's words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// The secret before the last rotation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<PreviousSecret>,
    pub created_at: Timestamp,
}

impl ApiKey {
    pub fn is_valid_at(&self, now: Timestamp) -> bool {
        !self.revoked && self.expires_at.is_none_or(|expires_at| now < expires_at)
    }

    /// Returns the digests of its secrets: the current one, and during a rotation the one before it.
    pub fn digests_at(&self, now: Timestamp) -> impl Iterator<Item = &str> {
        valid_secrets(&self.secret_digest, self.previous.as_ref(), now)
    }
}

/// Networks from which requests are allowed. An empty list allows all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AllowList(pub Vec<IpNet>);

impl AllowList {
    pub fn admits(&self, peer: IpAddr) -> bool {
        self.0.is_empty() || self.matching(peer).is_some()
    }

    /// Returns the first network of the list that contains an address.
    pub fn matching(&self, peer: IpAddr) -> Option<&IpNet> {
        let peer = peer.to_canonical();
        self.0.iter().find(|network| network.contains(&peer))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
