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
#[path = "proxy_header_tests.rs"]
mod tests;
