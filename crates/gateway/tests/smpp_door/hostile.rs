//! What is no SMPP, what is broken SMPP, and those who keep us waiting.

use crate::house::{House, PATIENCE, Stranger, bind, bind_from, header};
use hermod_gateway::clock::within;
use hermod_gateway::config::Network;
use hermod_smpp::{CommandId, CommandStatus};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::time::Instant;

const NACK: CommandId = CommandId::GENERIC_NACK;
const BAD_LENGTH: CommandStatus = CommandStatus::INVCMDLEN;

/// The beginning of a handshake of TLS 1.2, as scanners send it.
const CLIENT_HELLO: &[u8] = &[
    0x16, 0x03, 0x01, 0x00, 0x2e, 0x01, 0x00, 0x00, 0x2a, 0x03, 0x03, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06,
    0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d,
];

#[tokio::test]
async fn what_is_no_smpp_costs_one_nack_and_the_connection() {
    let house = House::open(|_| {}).await;
    let proxy = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xc0\0\x02\x07\x0a\0\0\x01\x30\x39\x0a\xd7";
    for octets in [
        &b"GET / HTTP/1.1\r\nHost: smpp.example\r\n\r\n"[..],
        CLIENT_HELLO,
        b"AMQP\x00\x00\x09\x01 and some more of it",
        b"SSH-2.0-OpenSSH_9.7\r\n",
        proxy,
    ] {
        let mut stranger = Stranger::at(house.plain).await;
        stranger.say(octets).await;
        let sequence = u32::from_be_bytes(octets[12..16].try_into().unwrap());
        assert_eq!(stranger.hears_all().await, [(NACK, BAD_LENGTH, sequence)], "{octets:?}");
        house.still_serves().await;
    }
    house.close().await;
}

#[tokio::test]
async fn lengths_that_no_pdu_has_are_nacked_and_nothing_is_set_aside_for_them() {
    let house = House::open(|_| {}).await;
    for length in [0, 1, 4, 15, 16_385, 1 << 31, u32::MAX - 1, u32::MAX] {
        let mut stranger = Stranger::at(house.plain).await;
        stranger.say(&header(length, CommandId::BIND_TRANSCEIVER, 9)).await;
        assert_eq!(stranger.hears_all().await, [(NACK, BAD_LENGTH, 9)], "{length}");
    }
    house.still_serves().await;
    house.close().await;
}

#[tokio::test]
async fn broken_binds_are_answered_and_ended() {
    let house = House::open(|_| {}).await;
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
        (bind("nobody", "secret08"), CommandStatus::INVPASWD),
    ] {
        let mut stranger = Stranger::at(house.plain).await;
        stranger.say(&octets).await;
        assert_eq!(stranger.hears_all().await, [(answer, expect, 7)], "{octets:?}");
    }
    let mut stranger = Stranger::at(house.plain).await;
    stranger.say(&flooded).await;
    assert_eq!(stranger.hears().await.unwrap().command, answer, "what stands behind a bind is passed by");
    house.still_serves().await;
    house.close().await;
}

#[tokio::test]
async fn before_a_bind_nothing_else_is_done() {
    let house = House::open(|_| {}).await;
    for (request, answer) in [
        (CommandId::SUBMIT_SM, CommandId::SUBMIT_SM_RESP),
        (CommandId::QUERY_SM, CommandId::QUERY_SM_RESP),
        (CommandId::DELIVER_SM, CommandId::DELIVER_SM_RESP),
    ] {
        let mut stranger = Stranger::at(house.plain).await;
        stranger.say(&header(16, request, 3)).await;
        let heard = stranger.hears().await.unwrap();
        assert_eq!((heard.command, heard.status), (answer, CommandStatus::INVBNDSTS), "{request:?}");
    }
    let mut stranger = Stranger::at(house.plain).await;
    stranger.say(&header(16, CommandId::ENQUIRE_LINK, 3)).await;
    assert_eq!(stranger.hears().await.unwrap().status, CommandStatus::OK);
    house.close().await;
}

/// How long until the other side ends it.
async fn ended_after(mut stranger: Stranger) -> Duration {
    let began = Instant::now();
    let heard = stranger.hears_all().await;
    assert!(heard.iter().all(|(command, ..)| *command == CommandId::UNBIND), "{heard:?}");
    began.elapsed()
}

#[tokio::test]
async fn nobody_keeps_us_waiting() {
    let house = House::open(|_| {}).await;
    // Nothing at all: the time to bind.
    let silent = ended_after(Stranger::at(house.plain).await).await;
    assert!((2..8).contains(&silent.as_secs()), "{silent:?}");
    // A PDU that never ends, an octet at a time.
    let mut slow = Stranger::at(house.plain).await;
    let began = Instant::now();
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
    within(PATIENCE, async { tokio::join!(dribbled, ended) }).await.expect("it is ended");
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    // A handshake that never comes.
    let sealed = ended_after(Stranger::at(house.sealed).await).await;
    assert!(sealed < Duration::from_secs(8), "{sealed:?}");
    house.still_serves().await;
    house.close().await;
}

#[tokio::test]
async fn plain_smpp_where_tls_is_spoken_gets_no_smpp_back() {
    let house = House::open(|_| {}).await;
    let mut stranger = Stranger::at(house.sealed).await;
    stranger.say(&bind("shop", "secret08")).await;
    let mut heard = Vec::new();
    let read = tokio::io::AsyncReadExt::read_to_end(&mut stranger.0, &mut heard);
    // A reset is as good an end as any.
    let _ = within(PATIENCE, read).await.expect("an end");
    assert!(heard.first().is_none_or(|kind| *kind == 0x15), "an alert of TLS, or nothing: {heard:?}");
    house.still_serves().await;
    house.close().await;
}

#[tokio::test]
async fn who_never_reads_is_let_go_and_nobody_else_notices() {
    let house = House::open(|_| {}).await;
    let mut greedy = Stranger::at(house.plain).await;
    greedy.say(&bind("shop", "secret08")).await;
    let many = header(16, CommandId::ENQUIRE_LINK, 1).repeat(4096);
    let pouring = async { while greedy.0.write_all(&many).await.is_ok() {} };
    within(Duration::from_secs(60), pouring).await.expect("the connection is ended");
    house.still_serves().await;
    house.close().await;
}

#[tokio::test]
async fn behind_a_proxy_the_address_it_names_counts() {
    let trusting = |config: &mut hermod_gateway::config::Config| {
        config.smpp.trusted_proxies = vec![Network::parse("127.0.0.1").unwrap()];
        config.smpp.max_sessions_per_address = 1;
    };
    let house = House::open(trusting).await;
    let named = |last: u8| bind_from(last, "shop", "secret08");
    let mut first = Stranger::at(house.plain).await;
    first.say(&named(1)).await;
    assert_eq!(first.hears().await.unwrap().status, CommandStatus::OK);
    let mut second = Stranger::at(house.plain).await;
    second.say(&named(1)).await;
    assert!(second.hears().await.is_none(), "as many as that address may have");
    let mut third = Stranger::at(house.plain).await;
    third.say(&named(2)).await;
    assert_eq!(third.hears().await.unwrap().status, CommandStatus::OK);
    let mut bare = Stranger::at(house.plain).await;
    bare.say(&bind("shop", "secret08")).await;
    assert!(bare.hears().await.is_none(), "a proxy that does not say for whom");
    house.close().await;
}
