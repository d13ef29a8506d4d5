//! The webhook receiver: it records posts and misbehaves as configured.

use crate::esme::{PATIENCE, within};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use hermod_simulator::webhooks::{ReceiverBehaviour, WebhookReceiver};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const NEVER: Duration = Duration::from_millis(300);

fn start(behaviour: ReceiverBehaviour) -> WebhookReceiver {
    WebhookReceiver::start(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), behaviour, None).expect("a free port")
}

async fn post(webhooks: &WebhookReceiver) -> TcpStream {
    let mut stream = TcpStream::connect(webhooks.address()).await.expect("it listens");
    let request = "POST /dlr HTTP/1.1\r\nHost: x\r\nWebhook-Id: evt_1\r\nContent-Length: 2\r\n\r\n{}";
    stream.write_all(request.as_bytes()).await.expect("it reads");
    stream
}

/// Returns the octets received within this time.
async fn answer(stream: &mut TcpStream, wait: Duration) -> String {
    let mut answer = [0; 2048];
    match within(wait, stream.read(&mut answer)).await {
        Ok(Ok(read)) => String::from_utf8_lossy(&answer[..read]).into_owned(),
        Ok(Err(error)) => error.kind().to_string(),
        Err(_) => "silence".to_owned(),
    }
}

#[tokio::test]
async fn post_is_recorded_and_the_connection_stays_open() {
    let webhooks = start(ReceiverBehaviour::Status(200));
    let mut stream = post(&webhooks).await;
    assert!(answer(&mut stream, PATIENCE).await.starts_with("HTTP/1.1 200 "));
    webhooks.set_behaviour(ReceiverBehaviour::Status(503));
    stream.write_all(b"POST /again HTTP/1.1\r\ncontent-length: 0\r\n\r\n").await.expect("it reads");
    assert!(answer(&mut stream, PATIENCE).await.starts_with("HTTP/1.1 503 "));
    let post = webhooks.wait_for(2, PATIENCE).await;
    let seen: Vec<_> = post.iter().map(|post| (post.path.as_str(), &post.body[..])).collect();
    assert_eq!(seen, [("/dlr", b"{}".as_slice()), ("/again", b"")]);
    assert_eq!((post[0].header("webhook-id"), webhooks.connections()), (Some("evt_1"), 1));
    webhooks.stop().await;
}

#[tokio::test]
async fn receiver_misbehaves_as_configured() {
    for (behaviour, expect) in [
        (ReceiverBehaviour::Hang, "silence"),
        (ReceiverBehaviour::Deaf, "silence"),
        (ReceiverBehaviour::Drip, "H"),
        (ReceiverBehaviour::Reset, "connection reset"),
        (ReceiverBehaviour::Garbage, "\0\u{1}\u{2} this is not HTTP\r\n\r\n"),
        (
            ReceiverBehaviour::Redirect("http://elsewhere/".to_owned()),
            "HTTP/1.1 307 .\r\nlocation: http://elsewhere/\r\n",
        ),
        (ReceiverBehaviour::Endless, "HTTP/1.1 200 .\r\ntransfer-encoding: chunked\r\n"),
    ] {
        let webhooks = start(behaviour.clone());
        let mut stream = post(&webhooks).await;
        let wait = if expect == "silence" { NEVER } else { PATIENCE };
        let answer = answer(&mut stream, wait).await;
        assert!(answer.starts_with(expect), "{behaviour}: {answer:?}");
        webhooks.stop().await;
    }
}
