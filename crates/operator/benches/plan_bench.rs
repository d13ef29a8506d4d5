//! Measures how long the operator API takes to plan a file of prices, from the request to the response.
//!
//! `cargo bench -p hermod-operator --bench plan_bench -- [prices]`
//!
//! The file is planned against an empty store, applied, and planned again: unchanged, and with a thousand other amounts. Each as a
//! provision file and as CSV. The response lists every entry.

use axum::body::Body;
use axum::http::{Request, header};
use hermod_domain::time::Timestamp;
use hermod_gateway::clock::Clock;
use hermod_gateway::gateway::{Gateway, load_catalogue};
use hermod_gateway::secrets::Pepper;
use hermod_gateway::secrets::operator_token::OperatorToken;
use hermod_gateway::workers::Workers;
use hermod_operator::http::OperatorApi;
use hermod_store::{OpenOptions, Store};
use http_body_util::BodyExt as _;
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

const TOKEN: &str = "a-token-for-measurements-of-plans";
const PRICES: usize = 100_000;
/// How many amounts differ in the changed files.
const CHANGED: usize = 1_000;
/// Each plan is measured so often; the fastest run is printed, and the slowest.
const RUNS: usize = 5;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let mut words = std::env::args().skip(1).filter(|word| !word.starts_with("--"));
    let prices = words.next().map_or(PRICES, |word| word.parse().expect("a number"));
    let folder = tempfile::tempdir().expect("a folder");
    let api = open(folder.path()).await;
    let files = |changed: usize| {
        let amount = |number: usize| if number < changed { "0.0351" } else { "0.035" };
        let toml = |number| {
            format!("[[price]]\nprefix = \"{}\"\nper_part = \"{}\"\n\n", prefix(number), amount(number))
        };
        let csv = |number| format!("{},{}\n", prefix(number), amount(number));
        let toml: String = (0..prices).map(toml).collect();
        let csv: String =
            std::iter::once("prefix,per_part\n".to_owned()).chain((0..prices).map(csv)).collect();
        [("TOML", "/apply", "application/toml", toml), ("CSV", "/prices.csv", "text/csv", csv)]
    };
    println!("{prices} prices, fastest and slowest of {RUNS}");
    for (what, changed, is_applied_before) in
        [("empty store", 0, false), ("nothing changes", 0, true), ("1,000 change", CHANGED, true)]
    {
        if is_applied_before && changed == 0 {
            let [(_, path, kind, file), _] = files(0);
            let (took, effects) = send(&api, path, kind, &file).await;
            println!("applied           {:>8.0} ms  {effects:?}", milliseconds(took));
        }
        for (form, path, kind, file) in files(changed) {
            let mut all = Vec::new();
            let mut found = BTreeMap::new();
            for _ in 0..RUNS {
                let (took, effects) = send(&api, &format!("{path}?dry_run=true"), kind, &file).await;
                all.push(took);
                found = effects;
            }
            all.sort_unstable();
            let [least, most] = [all[0], all[RUNS - 1]].map(milliseconds);
            let mib = file.len() >> 20;
            println!("{what:17} {least:>8.0} ms {most:>8.0} ms  {form}, {mib} MiB, {found:?}");
        }
    }
}

fn prefix(number: usize) -> String {
    format!("4{:07}", number)
}

#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn instant() -> Instant {
    Instant::now()
}

fn milliseconds(took: Duration) -> f64 {
    took.as_secs_f64() * 1000.0
}

async fn open(folder: &Path) -> OperatorApi {
    let now = Timestamp::parse("2026-06-15T12:00:00Z").expect("a time");
    let options = OpenOptions {
        folder: folder.to_owned(),
        server: None,
        low_water_bytes: 0,
        in_doubt_wait: Duration::from_secs(60),
        record: false,
        now,
    };
    let store = Store::open(&options).expect("the store opens");
    let pepper = Pepper::new(b"pepper");
    let catalogue = load_catalogue(&store).await.expect("the catalogue loads");
    let token = OperatorToken::new(&pepper, TOKEN);
    let validity = Duration::from_secs(3600);
    let gateway = Arc::new(Gateway::new(Clock::manual(now), store, pepper, catalogue, validity));
    OperatorApi::new(gateway, token, Workers::default())
}

/// Sends a file. Returns how long the response took, and how often it has each effect.
async fn send(api: &OperatorApi, path: &str, kind: &str, file: &str) -> (Duration, BTreeMap<String, usize>) {
    let request = Request::post(format!("/operator/v1{path}"))
        .header(header::AUTHORIZATION, format!("Bearer {TOKEN}"))
        .header(header::CONTENT_TYPE, kind)
        .body(Body::from(file.to_owned()))
        .expect("a request");
    let service = TowerToHyperService::new(api.clone().router());
    let begun = instant();
    let response = service.call(request).await.expect("a response");
    let status = response.status();
    let body = response.into_body().collect().await.expect("a whole response").to_bytes();
    let took = begun.elapsed();
    assert_eq!(status, 200, "{}", String::from_utf8_lossy(&body));
    let body: Value = serde_json::from_slice(&body).expect("JSON");
    let mut effects = BTreeMap::new();
    for change in body["changes"].as_array().into_iter().flatten() {
        *effects.entry(change["effect"].as_str().unwrap_or_default().to_owned()).or_default() += 1;
    }
    (took, effects)
}
