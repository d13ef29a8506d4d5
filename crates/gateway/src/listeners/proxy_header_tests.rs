//! Unit tests of `proxy_header.rs`.

use super::*;

const V4: &[u8] = &[192, 0, 2, 7, 10, 0, 0, 1, 0x30, 0x39, 0x0a, 0xd7];

fn header(command: u8, family: u8, rest: &[u8]) -> Vec<u8> {
    let length = u16::try_from(rest.len()).unwrap().to_be_bytes();
    [&SIGNATURE[..], &[command, family], &length, rest].concat()
}

/// Describes the header, and the octets left for the session.
async fn read(octets: &[u8]) -> String {
    let mut stream = octets;
    match read_proxy_header(&mut stream).await {
        Ok(ProxiedClient::Itself) => format!("itself, {} left", stream.len()),
        Ok(ProxiedClient::Behind { address, tls }) => {
            format!("{address} tls={tls}, {} left", stream.len())
        }
        Err(fault) => fault.to_string(),
    }
}

#[tokio::test]
async fn header_names_the_client_and_leaves_the_following_octets() {
    let mut v6 = [0; 36];
    v6[..16].copy_from_slice(&"2001:db8::7".parse::<Ipv6Addr>().unwrap().octets());
    let mut mapped = [0; 36];
    mapped[..16].copy_from_slice(&"::ffff:192.0.2.7".parse::<Ipv6Addr>().unwrap().octets());
    let with = |remarks: &[u8]| [V4, remarks].concat();
    for (octets, expect) in [
        (header(PROXY, TCP_OVER_V4, V4), "192.0.2.7 tls=false, 0 left"),
        ([header(PROXY, TCP_OVER_V4, V4), b"bind".to_vec()].concat(), "192.0.2.7 tls=false, 4 left"),
        (header(PROXY, TCP_OVER_V6, &v6), "2001:db8::7 tls=false, 0 left"),
        (header(PROXY, TCP_OVER_V6, &mapped), "192.0.2.7 tls=false, 0 left"),
        (header(LOCAL, 0, &[]), "itself, 0 left"),
        (header(LOCAL, TCP_OVER_V4, V4), "itself, 0 left"),
        (
            header(PROXY, TCP_OVER_V4, &with(&[4, 0, 1, 9, 0x20, 0, 5, 1, 0, 0, 0, 0])),
            "192.0.2.7 tls=true, 0 left",
        ),
        (header(PROXY, TCP_OVER_V4, &with(&[0x20, 0, 5, 0, 0, 0, 0, 0])), "192.0.2.7 tls=false, 0 left"),
        (header(PROXY, TCP_OVER_V4, &with(&[0x20, 0xff, 0xff, 1])), "192.0.2.7 tls=false, 0 left"),
    ] {
        assert_eq!(read(&octets).await, expect, "{octets:?}");
    }
}

#[tokio::test]
async fn invalid_header_is_rejected() {
    let missing = "missing PROXY header of version 2";
    let long = header(PROXY, TCP_OVER_V4, &vec![0; REST_BYTES_MAX + 1]);
    for (octets, expect) in [
        (b"PROXY TCP4 192.0.2.7 10.0.0.1 1 2\r\n".to_vec(), missing),
        (vec![0, 0, 0, 16, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 1], missing),
        (header(0x11, TCP_OVER_V4, V4), "invalid PROXY header: the command is neither LOCAL nor PROXY"),
        (header(0x22, TCP_OVER_V4, V4), "invalid PROXY header: the command is neither LOCAL nor PROXY"),
        (header(PROXY, 0x12, V4), "unsupported PROXY header: neither TCP over IPv4 nor over IPv6"),
        (header(PROXY, 0x31, &[0; 216]), "unsupported PROXY header: neither TCP over IPv4 nor over IPv6"),
        (header(PROXY, TCP_OVER_V4, &V4[..11]), "invalid PROXY header length: 11 octets after the first 16"),
        (header(PROXY, TCP_OVER_V6, V4), "invalid PROXY header length: 12 octets after the first 16"),
        (long, "invalid PROXY header length: 2049 octets after the first 16"),
        (SIGNATURE.to_vec(), "could not read the PROXY header: early eof"),
    ] {
        assert_eq!(read(&octets).await, expect, "{octets:?}");
    }
}
