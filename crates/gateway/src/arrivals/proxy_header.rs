//! The PROXY protocol, version 2: what a load balancer says before a connection's first octet about who is behind it.
//! Only whoever is configured as a proxy is read this way, and then it must say it: a proxy that passes a connection on
//! silently would make all its callers one address.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use tokio::io::{AsyncRead, AsyncReadExt as _};

const SIGNATURE: [u8; 12] = *b"\r\n\r\n\0\r\nQUIT\n";
const HEAD_BYTES: usize = 16;
/// Addresses and a proxy's own remarks. They are told before anybody has proven anything.
const REST_BYTES_MAX: usize = 2048;

const LOCAL: u8 = 0x20;
const PROXY: u8 = 0x21;
const TCP_OVER_V4: u8 = 0x11;
const TCP_OVER_V6: u8 = 0x21;
/// Addresses and two ports.
const V4_BYTES: usize = 12;
const V6_BYTES: usize = 36;
/// The remark about TLS between the caller and the proxy, and the bit that says there is some.
const REMARK_TLS: u8 = 0x20;
const CALLER_USED_TLS: u8 = 0x01;

/// Who a proxy speaks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    /// Nobody: it asks for itself whether we are well.
    Itself,
    /// Somebody there, who came to the proxy over TLS or not.
    Behind { address: IpAddr, tls: bool },
}

/// Why a connection from a proxy is over before it began.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProxyHeaderError {
    #[error("it does not begin with a PROXY header of version 2")]
    Missing,
    #[error("its PROXY header says neither LOCAL nor PROXY")]
    Command,
    #[error("its PROXY header is about neither TCP over IPv4 nor over IPv6")]
    Family,
    #[error("its PROXY header has {0} octets after the first 16")]
    Length(usize),
    #[error("its PROXY header did not come: {0}")]
    Lost(#[from] io::Error),
}

/// Reads exactly the header: what follows belongs to the caller.
pub(crate) async fn read_proxy_header(
    stream: &mut (impl AsyncRead + Unpin),
) -> Result<Caller, ProxyHeaderError> {
    let mut head = [0; HEAD_BYTES];
    stream.read_exact(&mut head).await?;
    let (kind, length) = read_head(head)?;
    let mut rest = vec![0; length];
    stream.read_exact(&mut rest).await?;
    Ok(kind.map_or(Caller::Itself, |kind| kind.caller(&rest)))
}

#[derive(Clone, Copy)]
enum Kind {
    V4,
    V6,
}

impl Kind {
    /// There are as many octets as the kind needs.
    fn caller(self, rest: &[u8]) -> Caller {
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
        Caller::Behind { address, tls: came_over_tls(remarks) }
    }
}

/// Nothing for the proxy itself, and how many octets follow.
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

/// What is cut short says nothing.
fn came_over_tls(mut remarks: &[u8]) -> bool {
    while let [kind, high, low, rest @ ..] = remarks {
        let Some((value, further)) = rest.split_at_checked(usize::from(u16::from_be_bytes([*high, *low])))
        else {
            return false;
        };
        if *kind == REMARK_TLS {
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

    /// What is told of a header, and what is left for the session behind it.
    async fn read(octets: &[u8]) -> String {
        let mut stream = octets;
        match read_proxy_header(&mut stream).await {
            Ok(Caller::Itself) => format!("itself, {} left", stream.len()),
            Ok(Caller::Behind { address, tls }) => format!("{address} tls={tls}, {} left", stream.len()),
            Err(fault) => fault.to_string(),
        }
    }

    #[tokio::test]
    async fn a_header_names_the_caller_and_leaves_the_rest() {
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
    async fn what_is_no_header_of_version_2_ends_the_connection() {
        let missing = "it does not begin with a PROXY header of version 2";
        let long = header(PROXY, TCP_OVER_V4, &vec![0; REST_BYTES_MAX + 1]);
        for (octets, expect) in [
            (b"PROXY TCP4 192.0.2.7 10.0.0.1 1 2\r\n".to_vec(), missing),
            (vec![0, 0, 0, 16, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 1], missing),
            (header(0x11, TCP_OVER_V4, V4), "its PROXY header says neither LOCAL nor PROXY"),
            (header(0x22, TCP_OVER_V4, V4), "its PROXY header says neither LOCAL nor PROXY"),
            (header(PROXY, 0x12, V4), "its PROXY header is about neither TCP over IPv4 nor over IPv6"),
            (header(PROXY, 0x31, &[0; 216]), "its PROXY header is about neither TCP over IPv4 nor over IPv6"),
            (header(PROXY, TCP_OVER_V4, &V4[..11]), "its PROXY header has 11 octets after the first 16"),
            (header(PROXY, TCP_OVER_V6, V4), "its PROXY header has 12 octets after the first 16"),
            (long, "its PROXY header has 2049 octets after the first 16"),
            (SIGNATURE.to_vec(), "its PROXY header did not come: early eof"),
        ] {
            assert_eq!(read(&octets).await, expect, "{octets:?}");
        }
    }
}
