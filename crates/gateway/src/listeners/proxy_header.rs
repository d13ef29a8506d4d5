//! Reads the PROXY protocol header, version 2, which a load balancer sends before the connection's first octet. It is
//! read from trusted proxies only, and is then mandatory: without it all clients of the proxy would have one address.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use tokio::io::{AsyncRead, AsyncReadExt as _};

const SIGNATURE: [u8; 12] = *b"\r\n\r\n\0\r\nQUIT\n";
const HEAD_BYTES: usize = 16;
/// The most octets after the head: addresses and TLVs. The peer is not authenticated yet.
const REST_BYTES_MAX: usize = 2048;

const LOCAL: u8 = 0x20;
const PROXY: u8 = 0x21;
const TCP_OVER_V4: u8 = 0x11;
const TCP_OVER_V6: u8 = 0x21;
/// Addresses and two ports.
const V4_BYTES: usize = 12;
const V6_BYTES: usize = 36;
/// The TLV about TLS between client and proxy, and its bit for "client used TLS".
const TLV_SSL: u8 = 0x20;
const CALLER_USED_TLS: u8 = 0x01;

/// The client that a proxy forwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProxiedClient {
    /// None: a health check of the proxy itself.
    Itself,
    /// A client, and whether it used TLS to the proxy.
    Behind { address: IpAddr, tls: bool },
}

/// Why a connection from a proxy was closed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProxyHeaderError {
    #[error("missing PROXY header of version 2")]
    Missing,
    #[error("invalid PROXY header: the command is neither LOCAL nor PROXY")]
    Command,
    #[error("unsupported PROXY header: neither TCP over IPv4 nor over IPv6")]
    Family,
    #[error("invalid PROXY header length: {0} octets after the first 16")]
    Length(usize),
    #[error("could not read the PROXY header: {0}")]
    Lost(#[from] io::Error),
}

/// Reads exactly the header; the octets after it belong to the client.
pub(crate) async fn read_proxy_header(
    stream: &mut (impl AsyncRead + Unpin),
) -> Result<ProxiedClient, ProxyHeaderError> {
    let mut head = [0; HEAD_BYTES];
    stream.read_exact(&mut head).await?;
    let (kind, length) = read_head(head)?;
    let mut rest = vec![0; length];
    stream.read_exact(&mut rest).await?;
    Ok(kind.map_or(ProxiedClient::Itself, |kind| kind.caller(&rest)))
}

#[derive(Clone, Copy)]
enum Kind {
    V4,
    V6,
}

impl Kind {
    /// `rest` must be long enough for the kind.
    fn caller(self, rest: &[u8]) -> ProxiedClient {
        let (address, remarks) = match self {
            Kind::V4 => {
                let octets: [u8; 4] = rest[..4].try_into().expect("four octets");
                (IpAddr::V4(Ipv4Addr::from(octets)), &rest[V4_BYTES..])
            }
            Kind::V6 => {
                let octets: [u8; 16] = rest[..16].try_into().expect("sixteen octets");
                (IpAddr::V6(Ipv6Addr::from(octets)).to_canonical(), &rest[V6_BYTES..])
            }
        };
        ProxiedClient::Behind { address, tls: came_over_tls(remarks) }
    }
}

/// Returns the address kind (`None` for the proxy itself) and how many octets follow.
fn read_head(head: [u8; HEAD_BYTES]) -> Result<(Option<Kind>, usize), ProxyHeaderError> {
    let [.., command, family, high, low] = head;
    if head[..SIGNATURE.len()] != SIGNATURE {
        return Err(ProxyHeaderError::Missing);
    }
    let length = usize::from(u16::from_be_bytes([high, low]));
    let (kind, least) = match (command, family) {
        (LOCAL, _) => (None, 0),
        (PROXY, TCP_OVER_V4) => (Some(Kind::V4), V4_BYTES),
        (PROXY, TCP_OVER_V6) => (Some(Kind::V6), V6_BYTES),
        (PROXY, _) => return Err(ProxyHeaderError::Family),
        _ => return Err(ProxyHeaderError::Command),
    };
    if (least..=REST_BYTES_MAX).contains(&length) {
        return Ok((kind, length));
    }
    Err(ProxyHeaderError::Length(length))
}

/// Whether the TLVs say that the client used TLS. A truncated TLV counts as no.
fn came_over_tls(mut remarks: &[u8]) -> bool {
    while let [kind, high, low, rest @ ..] = remarks {
        let Some((value, further)) = rest.split_at_checked(usize::from(u16::from_be_bytes([*high, *low])))
        else {
            return false;
        };
        if *kind == TLV_SSL {
            return value.first().is_some_and(|client| client & CALLER_USED_TLS != 0);
        }
        remarks = further;
    }
    false
}

#[cfg(test)]
mod tests {
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
            (
                header(PROXY, TCP_OVER_V4, &V4[..11]),
                "invalid PROXY header length: 11 octets after the first 16",
            ),
            (header(PROXY, TCP_OVER_V6, V4), "invalid PROXY header length: 12 octets after the first 16"),
            (long, "invalid PROXY header length: 2049 octets after the first 16"),
            (SIGNATURE.to_vec(), "could not read the PROXY header: early eof"),
        ] {
            assert_eq!(read(&octets).await, expect, "{octets:?}");
        }
    }
}
