//! Connections that send no SMPP, invalid SMPP, or nothing.

use crate::fixture::{PATIENCE, RawClient, TestGateway, bind, bind_from, header, impatient};
use hermod_gateway::clock::within;
use hermod_gateway::config::{IpNetwork, ShutdownSection};
use hermod_smpp::{CommandId, CommandStatus};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::time::Instant;

const NACK: CommandId = CommandId::GENERIC_NACK;
const BAD_LENGTH: CommandStatus = CommandStatus::INVCMDLEN;

/// The beginning of a TLS 1.2 ClientHello.
const CLIENT_HELLO: &[u8] = &[
    0x16, 0x03, 0x01, 0x00, 0x2e, 0x01, 0x00, 0x00, 0x2a, 0x03, 0x03, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06,
    0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d,
];

#[tokio::test]
async fn other_protocols_get_one_generic_nack_and_a_close() {
    let gateway = TestGateway::open(|_| {}).await;
    let proxy = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xc0\0\x02\x07\x0a\0\0\x01\x30\x39\x0a\xd7";
    for octets in [
        &b"GET / HTTP/1.1\r\nHost: smpp.example\r\n\r\n"[..],
        CLIENT_HELLO,
        b"AMQP\x00\x00\x09\x01 and some more of it",
        b"SSH-2.0-OpenSSH_9.7\r\n",
        proxy,
    ] {
        let mut client = RawClient::at(gateway.plain).await;
        client.write(octets).await;
        let sequence = u32::from_be_bytes(octets[12..16].try_into().unwrap());
        assert_eq!(client.read_headers().await, [(NACK, BAD_LENGTH, sequence)], "{octets:?}");
        gateway.assert_still_serving().await;
    }
    gateway.close().await;
}

#[tokio::test]
async fn silent_connections_end_at_once_if_the_gateway_stops_without_a_wait() {
    // A stop that waited for the timeout of binds would last longer than the test.
    let gateway = TestGateway::open(|config| config.shutdown = ShutdownSection::AT_ONCE).await;
    let mut silent = Vec::new();
    for _ in 0..50 {
        silent.push(RawClient::at(gateway.plain).await);
    }
    gateway.assert_still_serving().await;
    gateway.close().await;
}

#[tokio::test]
async fn invalid_command_length_gets_a_generic_nack_without_allocation() {
    let gateway = TestGateway::open(|_| {}).await;
    for length in [0, 1, 4, 15, 16_385, 1 << 31, u32::MAX - 1, u32::MAX] {
        let mut client = RawClient::at(gateway.plain).await;
        client.write(&header(length, CommandId::BIND_TRANSCEIVER, 9)).await;
        assert_eq!(client.read_headers().await, [(NACK, BAD_LENGTH, 9)], "{length}");
    }
    gateway.assert_still_serving().await;
    gateway.close().await;
}

#[tokio::test]
async fn malformed_binds_are_answered_and_closed() {
    let gateway = TestGateway::open(|_| {}).await;
    let whole = bind("shop", "secret08");
    let cut = |to: usize| {
        let mut cut = whole[..to].to_vec();
        cut[..4].copy_from_slice(&u32::try_from(to).unwrap().to_be_bytes());
        cut
    };
    let flooded = {
        let mut flooded = [whole.clone(), vec![0xff; 16_000 - whole.len()]].concat();
        flooded[..4].copy_from_slice(&16_000_u32.to_be_bytes());
        flooded
    };
    let answer = CommandId::BIND_TRANSCEIVER_RESP;
    for (octets, expect) in [
        (cut(16), CommandStatus::INVCMDLEN),
        (cut(18), CommandStatus::INVCMDLEN),
        (cut(whole.len() - 1), CommandStatus::INVCMDLEN),
        (bind("", "secret08"), CommandStatus::INVSYSID),
        (bind("unknown", "secret08"), CommandStatus::INVPASWD),
    ] {
        let mut client = RawClient::at(gateway.plain).await;
        client.write(&octets).await;
        assert_eq!(client.read_headers().await, [(answer, expect, 7)], "{octets:?}");
    }
    let mut client = RawClient::at(gateway.plain).await;
    client.write(&flooded).await;
    assert_eq!(client.read_header().await.unwrap().command, answer, "octets after the bind are ignored");
    gateway.assert_still_serving().await;
    gateway.close().await;
}

#[tokio::test]
async fn requests_before_a_bind_are_rejected() {
    let gateway = TestGateway::open(|_| {}).await;
    for (request, answer) in [
        (CommandId::SUBMIT_SM, CommandId::SUBMIT_SM_RESP),
        (CommandId::QUERY_SM, CommandId::QUERY_SM_RESP),
        (CommandId::DELIVER_SM, CommandId::DELIVER_SM_RESP),
    ] {
        let mut client = RawClient::at(gateway.plain).await;
        client.write(&header(16, request, 3)).await;
        let read = client.read_header().await.unwrap();
        assert_eq!((read.command, read.status), (answer, CommandStatus::INVBNDSTS), "{request:?}");
    }
    let mut client = RawClient::at(gateway.plain).await;
    client.write(&header(16, CommandId::ENQUIRE_LINK, 3)).await;
    assert_eq!(client.read_header().await.unwrap().status, CommandStatus::OK);
    gateway.close().await;
}

/// Returns the time until the gateway closes the connection.
async fn ended_after(mut client: RawClient) -> Duration {
    let began = Instant::now();
    let read = client.read_headers().await;
    assert!(read.iter().all(|(command, ..)| *command == CommandId::UNBIND), "{read:?}");
    began.elapsed()
}

#[tokio::test]
async fn silent_and_trickling_connections_are_closed() {
    let gateway = TestGateway::open(impatient).await;
    // No octets at all: the bind timeout applies.
    let silent = ended_after(RawClient::at(gateway.plain).await).await;
    assert!(silent.as_secs() >= 2, "{silent:?}");
    // An incomplete PDU, one octet at a time.
    let mut slow = RawClient::at(gateway.plain).await;
    let (mut read, mut write) = slow.0.split();
    let dribbled = async {
        for octet in bind("shop", "secret08") {
            if write.write_all(&[octet]).await.is_err() {
                break;
            }
            tokio::time::sleep_until(Instant::now() + Duration::from_millis(100)).await;
        }
    };
    let ended = async {
        let mut unread = [0; 64];
        while tokio::io::AsyncReadExt::read(&mut read, &mut unread).await.is_ok_and(|count| count > 0) {}
    };
    within(PATIENCE, async { tokio::join!(dribbled, ended) }).await.expect("the connection is closed");
    // No TLS handshake.
    ended_after(RawClient::at(gateway.sealed).await).await;
    gateway.assert_still_serving().await;
    gateway.close().await;
}

#[tokio::test]
async fn plain_smpp_on_the_tls_port_gets_no_smpp_response() {
    let gateway = TestGateway::open(|_| {}).await;
    let mut client = RawClient::at(gateway.sealed).await;
    client.write(&bind("shop", "secret08")).await;
    let mut octets = Vec::new();
    let read = tokio::io::AsyncReadExt::read_to_end(&mut client.0, &mut octets);
    // A reset counts as a close.
    let _ = within(PATIENCE, read).await.expect("an end");
    assert!(octets.first().is_none_or(|kind| *kind == 0x15), "a TLS alert, or nothing: {octets:?}");
    gateway.assert_still_serving().await;
    gateway.close().await;
}

#[tokio::test]
async fn client_that_never_reads_is_closed_and_others_are_served() {
    let gateway = TestGateway::open(impatient).await;
    let mut greedy = RawClient::at(gateway.plain).await;
    greedy.write(&bind("shop", "secret08")).await;
    let many = header(16, CommandId::ENQUIRE_LINK, 1).repeat(4096);
    let pouring = async { while greedy.0.write_all(&many).await.is_ok() {} };
    within(PATIENCE, pouring).await.expect("the connection is closed");
    gateway.assert_still_serving().await;
    gateway.close().await;
}

#[tokio::test]
async fn address_in_the_proxy_header_of_a_trusted_proxy_counts() {
    let trusting = |config: &mut hermod_gateway::config::Config| {
        config.smpp.trusted_proxies = vec![IpNetwork::parse("127.0.0.1").unwrap()];
        config.smpp.max_sessions_per_address = 1;
    };
    let gateway = TestGateway::open(trusting).await;
    let named = |last: u8| bind_from(last, "shop", "secret08");
    let mut first = RawClient::at(gateway.plain).await;
    first.write(&named(1)).await;
    assert_eq!(first.read_header().await.unwrap().status, CommandStatus::OK);
    let mut second = RawClient::at(gateway.plain).await;
    second.write(&named(1)).await;
    assert!(second.read_header().await.is_none(), "the limit of that address is reached");
    let mut third = RawClient::at(gateway.plain).await;
    third.write(&named(2)).await;
    assert_eq!(third.read_header().await.unwrap().status, CommandStatus::OK);
    let mut bare = RawClient::at(gateway.plain).await;
    bare.write(&bind("shop", "secret08")).await;
    assert!(bare.read_header().await.is_none(), "a proxy without a PROXY header is rejected");
    gateway.close().await;
}
