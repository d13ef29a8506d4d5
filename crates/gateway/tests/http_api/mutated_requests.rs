//! Requests changed by the seeded mutator, sent over sockets: each gets a response that is in the
//! documents or a closed connection, the balances add up, and the gateway continues.
//!
//! `MUTATIONS=100000 SEED=7 cargo test -p hermod-gateway --test http_api mutated` runs longer, or again.

#[path = "../../../smpp/tests/proof/chance.rs"]
mod chance;

use crate::client::{bearer, request};
use crate::fixture::Service;
use crate::hostile_bodies::{chunked, send_head};
use crate::test_customers::ACME;
use chance::{Breadcrumb, Chance, mutate, setting};
use hermod_domain::money::Money;
use std::time::Duration;

const MUTATIONS: u64 = 3_000;
const SEED: u64 = 20_260_916;

/// All possible statuses, including those of invalid heads. No request causes a 5xx.
const STATUSES: [&str; 15] =
    ["100", "200", "202", "400", "401", "402", "403", "404", "405", "411", "413", "414", "422", "429", "431"];

const PIECES: [&[u8]; 12] = [
    b"\r\n",
    b"\r\n\r\n",
    b"\n",
    b" ",
    b": ",
    b"Content-Length: 5\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"Expect: 100-continue\r\n",
    b"Connection: close\r\n",
    b"0\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: t\r\n\r\n",
    b"\0",
];

const BODY: &[u8] = br#"{"to":"+4915112345678","from":"Acme","text":"hello you","x":[1,{"y":null}]}"#;

fn seeds() -> Vec<Vec<u8>> {
    let bearer = bearer(ACME);
    let auth = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    let body = br#"{"to":"+4915112345678","text":"hello","idempotency_key":"k"}"#;
    let in_chunks = [send_head("Transfer-Encoding: chunked\r\n").into_bytes(), chunked(body)].concat();
    vec![
        request("POST", "/api/v1/sms", &auth, body),
        in_chunks,
        request("POST", "/api/v1/sms", &auth, br#"{"to":"+4915112345678","text":"hello"}"#),
        request("GET", "/api/v1/sms/3751385497600000", &auth, b""),
        request("GET", "/api/v1/inbound?since=0&limit=10", &auth, b""),
        request("GET", "/api/v1/balance", &auth, b""),
    ]
}

/// Returns a changed request. Half of them keep a valid head, so that their body is read.
fn mutant(seeds: &[Vec<u8>], chance: &mut Chance) -> Vec<u8> {
    if chance.below(2) == 0 {
        let mut body = BODY.to_vec();
        mutate(&mut body, br#"{"to":"+4917012345678","text":"\ud83d\ude00"}"#, chance);
        let bearer = bearer(ACME);
        let auth = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
        return request("POST", "/api/v1/sms", &auth, &body);
    }
    let mut octets = seeds[chance.below(seeds.len())].clone();
    let other = &seeds[chance.below(seeds.len())];
    for _ in 0..=chance.below(3) {
        if chance.below(3) == 0 {
            let at = chance.below(octets.len() + 1);
            octets.splice(at..at, PIECES[chance.below(PIECES.len())].iter().copied());
        } else {
            mutate(&mut octets, other, chance);
        }
    }
    octets
}

/// Returns the statuses of all responses, and the costs of accepted messages.
fn statuses_and_costs(came: &[u8]) -> (Vec<String>, Vec<Money>) {
    let text = String::from_utf8_lossy(came);
    let statuses = text.split("HTTP/1.1 ").skip(1).map(|answer| answer[..3].to_owned()).collect();
    let costs = text.split(r#""charged":true,"cost":"#).skip(1);
    let cost = |rest: &str| Money::parse(rest.split(',').next().unwrap()).unwrap();
    (statuses, costs.map(cost).collect())
}

#[tokio::test]
async fn mutated_requests_get_documented_responses_and_balances_add_up() {
    let service = Service::start().await;
    let seed = setting("SEED", SEED);
    let (mut chance, mut crumb) = (Chance(seed), Breadcrumb { seed, mutation: 0 });
    let seeds = seeds();
    let mut left = Money::parse("10").unwrap();
    let (mut accepted, mut refused) = (0, 0);
    for mutation in 0..setting("MUTATIONS", MUTATIONS) {
        crumb.mutation = mutation;
        let octets = mutant(&seeds, &mut chance);
        let mut client = service.client().await;
        client.write_while_open(&octets).await;
        client.finish_writing_if_open().await;
        let came = client.read_to_end().await;
        let (statuses, costs) = statuses_and_costs(&came);
        for status in &statuses {
            assert!(STATUSES.contains(&status.as_str()), "{status} to {}", String::from_utf8_lossy(&octets));
        }
        for cost in &costs {
            left = left.checked_sub(*cost).unwrap();
        }
        accepted += statuses.iter().filter(|status| *status == "202").count();
        refused += statuses.iter().filter(|status| *status == "400").count();
        assert_eq!(costs.len(), statuses.iter().filter(|status| *status == "202").count());
        // Refills the token buckets.
        service.gateway.clock.advance(Duration::from_secs(1));
    }
    assert!(accepted > 50 && refused > 500, "{accepted} accepted, {refused} rejected: too few for this test");
    assert_eq!(service.balance(ACME).await, left.to_string());
}
