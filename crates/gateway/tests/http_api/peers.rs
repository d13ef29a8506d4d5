//! Whose address a caller has: its own, or what a trusted proxy says. The loopback has many addresses; here
//! 127.0.0.2 is a proxy and 127.0.0.3 is not.

use crate::client::Client;
use crate::customers::ACME;
use crate::service::{Opening, Service};
use hermod_gateway::edges::http_api::{Security, TrustedProxies};

pub(crate) const PROXY: &str = "127.0.0.2";

pub(crate) async fn behind_a_proxy() -> Service {
    let proxies = TrustedProxies::new(["127.0.0.2/32".parse().unwrap()]);
    Service::open(Opening { proxies, ..Opening::default() }).await
}

#[tokio::test]
async fn plain_connections_from_this_machine_and_from_proxies_are_served() {
    for security in [Security::PlainNearby, Security::PlainForAll] {
        let service = Service::open(Opening { security, ..Opening::default() }).await;
        for source in ["127.0.0.1", "127.0.0.3"] {
            let mut client = Client::connect_from(source, service.address).await;
            assert_eq!(client.get(ACME, "/api/v1/balance").await.status, 200, "{source}");
        }
    }
    let service = behind_a_proxy().await;
    let mut client = Client::connect_from(PROXY, service.address).await;
    assert_eq!(client.get(ACME, "/api/v1/balance").await.status, 200);
}
