//! Measures how long the operator API takes to plan a rate sheet, from the request to the response.
//!
//! `cargo bench -p hermod-operator --bench rates_bench -- [rows]`
//!
//! The sheet has a prefix in each row. It is planned against a carrier without costs, applied, and planned again: unchanged, and
//! with other prices in every tenth row. 100 accounts pay a general price, which the new costs exceed here and there.

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
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

const TOKEN: &str = "a-token-for-measurements-of-plans";
const ROWS: usize = 100_000;
const ACCOUNTS: usize = 100;
/// Each plan is measured so often; the fastest run is printed, and the slowest.
const RUNS: usize = 3;
const SHEETS: &str = "/carriers/north/rate-sheets";

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let mut words = std::env::args().skip(1).filter(|word| !word.starts_with("--"));
    let rows = words.next().map_or(ROWS, |word| word.parse().expect("a number"));
    let folder = tempfile::tempdir().expect("a folder");
    let api = open(folder.path()).await;
    let accounts =
        (0..ACCOUNTS).map(|number| format!("[[account]]\nname = \"shop-{number}\"\ncurrency = \"EUR\"\n"));
    let setup = "[[carrier]]\nname = \"north\"\naddress = \"127.0.0.1:1\"\nsystem_id = \"us\"\npassword = \"secret08\"\nwindow = 10\nrate = 100\n\
        [[price]]\nprefix = \"*\"\nper_part = \"0.05\"\n";
    send(&api, "/apply", "application/toml", &accounts.chain([setup.to_owned()]).collect::<String>()).await;
    let sheet = |changed: &str| {
        let price = |number: usize| if number.is_multiple_of(10) { changed } else { "0.035" };
        let row = |number: usize| format!("4{number:07};{};EUR;2026-07-01\n", price(number));
        let rows: String = (0..rows).map(row).collect();
        format!("Prefix;Price;Currency;From\n{rows}")
    };
    println!("{rows} rows, {ACCOUNTS} accounts, fastest and slowest of {RUNS}");
    measure(&api, "no costs yet", &sheet("0.035")).await;
    let (took, counts) = send(&api, &format!("{SHEETS}?apply=true"), "text/csv", &sheet("0.035")).await;
    println!("applied           {:>8.0} ms  {counts}", milliseconds(took));
    measure(&api, "nothing changes", &sheet("0.035")).await;
    measure(&api, "a tenth raised", &sheet("0.06")).await;
}

async fn measure(api: &OperatorApi, what: &str, sheet: &str) {
    let (mut all, mut found) = (Vec::new(), Value::Null);
    for _ in 0..RUNS {
        let (took, counts) = send(api, SHEETS, "text/csv", sheet).await;
        all.push(took);
        found = counts;
    }
    all.sort_unstable();
    let [least, most] = [all[0], all[RUNS - 1]].map(milliseconds);
    println!("{what:17} {least:>8.0} ms {most:>8.0} ms  {found}");
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

/// Sends a file. Returns how long the response took, and its counts.
async fn send(api: &OperatorApi, path: &str, kind: &str, file: &str) -> (Duration, Value) {
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
    (took, body["counts"].clone())
}
