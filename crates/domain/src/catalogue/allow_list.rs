//! Allow-lists of addresses.

use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

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
