//! Fuzzes the parsers of untrusted input with a seeded mutator: bodies, credentials, addresses, query parameters. Nothing may
//! panic, and what is accepted must agree with an independent parser.
//!
//! `MUTATIONS=1000000 SEED=7 cargo test -p hermod-gateway mutator` runs longer, or again.

#[path = "../../../../smpp/tests/proof/chance.rs"]
mod chance;

use super::send_request::SendRequest;
use super::{credentials, inbound};
use crate::http::peer_address::{self, X_FORWARDED_FOR};
use crate::http::request_id::{self, X_REQUEST_ID};
use crate::listeners::TrustedProxies;
use axum::http::{HeaderMap, HeaderValue, header};
use chance::{Breadcrumb, Chance, mutate, setting};
use hermod_domain::submission::Submission;
use serde_json::Value;

const MUTATIONS: u64 = 50_000;
const SEED: u64 = 20_260_915;

const BODIES: [&[u8]; 6] = [
    br#"{"to":"+4915112345678","from":"Acme","text":"hello \ud83d\ude00","idempotency_key":"k"}"#,
    br#"{"x":[1,-2.5e3,{"y":null,"z":[true,false]}],"to":7,"text":"\u0000\\\"/"}"#,
    b"{\"to\":\"+4915112345678\",\"text\":\"\xf0\x9f\x98\x80 \xc3\xa4\",\"from\":null}",
    br#" { "text" : "" , "to" : "+33612345678" , "a":{"a":{"a":{"a":1}}} } "#,
    br#"{"to":"+4915112345678","text":"a","\u0074o2":1,"t\u006fo":2}"#,
    b"{}",
];

/// Fragments of bodies, so that mutants stay close to valid JSON.
const BODY_PIECES: [&[u8]; 12] = [
    b"{",
    b"}",
    b"\"",
    b"\\ud83d",
    b"\\ude00",
    b"\\u0000",
    b"\"to\":",
    b",\"text\":\"x\"",
    b",\"x\":1",
    b"[[[[",
    b"1e999",
    b"\xed\xa0\x80",
];

fn mutant(seeds: &[&[u8]], pieces: &[&[u8]], chance: &mut Chance) -> Vec<u8> {
    let mut octets = seeds[chance.below(seeds.len())].to_vec();
    let other = seeds[chance.below(seeds.len())];
    for _ in 0..=chance.below(3) {
        if chance.below(2) == 0 {
            let at = chance.below(octets.len() + 1);
            octets.splice(at..at, pieces[chance.below(pieces.len())].iter().copied());
        } else {
            mutate(&mut octets, other, chance);
        }
    }
    octets
}

/// Runs `check` on mutants and returns how many it accepted.
fn run(seeds: &[&[u8]], pieces: &[&[u8]], check: impl Fn(&[u8]) -> bool) -> u64 {
    let seed = setting("SEED", SEED);
    let (mut chance, mut crumb) = (Chance(seed), Breadcrumb { seed, mutation: 0 });
    let mut fit = 0;
    for mutation in 0..setting("MUTATIONS", MUTATIONS) {
        crumb.mutation = mutation;
        fit += u64::from(check(&mutant(seeds, pieces, &mut chance)));
    }
    fit
}

/// The least number of mutants that must be accepted.
fn one_in(share: u64) -> u64 {
    setting("MUTATIONS", MUTATIONS) / share
}

/// Whether an object has a known name in another spelling.
fn misspells(value: &Value) -> bool {
    let names = ["to", "from", "text", "idempotency_key"];
    let plain = |name: &str| name.replace(['-', '_'], "").to_ascii_lowercase();
    let mut keys = value.as_object().into_iter().flat_map(|fields| fields.keys());
    keys.any(|key| names.iter().any(|name| key != name && plain(key) == plain(name)))
}

#[test]
fn body_is_accepted_exactly_if_it_is_an_object_without_duplicate_keys() {
    let accepted = run(&BODIES, &BODY_PIECES, |body| {
        let shown = String::from_utf8_lossy(body);
        let value = serde_json::from_slice::<Value>(body).ok().filter(Value::is_object);
        let request = match (SendRequest::parse(body), &value) {
            (Ok(request), Some(_)) => request,
            (Ok(_), None) => panic!("accepted, but not an object: {shown}"),
            (Err(_), None) => return false,
            (Err(refusal), Some(value)) => {
                let actual = refusal.to_string();
                let is_told =
                    actual.contains("a key is given twice") || (actual.contains("spelt") && misspells(value));
                assert!(is_told, "{refusal}: {shown}");
                return false;
            }
        };
        let value = value.expect("it was found above");
        let Ok(Submission { to, from, text, .. }) = request.submission(None) else { return false };
        assert_eq!(value["text"].as_str(), Some(text.as_str()), "{shown}");
        assert_eq!(value["to"].as_str(), Some(to.to_string().as_str()), "{shown}");
        let from = from.map(|sender| sender.to_string());
        assert_eq!(value["from"].as_str().filter(|from| !from.is_empty()), from.as_deref(), "{shown}");
        true
    });
    assert!(accepted > one_in(100), "only {accepted} mutants were still messages");
}

fn with(name: axum::http::HeaderName, octets: &[u8]) -> Option<HeaderMap> {
    let value = HeaderValue::from_bytes(octets).ok()?;
    Some(HeaderMap::from_iter([(name, value)]))
}

#[test]
fn credentials_are_exactly_the_header_value_or_none() {
    let seeds: [&[u8]; 4] =
        [b"Bearer key:secret", b"Basic a2V5OnNlY3JldA==", b"basic   a2V5OnNl/+Y3Jl", b"Digest x=y"];
    let pieces: [&[u8]; 6] = [b" ", b":", b"=", b"Basic ", b"\t", b"\xff"];
    let read = run(&seeds, &pieces, |octets| {
        let Some(headers) = with(header::AUTHORIZATION, octets) else { return false };
        let Some(given) = credentials::read(&headers) else { return false };
        assert!(!given.key.contains(':'));
        let pair = format!("{}:{}", given.key, given.secret.reveal());
        let scheme = octets.get(..7).unwrap_or_default();
        if scheme.eq_ignore_ascii_case(b"bearer ") {
            assert!(octets.ends_with(pair.as_bytes()), "{}", String::from_utf8_lossy(octets));
        }
        true
    });
    assert!(read > one_in(20), "only {read} mutants were still credentials");
}

#[test]
fn address_left_of_an_untrusted_one_is_never_used() {
    let proxies =
        TrustedProxies::new(["10.0.0.0/8", "2001:db8::/32"].map(|net| net.parse().expect("a network")));
    let proxy = "10.0.0.1".parse().expect("an address");
    let seeds: [&[u8]; 4] = [
        b"203.0.113.5, 10.0.0.2",
        b"10.0.0.3, 2001:db8::1",
        b"::ffff:10.0.0.9,198.51.100.1:99 , 10.1.1.1",
        b"[2001:db8::7]:80",
    ];
    let pieces: [&[u8]; 7] = [b",", b" ", b"10.0.0.2", b"::", b"]", b"1", b", 192.0.2.9"];
    let found = run(&seeds, &pieces, |octets| {
        let Some(headers) = with(X_FORWARDED_FOR, octets) else { return false };
        let Some(address) = peer_address::of(proxy, &proxies, &headers) else { return false };
        assert_eq!(address, address.to_canonical());
        // It is in the list, and nothing right of it is untrusted.
        let text = str::from_utf8(octets).expect("an address was read");
        let entries: Vec<&str> = text.split(',').map(|entry| entry.trim_matches([' ', '\t'])).collect();
        let place = entries.iter().rposition(|entry| {
            let bare = entry.parse().ok().or_else(|| Some(entry.parse::<std::net::SocketAddr>().ok()?.ip()));
            bare.is_some_and(|entry: std::net::IpAddr| entry.to_canonical() == address)
        });
        let place = place.expect("it is in the list");
        assert!(
            proxies.trust(address) || entries[place + 1..].iter().all(|entry| !entry.contains("192.0.2.9"))
        );
        true
    });
    assert!(found > one_in(10), "only {found} mutants still named an address");
}

#[test]
fn limits_and_request_ids_stay_within_their_bounds() {
    let seeds: [&[u8]; 3] = [b"since=10&limit=20", b"limit=500", b"s%69nce=%31&x=y"];
    let pieces: [&[u8]; 7] = [b"&", b"=", b"%", b"%30", b"9", b"since=", b"-"];
    let pages = run(&seeds, &pieces, |octets| {
        let Ok(query) = str::from_utf8(octets) else { return false };
        inbound::page_of(query).is_ok_and(|page| (1..=500).contains(&page.limit))
    });
    assert!(pages > one_in(10), "only {pages} mutants were still pages");
    run(&[b"My-Id_1.2", b"0123456789abcdef"], &[b"x", b" ", b"\t\xff"], |octets| {
        let Some(headers) = with(X_REQUEST_ID, octets) else { return false };
        let id = request_id::of(&headers);
        assert!((1..=64).contains(&id.len()) && id.as_bytes().iter().all(u8::is_ascii_graphic));
        id.as_bytes() == octets
    });
}
