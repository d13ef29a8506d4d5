//! The HTTP load generator against the empty endpoint and misbehaving servers.

use std::collections::BTreeSet;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hermod_simulator::empty_http::EmptyHttp;
use hermod_simulator::load::http::{
    self, Bound, HttpAttempt, HttpLoadOptions, HttpMessages, HttpOutcome, HttpTarget, KeyMode, SendPace,
    Which,
};
use hermod_simulator::load::report::{HttpLoadReport, RequestFailure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const ANY_PORT: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

fn options(base_url: &str, bound: Bound) -> HttpLoadOptions {
    let target = HttpTarget::new(base_url, "key", "secret").expect("a good target");
    let keys = KeyMode::Prefixed("test".to_owned());
    let messages = HttpMessages::new(("+4915100000000", 1000), None, "hello ", keys).expect("good messages");
    let mut options = HttpLoadOptions::new(target, messages, bound);
    options.connections = 4;
    options
}

/// The observed attempts, in order.
type Seen = Arc<Mutex<Vec<(u64, String, Result<(u16, Option<String>), RequestFailure>)>>>;

fn observe(options: &mut HttpLoadOptions) -> Seen {
    let seen = Seen::default();
    let told = Arc::clone(&seen);
    options.observer = Some(Arc::new(move |attempt: &HttpAttempt<'_>| {
        let outcome = match attempt.outcome {
            HttpOutcome::Answered { status, message_id } => Ok((status, message_id.map(str::to_owned))),
            HttpOutcome::Failed(failure) => Err(failure),
        };
        let key = attempt.key.expect("these messages have keys").to_owned();
        told.lock().expect("no holder panics").push((attempt.index, key, outcome));
    }));
    seen
}

#[tokio::test]
async fn closed_loop_sends_exactly_its_count() {
    let server = EmptyHttp::start(ANY_PORT).await.unwrap();
    let mut options = options(&server.base_url(), Bound::requests(500));
    options.which = Which::From(100);
    let seen = observe(&mut options);

    let report = http::run(options).await.unwrap();

    assert_eq!((report.requests, report.answered, report.failed), (500, 500, 0));
    assert_eq!(report.count(202), 500);
    assert!(report.per_second > 0.0);
    assert!(report.latency.p50_us > 0 && report.latency.p50_us <= report.latency.max_us);
    let seen = std::mem::take(&mut *seen.lock().unwrap());
    let indices: BTreeSet<u64> = seen.iter().map(|(index, _, _)| *index).collect();
    assert_eq!(indices, (100..600).collect());
    for (index, key, outcome) in &seen {
        assert_eq!(key, &format!("test-{index:010}"));
        assert_eq!(outcome, &Ok((202, Some("288230376151711743".to_owned()))));
    }
    server.stop().await.unwrap();
}

#[tokio::test]
async fn each_message_of_a_list_is_sent_once() {
    let server = EmptyHttp::start(ANY_PORT).await.unwrap();
    let mut options = options(&server.base_url(), Bound::duration(Duration::from_secs(600)));
    options.which = Which::These([7, 3, 4711].into());
    let seen = observe(&mut options);

    let report = http::run(options).await.unwrap();

    assert_eq!(report.count(202), 3);
    let mut indices: Vec<u64> = seen.lock().unwrap().iter().map(|(index, _, _)| *index).collect();
    indices.sort_unstable();
    assert_eq!(indices, [3, 7, 4711]);
}

#[tokio::test]
async fn run_with_a_duration_ends_after_it() {
    let server = EmptyHttp::start(ANY_PORT).await.unwrap();
    let report =
        http::run(options(&server.base_url(), Bound::duration(Duration::from_millis(300)))).await.unwrap();
    assert!(report.answered > 0);
    assert!(report.duration_s >= 0.3, "{}", report.duration_s);
}

#[tokio::test]
async fn open_loop_keeps_its_rate() {
    let server = EmptyHttp::start(ANY_PORT).await.unwrap();
    let mut options = options(&server.base_url(), Bound::duration(Duration::from_secs(1)));
    options.pace = SendPace::OpenLoop { per_second: 400.0 };

    let report = http::run(options).await.unwrap();

    assert_eq!((report.requests, report.unsent, report.count(202)), (400, 0, 400));
    assert!(report.per_second < 405.0, "faster than its rate: {}", report.per_second);
    assert!(report.duration_s >= 0.99, "{}", report.duration_s);
}

/// A server that answers one request at a time, each after `pause`.
async fn slow_server(pause: Duration) -> SocketAddr {
    serve(move |mut stream| async move {
        let mut request = [0_u8; 4096];
        while stream.read(&mut request).await? > 0 {
            tokio::time::sleep_until(tokio::time::Instant::now() + pause).await;
            stream.write_all(b"HTTP/1.1 202 Accepted\r\ncontent-length: 2\r\n\r\n{}").await?;
        }
        Ok(())
    })
    .await
}

/// Serves connections one after the other, each with `talk`.
async fn serve<F>(talk: impl Fn(TcpStream) -> F + Send + 'static) -> SocketAddr
where
    F: Future<Output = io::Result<()>> + Send,
{
    let listener = TcpListener::bind(ANY_PORT).await.expect("a free port");
    let address = listener.local_addr().expect("a bound socket has an address");
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let _ = talk(stream).await;
        }
    });
    tasks.detach_all();
    address
}

#[tokio::test]
async fn open_loop_latency_includes_the_wait_behind_a_slow_server() {
    let address = slow_server(Duration::from_millis(20)).await;
    let mut options = options(&format!("http://{address}/api/v1"), Bound::requests(50));
    options.connections = 1;
    options.pace = SendPace::OpenLoop { per_second: 500.0 };

    let report = http::run(options).await.unwrap();

    assert_eq!(report.answered, 50);
    // The last message was due after 0.1 s and answered after 1 s at the earliest.
    assert!(report.latency.max_us > 800_000, "{:?}", report.latency);
}

#[tokio::test]
async fn open_loop_that_falls_behind_ends_and_reports_unsent_requests() {
    let address = slow_server(Duration::from_millis(20)).await;
    let mut options =
        options(&format!("http://{address}/api/v1"), Bound::duration(Duration::from_millis(200)));
    options.connections = 1;
    options.pace = SendPace::OpenLoop { per_second: 1000.0 };
    options.response_wait_max = Duration::from_millis(300);

    let report = http::run(options).await.unwrap();

    assert_eq!(report.requests + report.unsent, 200);
    assert!(report.unsent > 100, "{report:?}");
}

#[track_caller]
fn check_failures(report: &HttpLoadReport, failure: RequestFailure, count: u64) {
    assert_eq!(report.failures.get(&failure), Some(&count), "{report:?}");
    assert_eq!((report.answered, report.failed), (0, count), "{report:?}");
}

#[tokio::test]
async fn run_without_a_server_ends_with_connect_errors() {
    let closed_port = {
        let listener = TcpListener::bind(ANY_PORT).await.unwrap();
        listener.local_addr().unwrap()
    };
    let mut options = options(&format!("http://{closed_port}/api/v1"), Bound::requests(6));
    options.connect_wait_max = Duration::from_millis(50);
    check_failures(&http::run(options).await.unwrap(), RequestFailure::Connect, 6);
}

#[tokio::test]
async fn server_that_closes_a_connection_fails_one_request() {
    let address = serve(|mut stream| async move {
        let mut request = [0_u8; 4096];
        stream.read(&mut request).await.map(|_| ())
    })
    .await;
    let options = options(&format!("http://{address}/api/v1"), Bound::requests(6));
    check_failures(&http::run(options).await.unwrap(), RequestFailure::Closed, 6);
}

#[tokio::test]
async fn server_without_a_response_times_out() {
    let address = slow_server(Duration::from_secs(3600)).await;
    let mut options = options(&format!("http://{address}/api/v1"), Bound::requests(2));
    options.connections = 1;
    options.response_wait_max = Duration::from_millis(50);
    check_failures(&http::run(options).await.unwrap(), RequestFailure::Timeout, 2);
}

#[tokio::test]
async fn response_that_is_not_http_is_counted_as_bad() {
    let address = serve(|mut stream| async move {
        let mut request = [0_u8; 4096];
        let _whole = stream.read(&mut request).await?;
        stream.write_all(b"\x00\x00\x00\x10 this is something else\r\n\r\n").await
    })
    .await;
    let options = options(&format!("http://{address}/api/v1"), Bound::requests(2));
    check_failures(&http::run(options).await.unwrap(), RequestFailure::BadAnswer, 2);
}

#[tokio::test]
async fn response_delimited_by_the_close_is_counted() {
    let address = serve(|mut stream| async move {
        let mut request = [0_u8; 4096];
        let _whole = stream.read(&mut request).await?;
        let answer = b"HTTP/1.1 429 Too Many Requests\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}";
        stream.write_all(answer).await
    })
    .await;
    let report = http::run(options(&format!("http://{address}/api/v1"), Bound::requests(6))).await.unwrap();
    assert_eq!((report.count(429), report.failed), (6, 0), "{report:?}");
}

#[tokio::test]
async fn stopped_run_ends_early_with_a_report() {
    let server = EmptyHttp::start(ANY_PORT).await.unwrap();
    let run =
        http::start(options(&server.base_url(), Bound::duration(Duration::from_secs(600)))).await.unwrap();
    let (live, stopper) = (run.live(), run.stopper());
    while live.answered() < 10 {
        tokio::task::yield_now().await;
    }
    stopper.stop();
    let report = run.finish().await;
    assert!(report.answered >= 10 && report.failed == 0, "{report:?}");
}
