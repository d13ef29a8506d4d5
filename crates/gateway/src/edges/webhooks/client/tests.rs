//! Tests of posts to well-behaved and broken receivers, over real sockets.

use super::*;
use hermod_domain::retry::Schedule;
use hermod_simulator::carrier::ServerTls;
use hermod_simulator::webhooks::{ReceiverBehaviour, WebhookReceiver};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

const SECOND: Duration = Duration::from_secs(1);
/// For what must happen: it only bounds a hang.
const PATIENCE: Duration = Duration::from_secs(300);

fn settings() -> WebhookSettings {
    let rules = AddressRules { allow_http: true, allow: vec!["127.0.0.0/8".parse().unwrap()] };
    WebhookSettings {
        rules,
        connect_max: PATIENCE,
        call_max: PATIENCE,
        schedule: Schedule::after_failed_post(&[]),
        ca: None,
        posts_max: 10,
        resolver: Resolver::system(),
    }
}

fn client(settings: &WebhookSettings) -> WebhookClient {
    WebhookClient::new(settings, Clock::real(), Workers::default())
}

fn receiver(manner: ReceiverBehaviour) -> WebhookReceiver {
    WebhookReceiver::start(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), manner, None).unwrap()
}

fn draft(body: &'static str) -> PostDraft {
    let target = Uri::from_static("/hook?x=1");
    PostDraft { target, headers: HeaderMap::new(), body: Bytes::from_static(body.as_bytes()) }
}

async fn post(client: &WebhookClient, pool: &Pool, url: &str) -> PostResult {
    let url = WebhookUrl::parse(url).unwrap();
    client.post(&url, pool, &draft("{}"), false).await
}

/// Posts once to a receiver of this kind. Returns the outcome, and how many bytes of its response were kept.
async fn outcome_of(manner: ReceiverBehaviour) -> (String, usize) {
    let never = [ReceiverBehaviour::Hang, ReceiverBehaviour::Deaf, ReceiverBehaviour::Drip].contains(&manner);
    let settings = WebhookSettings { call_max: if never { 2 * SECOND } else { PATIENCE }, ..settings() };
    let hooks = receiver(manner);
    let PostResult { outcome, kept } = post(&client(&settings), &Pool::default(), &hooks.url("")).await;
    hooks.stop().await;
    let actual = match outcome {
        AttemptOutcome::Status(status) => status.to_string(),
        AttemptOutcome::Failed(sentence) => sentence,
    };
    (actual, kept.len())
}

#[tokio::test]
async fn each_receiver_behaviour_has_its_outcome() {
    for (manner, expect, kept) in [
        (ReceiverBehaviour::Status(200), "200", 2),
        (ReceiverBehaviour::Status(204), "204", 0),
        (ReceiverBehaviour::Status(500), "500", 2),
        (ReceiverBehaviour::Redirect("http://169.254.169.254/".to_owned()), "307", 2),
        (ReceiverBehaviour::Hang, "timed out after 2 s", 0),
        (ReceiverBehaviour::Deaf, "timed out after 2 s", 0),
        (ReceiverBehaviour::Drip, "timed out after 2 s", 0),
        (ReceiverBehaviour::Endless, "200", RESPONSE_KEPT_BYTES_MAX),
    ] {
        let shown = manner.to_string();
        assert_eq!(outcome_of(manner).await, (expect.to_owned(), kept), "{shown}");
    }
    for manner in [ReceiverBehaviour::Reset, ReceiverBehaviour::Garbage] {
        let (actual, kept) = outcome_of(manner).await;
        assert!(actual.contains("the connection was lost") || actual.contains("not HTTP"), "{actual}");
        assert_eq!(kept, 0);
    }
}

#[tokio::test]
async fn status_counts_even_if_the_body_never_arrives() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let stuck = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut asked = [0; 16];
        stream.read_exact(&mut asked).await.unwrap();
        stream.write_all(b"HTTP/1.1 202 Accepted\r\ncontent-length: 9\r\n\r\nsome").await.unwrap();
        std::future::pending::<()>().await;
    };
    // The call timeout is shorter than the body timeout.
    let settings = WebhookSettings { call_max: SECOND, ..settings() };
    let (client, pool) = (client(&settings), Pool::default());
    let answered = tokio::select! {
        answered = post(&client, &pool, &url) => answered,
        () = stuck => panic!("the server never ends"),
    };
    assert_eq!((answered.outcome, answered.kept), (AttemptOutcome::Status(202), b"some".to_vec()));
    assert!(pool.is_empty(), "the connection is not used again");
}

#[tokio::test]
async fn connection_is_reused_until_keep_alive_expires() {
    let hooks = receiver(ReceiverBehaviour::Status(200));
    let clock = Clock::manual(hermod_domain::time::Timestamp::EPOCH);
    let client = WebhookClient::new(&settings(), clock.clone(), Workers::default());
    let pool = Pool::default();
    for _ in 0..3 {
        post(&client, &pool, &hooks.url("")).await;
    }
    assert_eq!((hooks.count(), hooks.connections()), (3, 1));
    clock.advance(KEEP_ALIVE);
    post(&client, &pool, &hooks.url("")).await;
    assert_eq!((hooks.count(), hooks.connections()), (4, 2), "the name is resolved again");
    hooks.stop().await;
}

#[tokio::test]
async fn request_on_a_pooled_connection_that_was_closed_before_is_sent_on_a_new_one() {
    let hooks = receiver(ReceiverBehaviour::Status(200));
    let (client, pool, url) = (client(&settings()), Pool::default(), hooks.url(""));
    let address = hooks.address();
    post(&client, &pool, &url).await;
    let mut kept = pool.take(client.clock.moment()).expect("an idle connection");
    hooks.stop().await;
    while kept.is_usable(client.clock.moment()) {
        tokio::task::yield_now().await;
    }
    let failure = kept.ask(draft("{}").request()).await.expect_err("it is closed");
    assert!(failure.unsent, "{}", failure.sentence);
    let hooks = WebhookReceiver::start(address, ReceiverBehaviour::Status(200), None).unwrap();
    let PostResult { outcome, .. } = post(&client, &pool, &url).await;
    assert_eq!(outcome, AttemptOutcome::Status(200));
    hooks.stop().await;
}

/// Reads one request: its head, and a body of two octets.
async fn read_request(stream: &mut tokio::net::TcpStream) {
    use tokio::io::AsyncReadExt as _;
    let mut read = Vec::new();
    while !read.ends_with(b"\r\n\r\n{}") {
        assert_ne!(stream.read_buf(&mut read).await.unwrap(), 0, "the whole request");
    }
}

#[tokio::test]
async fn request_that_the_receiver_read_before_it_closed_is_not_sent_again() {
    use tokio::io::AsyncWriteExt as _;
    let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let receiver = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.unwrap();
        read_request(&mut stream).await;
        drop(stream);
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await;
    };
    let (client, pool) = (client(&settings()), Pool::default());
    let posts = async {
        let first = post(&client, &pool, &url).await;
        assert_eq!(first.outcome, AttemptOutcome::Status(200));
        assert!(!pool.is_empty(), "the connection is kept");
        post(&client, &pool, &url).await
    };
    let second = tokio::select! {
        biased;
        () = receiver => panic!("the receiver read the request a second time"),
        second = posts => second,
    };
    let AttemptOutcome::Failed(sentence) = second.outcome else { panic!("{:?}", second.outcome) };
    assert!(sentence.contains("the connection was lost before the response"), "{sentence}");
}

#[tokio::test]
async fn endless_response_closes_its_connection() {
    let hooks = receiver(ReceiverBehaviour::Endless);
    let (client, pool) = (client(&settings()), Pool::default());
    for _ in 0..2 {
        post(&client, &pool, &hooks.url("")).await;
    }
    assert_eq!(hooks.connections(), 2);
    assert!(pool.is_empty());
    hooks.stop().await;
}

/// Posts to a name that resolves to these lists in turn. Returns the outcomes, and how many posts arrived.
async fn resolved(answers: Vec<Vec<IpAddr>>, posts: usize) -> (Vec<String>, u64) {
    let hooks = receiver(ReceiverBehaviour::Status(200));
    let asked = AtomicUsize::new(0);
    let resolver = Resolver::scripted(move |name| {
        assert_eq!(name, "rebinding.example");
        let place = asked.fetch_add(1, Ordering::Relaxed);
        answers.get(place).or(answers.last()).cloned().unwrap_or_default()
    });
    let mut settings = settings().resolved_by(resolver);
    // Only this address is allowed, as a public one would be.
    settings.rules.allow = vec!["127.0.0.1/32".parse().unwrap()];
    let client = client(&settings);
    let url = format!("http://rebinding.example:{}/", hooks.address().port());
    let mut actual = Vec::new();
    for _ in 0..posts {
        // A new pool each time: a pooled connection would not resolve the name.
        actual.push(match post(&client, &Pool::default(), &url).await.outcome {
            AttemptOutcome::Status(status) => status.to_string(),
            AttemptOutcome::Failed(sentence) => sentence,
        });
    }
    let count = hooks.count();
    hooks.stop().await;
    (actual, count)
}

#[tokio::test]
async fn name_with_a_forbidden_address_is_not_connected() {
    let good: IpAddr = Ipv4Addr::LOCALHOST.into();
    let inside: IpAddr = Ipv4Addr::new(127, 0, 0, 2).into();
    let (actual, calls) = resolved(vec![vec![good], vec![inside], vec![good]], 3).await;
    let rejected = "rebinding.example resolves to an address that must not be called";
    assert_eq!(actual, ["200", rejected, "200"], "the address is not told");
    assert_eq!(calls, 2);
    let (actual, calls) = resolved(vec![vec![good, inside]], 1).await;
    assert_eq!(actual, [rejected], "one forbidden address rejects the name");
    assert_eq!(calls, 0);
    let (actual, _) = resolved(vec![vec![]], 1).await;
    assert_eq!(actual, ["the name has no address"]);
}

#[tokio::test]
async fn forbidden_address_is_not_connected() {
    let hooks = receiver(ReceiverBehaviour::Status(200));
    let mut settings = settings();
    settings.rules.allow.clear();
    let PostResult { outcome, .. } = post(&client(&settings), &Pool::default(), &hooks.url("")).await;
    assert_eq!(
        outcome,
        AttemptOutcome::Failed("127.0.0.1 must not be called: it is a loopback address".to_owned())
    );
    assert_eq!(hooks.connections(), 0);
    hooks.stop().await;
}

#[tokio::test]
async fn closed_port_fails_at_once() {
    let gone = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
    let answered = post(&client(&settings()), &Pool::default(), &format!("http://{gone}/")).await;
    let AttemptOutcome::Failed(sentence) = answered.outcome else { panic!("the port is closed") };
    assert!(sentence.contains("cannot be reached"), "{sentence}");
}

/// A receiver with a certificate for this name, and the file of the authority that signed it.
fn with_certificate(folder: &Path, name: &str) -> (WebhookReceiver, PathBuf) {
    let mut authority = CertificateParams::new(vec![]).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority_key = KeyPair::generate().unwrap();
    let file = folder.join("ca.pem");
    std::fs::write(&file, authority.self_signed(&authority_key).unwrap().pem()).unwrap();
    let issuer = Issuer::new(authority, authority_key);
    let key = KeyPair::generate().unwrap();
    let certificate =
        CertificateParams::new(vec![name.to_owned()]).unwrap().signed_by(&key, &issuer).unwrap();
    let tls = ServerTls::from_pem(certificate.pem().as_bytes(), key.serialize_pem().as_bytes()).unwrap();
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    (WebhookReceiver::start(listen, ReceiverBehaviour::Status(200), Some(&tls)).unwrap(), file)
}

#[tokio::test]
async fn receiver_certificate_must_be_trusted_for_its_name() {
    let folder = tempfile::tempdir().unwrap();
    for (name, trusted, expect) in
        [("127.0.0.1", true, "200"), ("127.0.0.1", false, "handshake"), ("other.example", true, "handshake")]
    {
        let (hooks, file) = with_certificate(folder.path(), name);
        let settings = WebhookSettings { ca: trusted.then_some(file), ..settings() };
        let actual = match post(&client(&settings), &Pool::default(), &hooks.url("")).await.outcome {
            AttemptOutcome::Status(status) => status.to_string(),
            AttemptOutcome::Failed(sentence) => sentence,
        };
        assert!(actual.contains(expect), "{name}, trusted {trusted}: {actual}");
        assert_eq!(hooks.count(), u64::from(expect == "200"));
        hooks.stop().await;
    }
}

#[tokio::test]
async fn unreadable_authorities_are_read_again_at_the_next_post() {
    let folder = tempfile::tempdir().unwrap();
    let (hooks, file) = with_certificate(folder.path(), "127.0.0.1");
    let away = folder.path().join("away.pem");
    std::fs::rename(&file, &away).unwrap();
    let client = client(&WebhookSettings { ca: Some(file.clone()), ..settings() });
    let AttemptOutcome::Failed(sentence) = post(&client, &Pool::default(), &hooks.url("")).await.outcome
    else {
        panic!("no certificate can be checked")
    };
    assert!(sentence.contains("cannot read its certificate authorities"), "{sentence}");
    assert_eq!(hooks.connections(), 0, "no connection is made");
    std::fs::rename(&away, &file).unwrap();
    for _ in 0..2 {
        let outcome = post(&client, &Pool::default(), &hooks.url("")).await.outcome;
        assert_eq!(outcome, AttemptOutcome::Status(200));
    }
    hooks.stop().await;
}

#[tokio::test]
async fn receiver_without_tls_gets_no_request() {
    let hooks = receiver(ReceiverBehaviour::Status(200));
    let url = hooks.url("").replace("http://", "https://");
    // The receiver waits for the rest of what it takes for a request.
    let settings = WebhookSettings { connect_max: SECOND, call_max: 2 * SECOND, ..settings() };
    let AttemptOutcome::Failed(sentence) = post(&client(&settings), &Pool::default(), &url).await.outcome
    else {
        panic!("there is no TLS")
    };
    assert!(sentence.contains("TLS handshake") || sentence.contains("timed out"), "{sentence}");
    assert_eq!(hooks.count(), 0);
    hooks.stop().await;
}
